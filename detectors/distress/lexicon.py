"""Words of feeling and of cues. Anchors for the heads: common words in both languages, checked by meaning of their own."""

from __future__ import annotations

import re

from detectors.finding import Cue, Emotion


def _words(zh: str, en: str) -> re.Pattern[str]:
    return re.compile(rf"{zh}|\b(?:{en})\b", re.IGNORECASE)


_EMOTIONS: dict[Emotion, re.Pattern[str]] = {
    Emotion.SADNESS: _words(
        r"难过|伤心|悲伤|哭|心碎|心痛|失落", r"sad\w*|cry\w*|cried|tears|heartbroken|heartbreak|sobbing"
    ),
    Emotion.ANXIETY: _words(
        r"焦虑|紧张|慌|着急|担心|发愁|睡不着|坐立不安|恐慌|压力",
        r"anxi\w+|nervous|worr\w+|panic\w*|stress\w*|overthink\w*|on edge",
    ),
    Emotion.FATIGUE: _words(
        r"[好很太]累|累(?:了|死|坏|得)|疲惫|疲倦|没力气|精疲力尽|心累|撑不|熬",
        r"tired|exhaust\w+|drained|worn out|burn(?:t|ed) out|weary|no energy",
    ),
    Emotion.ANGER: _words(
        r"生气|愤怒|气死|恨|火大|气炸|气愤", r"angry|furious|rage|mad at|pissed|hate (?:him|her|them)"
    ),
    Emotion.LOW_MOOD: _words(
        r"低落|抑郁|郁闷|提不起|没兴趣|没意思|消沉|绝望|沮丧|灰暗",
        r"depress\w*|low|down lately|hopeless\w*|miserable|empty|pointless|bleak",
    ),
    Emotion.GRIEVANCE: _words(r"委屈|凭什么|不公平|冤枉|欺负", r"unfair|wronged|not fair|blamed me"),
    Emotion.FEAR: _words(r"害怕|恐惧|好怕|怕(?:得|死)|吓", r"afraid|scared|terrified|frightened|fear"),
    Emotion.UNEASE: _words(
        r"不安|忐忑|心神不宁|七上八下|没底", r"uneasy|unsettled|something'?s off|apprehensive"
    ),
    Emotion.IRRITABILITY: _words(
        r"烦(?:躁|死|透|得)?|暴躁|不耐烦|火气", r"irritat\w+|annoy\w*|snapp(?:y|ing)|fed up|on my nerves"
    ),
    Emotion.SHAME: _words(
        r"丢人|丢脸|羞耻|没脸|自卑|难堪|羞愧", r"asham\w+|shame|embarrass\w+|humiliat\w+|pathetic|disgusting"
    ),
    Emotion.LONELINESS: _words(
        r"孤独|孤单|没人(?:理|懂|陪|在乎|关心|听)|一个人(?:扛|撑|过)|没有朋友|寂寞",
        r"lonely|alone|nobody (?:cares|listens|understands)|no one (?:cares|listens|understands)|isolated|no friends",
    ),
    Emotion.NUMBNESS: _words(
        r"麻木|没感觉|空(?:空|荡|洞)|行尸走肉|感受不到",
        r"numb|feel nothing|hollow|going through the motions|empty inside",
    ),
    Emotion.GUILT: _words(
        r"内疚|愧疚|自责|都(?:是|怪)我|对不起|怪自己",
        r"guilt\w*|my fault|blame myself|sorry for everything|let (?:them|everyone) down",
    ),
    Emotion.HOPE: _words(
        r"希望能|会好起来|有盼头|期待|想试试", r"hopeful|looking forward|getting better|things will"
    ),
    Emotion.RELIEF: _words(
        r"松(?:了)?(?:一)?口气|放心了|轻松多了|好多了|踏实", r"relieved|relief|weight off|feel better|lighter"
    ),
    Emotion.JOY: _words(r"开心|高兴|快乐|幸福|太好了|哈哈", r"happy|glad|joy|excited|great news|yay|lovely"),
}

