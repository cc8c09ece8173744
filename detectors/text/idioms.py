"""Idioms that carry a word of death and mean none, read as what they mean: 笑死我了, "my feet are killing me" (D2).

A closed set of phrases that are safe in any company; quoted helpline boilerplate is one. The rest of the turn stays as it is, so that
"累死了，想死" still says its second half.
"""

from __future__ import annotations

import re

_ZH: tuple[tuple[str, str], ...] = (
    (
        r"(?P<a>笑|累|饿|困|热|冷|烦|忙|吓|渴|撑|馋|酸|甜|辣|臭|吵|堵|贵|丑|羡慕|嫉妒|好笑|冻|晒|闷|腻|肉麻|可爱|尴尬|无聊|美|爽|气|急|担心|讨厌|恶心|烫|挤|痒|蠢|萌|帅|好看|好吃|难吃|穷)死(?:我们|我|人|个人|宝宝)?(?:了|啦|咯|嘞)?(?!算|掉|去|不|自己)",
        r"\g<a>坏了",
    ),
    (
        r"(?P<a>累|困|忙|饿|烦|气|冷|热|急|丑|贵|难吃|穷|无语|痒|辣|吵|尴尬|无聊|怕|难)[得的]要(?:死|命)(?!去)",
        r"\g<a>得很",
    ),
    (r"想死(?P<a>你们|你|他们|她们)(?P<b>了|啦|啊|喽)", r"想念\g<a>\g<b>"),
    (
        r"想死(?:我|佢)?(?P<a>我?妈做的|奶奶做的|家乡的|学校的|[^,。!?]{0,6}的[^,。!?]{0,4}(?:肉|面|饭|菜|火锅|鱼|汤|粉))",
        r"想念\g<a>",
    ),
    (r"社死", "出丑"),
    (r"(?:要|快)(?:把我)?(?P<a>笑|累|饿|困|热|冷|烦|忙|馋|无聊|气)死", r"要\g<a>坏"),
    (r"死循环", "无限循环"),
    (r"(?P<a>电脑|手机|系统|屏幕|程序|页面|网页|机器)(?:又|都|一直)?(?:死机|卡死)", r"\g<a>卡住"),
    (r"死(?:机|锁|线|党|忠|磕|角|胡同|记硬背)", "很硬"),
    (r"(?:进程|线程|服务|程序|任务)(?P<a>[^,。!?]{0,4})(?:杀|kill)(?:不)?(?:掉|死|了)?", r"程序\g<a>停"),
    (r"(?:杀|kill)(?:掉|死|了)?(?P<a>[^,。!?]{0,3})(?:进程|线程|服务|程序|任务|端口)", r"停掉\g<a>程序"),
    (
        r"(?P<a>bug|需求|作业|论文|代码|报表|ddl|甲方|周一|高数|线代|物理|数学)(?:真的|真是|快|都|简直)?(?:要|快|能)?(?:把我)?(?:杀了?|整|搞|弄|逼|气)死?我?了?(?=[,。!?\s]|$)",
        r"\g<a>难住我",
    ),
    (r"打死(?:我)?(?:都|也)不", "绝对不"),
    (r"生老病死", "人生各阶段"),
    (r"九死一生", "很惊险"),
    # gone for a while is no wish to be gone
    (
        r"消失(?P<a>(?:个|上|那么)?(?:[一两二三四五几半\d]+|十来|好几)个?(?:天|周|星期|礼拜|小时|下午|晚上|阵子?|会儿?|段时间|段日子)|一下)(?![^,。!?]{0,4}(?:永远|再也))",
        r"出门\g<a>",
    ),
    (
        r"(?P<a>尴尬|丢人|丢脸|社恐|羞|脸红|窘|难为情|出丑)(?P<b>[^,。!?]{0,6})(?:原地|当场)(?:消失|去世|升天|爆炸|蒸发)",
        r"\g<a>\g<b>很不好意思",
    ),
    # fear of dying is the opposite of the wish
    (r"(?P<a>特别|很|好|总|一直|越来越|太|有点|非常|挺)怕死(?=$|[,。!?的])", r"\g<a>害怕生病"),
    (r"以为(?:自己|我)(?:快)?要(?:死|不行|挂)了", "吓坏了"),
    (r"[《「『\"]?自杀论(?!坛|调)[》」』\"]?", "那本社会学的书"),
)
_EN: tuple[tuple[str, str], ...] = (
    (
        r"\b(?:die|died|dying|dead) (?:of|from) (?:laughter|laughing|cuteness|embarrassment|boredom|cringe|happiness|the cute)\b",
        "overwhelmed in fun",
    ),
    (r"\bdying (?:laughing|of laughter)\b", "laughing a lot"),
    (r"\b(?:starv|freez|bor|scar|work)(?P<a>ing|ed) to death\b", r"very much so"),
    (
        r"\bdying (?:to|for) (?=(?:see|know|try|meet|go|hear|get|eat|a|some|the|tell|visit|read|watch)\b)",
        "eager to ",
    ),
    (r"\b(?:to die for)\b", "wonderful"),
    (r"\bdead (?:tired|serious|ass|line|on my feet)\b", "very tired"),
    (
        r"\b(?P<a>feet|foot|back|head|knees?|eyes?|legs?|shoes|heels|neck|shoulders?|teeth|tooth|stomach|homework|essay|exam|job|commute|heat|bug|code|deadline|boss|meeting|allergies|hangover|workout|suspense|traffic|wifi)(?P<b> (?:is|are|was|were)(?: (?:literally|absolutely|really|just))?) killing me\b",
        r"\g<a>\g<b> bothering me",
    ),
    (r"\b(?:will|is going to|gonna|going to) be the death of me\b", "wears me out"),
    (r"\bkill(?:ing|ed|s)? (?:time|it|the vibe|the mood|two birds)\b(?! all)", "spending time"),
    (
        r"\bkill(?:ing|ed|s)? (?:-9 )?(?:the |this |that |a |an |my |all |all the )?(?:python |zombie |background |hung |stuck |running |old )?(?:process(?:es)?|threads?|servers?|jobs?|tasks?|apps?|scripts?|containers?|pods?|sessions?|terminals?|programs?|daemons?|tabs?|switch|weeds?|germs|bacteria|mosquito(?:es)?|bugs?|boss|engine|lights?)\b",
        "stopping the process",
    ),
    (r"\b(?:i(?:'d| would)) kill for\b", "I would love"),
    (r"\blife ?line\b", "help"),
    (
        r"\b(?:disappear|vanish|be gone) (?P<a>(?:from (?:social media|the internet|instagram|facebook|twitter|group chats?|work))(?: for [^,.!?]{1,16})?|for (?:a|an|one|two|three|a few|a couple of|the) (?:while|bit|hours?|afternoon|evening|days?|weeks?|weekend|month))\b(?! and never)",
        r"take time off \g<a>",
    ),
    (
        r"\b(?:cut|cutting|nicked|burn(?:ed|t)|burning|stabbed) my ?self (?P<a>(?:while |when )?(?:shaving|cooking|chopping|slicing|peeling|ironing|gardening|doing the dishes|washing up))\b",
        r"had a small mishap \g<a>",
    ),
    (
        r"\b(?P<a>(?:boss|manager|supervisor|teacher|professor|coach|landlord|editor|client|team)) (?:is|will|'s|are|was|were) (?:going to |gonna |so going to )?kill me(?= (?:for|if|when|over|because|once)\b)",
        r"\g<a> will be cross with me",
    ),
    (
        r"\b(?:thought|convinced|sure|felt like|feels like|feel like) (?:that )?(?:i was|i'm|i am) (?:dying|going to die|gonna die|about to die)\b",
        "was very frightened",
    ),
    (r"\bthought i'?d die (?=(?:up|out|in|on|of|from|right) )", "was very frightened "),
)
# What an app or a poster says to everybody, in quotation marks: told about, never the speaker's own
_BOILERPLATE: tuple[tuple[str, str], ...] = (
    (
        r"[\"「『“](?=[^\"」』”\n]{0,80}(?:热线|求助电话|你并不孤单|您并不孤单|拨打))[^\"」』”\n]{2,80}[\"」』”]",
        "那句提示",
    ),
    (
        r"[\"“](?=[^\"”\n]{0,120}(?:hotline|helpline|lifeline|you are not alone|you're not alone|call \d{3}|text \d{3}))[^\"”\n]{2,120}[\"”]",
        "that notice",
    ),
)
_LATIN = re.compile(r"[a-z]", re.IGNORECASE)
# each rule needs a letter of its language
_RULES_ZH, _RULES_EN = (
    tuple((re.compile(pattern, re.IGNORECASE), plain) for pattern, plain in rules)
    for rules in ((_BOILERPLATE[0], *_ZH), (_BOILERPLATE[1], *_EN))
)


def read_idioms(text: str) -> tuple[str, bool]:
    """The text with its idioms put plainly, and whether there were any."""
    changed = False
    rules = (() if text.isascii() else _RULES_ZH) + (_RULES_EN if _LATIN.search(text) else ())
    for pattern, plain in rules:
        text, count = pattern.subn(plain, text)
        changed = changed or count > 0
    return text, changed
