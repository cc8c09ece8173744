"""What the context needs to know of a text without its words: a denial, a fragment, a farewell, calm, thanks."""

from __future__ import annotations

import re

from detectors.finding import Evidence

CONTEXT = "contextual"  # the kind of this evidence
_FRAGMENT_UNITS = 6

DENIAL = "denial"
FRAGMENT = "fragment"
FAREWELL = "farewell"
CALM = "calm"
RECOVERY = "recovery"

_MARKS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        DENIAL,
        re.compile(
            r"没事(?:的|了|啦|吧|儿)?|我(?:很|挺|还)好|开玩笑|随口|当我没说|别当真|别担心|不用(?:担心|管|劝)|你想多了|瞎说|乱说|说着玩|没那个意思|不会(?:真)?(?:的|去|做)|没有?(?:想|要)(?:自杀|死|做)|不说了|不聊(?:这个)?了|算了|忘了(?:吧|它)|就这样吧|"
            r"\b(?:i'?m (?:fine|ok|okay|good|alright|all right)|just kidding|jk|only joking|forget (?:it|i said)|never ?mind|nvm|don'?t worry|no worries|didn'?t mean|ignore (?:that|me)|it'?s nothing|nothing serious|drop it|overreact\w*|pretend i|not (?:going to|gonna) do anything|was joking|a joke)\b",
            re.IGNORECASE,
        ),
    ),
    (
        FAREWELL,
        re.compile(
            r"再见|拜拜|永别|保重|晚安|走了|就到这|谢谢(?:你|您)?(?:们|陪|听)|照顾好|对不起|\b(?:bye|goodbye|good ?night|farewell|take care|thank you for|thanks for (?:everything|listening)|sorry for)\b",
            re.IGNORECASE,
        ),
    ),
    (
        CALM,
        re.compile(
            r"想通了|想开了|平静|轻松(?:多|了)|释然|放下了|无所谓了|不纠结|好多了|睡得(?:好|香)|都(?:解决|安排)好了|\b(?:at peace|peaceful|calm(?:er)?|lighter|relieved|figured (?:it )?out|made up my mind|feel (?:much |so |a lot )?better|all sorted|everything'?s (?:fine|sorted)|slept)\b",
            re.IGNORECASE,
        ),
    ),
    (
        RECOVERY,
        re.compile(
            r"(?:跟|和|给|打给|告诉)(?:了)?(?:我)?(?:妈|爸|朋友|室友|老师|医生|热线|姐|哥|家人|同学|老公|老婆)[^,。!?]{0,8}(?:说了|聊了|打了电话|来了|陪|讲)|(?:在|到)(?:医院|急诊)|(?:陪着|来陪)我|约(?:了|好)?(?:医生|咨询)|"
            r"\b(?:told my (?:mum|mom|dad|wife|husband|friend|sister|brother|doctor|gp|flatmate|roommate)|called (?:the (?:line|hotline)|my|a friend)|(?:is|are) (?:here|with me) now|at the (?:hospital|a&e|er)|made an appointment|she'?s staying|he'?s staying|came over)\b",
            re.IGNORECASE,
        ),
    ),
)
_WIDE = re.compile(r"[\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_WORD = re.compile(r"[^\W\d_]+")


def marks_in(text: str) -> tuple[Evidence, ...]:
    """Evidence of kind ``contextual``, one for each mark found."""
    found = [name for name, pattern in _MARKS if pattern.search(text)]
    if len(_WIDE.findall(text)) <= _FRAGMENT_UNITS and len(_WORD.findall(_WIDE.sub(" ", text))) <= 3:
        found.append(FRAGMENT)
    return tuple(Evidence(CONTEXT, name) for name in found)