_CUES: dict[Cue, re.Pattern[str]] = {
    Cue.SELF_NEGATION: _words(
        r"我(?:就)?(?:是个?|真|好|太|很|什么都|怎么这么|是不是)[^,。!?]{0,4}(?:废物|没用|失败|垃圾|糟糕|差劲|笨|不行|不配|多余|恶心|做不好)|讨厌(?:我)?自己|配不上",
        r"(?:i'?m|i am|am i|i feel|i'?m just) (?:so |such |just |a |an |like |always |completely )*(?:useless|worthless|failure|pathetic|stupid|broken|disgusting|garbage|loser|not good enough|nothing)|hate myself",
    ),
    Cue.HELPLESSNESS: _words(
        r"(?:怎么|再怎么|无论|不管)[^,。!?]{0,8}(?:都没用|也没用|都一样|都不行|没有用)|没有?办法|无能为力|没救|无助|改变不了|看不到(?:希望|头|出路)|没希望|做什么都",
        r"nothing (?:helps|works|i do|will|ever|changes)|no matter what i|can'?t change|no way out|helpless|hopeless|what'?s the point|tried everything|never (?:going to )?(?:get|change)",
    ),
    Cue.CHRONIC: _words(
        r"(?:[一二三四五六七八九十两几半\d]+(?:个)?(?:年|月|星期|周|天))(?:了|没|都|以来)|每天(?:都|晚)|一直(?:都|这样|以来)|长期|好几[年月周]|从小",
        r"(?:for|past|last) (?:\w+ )?(?:\w+ )?(?:weeks|months|years)|every (?:single )?(?:day|night|morning)|(?:\w+|\d+) (?:months|years|weeks) (?:now|of|without)|since i was|always been",
    ),
    Cue.MASKING: _words(
        r"(?:装|假装|强颜)[^,。!?]{0,6}(?:没事|开心|笑|正常|欢)|笑着(?:说|应)|没人(?:看得?出来|知道)|表面",
        r"pretend\w*|(?:fake|put on|force) (?:a |my )?smile|nobody knows|acting (?:fine|happy|normal)|mask",
    ),
    Cue.IRONY: _words(
        r"呵呵|可真(?:是)?[好棒]啊|真[行棒好]啊|(?:好|太)极了|谢谢(?:你|您)(?:们)?全家",
        r"great,? just great|oh (?:great|wonderful|perfect|joy)|just (?:perfect|wonderful|fantastic)|lucky me|how lovely for|thanks for nothing",
    ),
    Cue.SILENCE: _words(
        r"^(?:唉+|哎+|嗯+|算了|\.{2,}|没什么|不知道(?:怎么|该怎么)?说(?:了|什么)?|说不出来|不想说)[,。.!?~]*$|不知道(?:该)?(?:怎么|从哪)(?:儿)?说",
        r"^(?:sigh|nothing|never ?mind|idk|whatever|\.\.\.+|nvm|forget it)[.!?]*$|don'?t know (?:how to|what to) say|can'?t (?:find|put) (?:the |it into )?words?",
    ),
    Cue.BURDEN: _words(
        r"拖累|累赘|负担|添麻烦|连累|没有?我[^,。!?]{0,8}(?:更好|轻松|好过)",
        r"burden|better off without me|dragging (?:everyone|them) down|in everyone'?s way|waste of space",
    ),
    Cue.FAREWELL: _words(
        r"再见|永别|告别|保重|来生|下辈子|再也不见", r"goodbye|farewell|this is it from me|so long everyone"
    ),
    Cue.AMBIVALENCE: _words(
        r"(?:又|但|可|却)(?:又)?(?:不想死|不敢(?:死)?|舍不得|怕(?:疼|死)|不甘心)|一半想",
        r"but (?:i'?m )?(?:scared|afraid|too scared|don'?t really want)|part of me|half of me|don'?t want to die (?:exactly|but)",
    ),
    Cue.DISCLOSURE_DENIED: _words(
        r"(?:刚才|之前|上面|那些话)[^,。!?]{0,8}(?:开玩笑|随口|瞎说|乱说|当我没说|别当真)|当我没说|随口(?:一)?说|别当真|忘了(?:我)?(?:刚才|说的)|你想多了",
        r"just kidding|only joking|forget (?:i said|it|what i said)|didn'?t mean (?:it|that)|pretend i (?:never|didn'?t)|ignore (?:that|what i said)|never mind (?:that|what)|overreact\w*",
    ),
}
_TOPIC = re.compile(
    r"工作|上司|老板|同事|学习|考试|学校|父母|妈|爸|对象|男友|女友|老公|老婆|房|钱|债|病|失眠|睡|朋友|孩子|\b(?:work|boss|exam|school|mum|mom|dad|husband|wife|boyfriend|girlfriend|rent|money|debt|sleep|friend|kids?|health|landlord)\b",
    re.IGNORECASE,
)
_MANY_TOPICS = 5
_MANY_UNITS = 60


def emotions_in(text: str) -> frozenset[Emotion]:
    return frozenset(emotion for emotion, pattern in _EMOTIONS.items() if pattern.search(text))


def cues_in(text: str) -> frozenset[Cue]:
    found = {cue for cue, pattern in _CUES.items() if pattern.search(text)}
    if (
        len(text) > _MANY_UNITS
        and len({match.group().lower() for match in _TOPIC.finditer(text)}) >= _MANY_TOPICS
    ):
        found.add(Cue.MANY_TOPICS)
    return frozenset(found)
