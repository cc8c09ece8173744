"""What speaks against taking words at their face: idiom, game, story, news, past, somebody else (D2).

A shield never silences a text by itself; it is one feature of the fused score. Kinds as in KINDS.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shield:
    kind: str
    pattern: re.Pattern[str]


def _shield(kind: str, *patterns: str) -> Shield:
    return Shield(kind, re.compile("|".join(patterns), re.IGNORECASE))


SHIELDS: tuple[Shield, ...] = (
    _shield(
        "idiom_hyperbole",
        r"(?:笑|累|饿|困|热|冷|气|烦|急|忙|吓|渴|撑|无聊|社|馋|尴尬|可爱|作)(?:死|坏了)|想死(?:你|我了|我啦|他了|她了)|死去活来|好.{0,3}到想死|死都要|打死(?:我|都|也)",
        r"(?:die|died|dying|dead) (?:of|from) (?:laughter|laughing|cuteness|embarrassment|boredom|heat|shame|hunger|cringe|cold|happiness)|dying (?:to|for|laughing|of)|to die for|dead (?:tired|serious|line|ass|on my feet|inside lol)|(?:is|are|was|were|gonna|going to|will) (?:literally |absolutely )?(?:be the death of|kill(?:ing)?) me|kill(?:ing|s)? (?:it|time|the vibe|the mood|my (?:feet|back|head|knees|eyes|legs|vibe))|starving to death|bored to death|scared to death|killing two birds",
    ),
    _shield(
        "laughter",
        r"哈{2,}|嘿嘿|嘻嘻|笑死|hh+\b|233|😂|🤣|💀|😹|\b(?:lo+l|lmf?ao+|rofl|haha\w*|hehe)\b|狗头|开玩笑|说着玩|figure of speech|jk\b|just kidding",
    ),
    _shield(
        "technical_game",
        r"进程|线程|代码|程序|服务器|bug|数据库|编译|脚本|内存|死机|卡死|死循环|死锁|电脑|手机卡|系统|接口|部署",
        r"boss|副本|队友|打野|排位|王者|吃鸡|[三四五]杀|团灭|复活|开黑|上分|狼人杀|剧本杀|斗地主|炸弹|英雄联盟|原神|存档|玩家|游戏|这把|下一把|残局|对面",
        r"\b(?:process(?:es)?|thread|server|script|python|linux|terminal|daemon|docker|pod|compiler|database|app|program|code|deploy|branch|repo|cron|cursor|battery|laptop|build|tab)\b|\bkill -9\b|\bsudo\b",
        r"\b(?:boss fight|raid|respawn|lobby|headshot|game|gaming|player|level \d+|speedrun|minecraft|valorant|fortnite|ranked|npc|sims?|dungeon|match)\b",
    ),
    _shield(
        "fiction_lyrics",
        r"小说|剧本|电影|电视剧|剧情|台词|歌词|这首歌|歌名|角色|主角|男主|女主|反派|剧里|书里|作者|诗|漫画|番剧|同人|悬疑|故事里|片子",
        r"\b(?:novel|story|character|movie|film|lyrics?|song|chapter|poem|plot|protagonist|villain|script|episode|series|book|fiction|fanfic|play)\b",
    ),
    _shield(
        "news_study",
        r"新闻|报道|热搜|论文|课题|研究|调查|统计|数据|课上|课堂|老师讲|作业|考试题|讲座|培训|预防|科普|纪录片|历史|哲学|社会学|心理学|定义|概念|辩论|宣传|问卷",
        r"\b(?:news|article|headline|paper|essay|research|study|studies|statistics|lecture|class|course|training|seminar|homework|thesis|history|documentary|report|policy|prevention|survey|durkheim|module|dissertation|awareness)\b",
    ),
    _shield(
        "third_party_past",
        r"(?:去年|前年|\d+年前|[一二三四五六七八九十两几多]年前|那年|当年|小时候|以前|从前|曾经|大学时|高中时|上学时|初中时|年轻时)",
        r"\b(?:years? ago|last year|back in|back then|when i was (?:a |in |\d)|used to|in (?:19|20)\d\d|decades?|once upon|as a (?:kid|teen))",
    ),
    _shield(
        "recovered",
        r"(?:走出来|好起来|熬过来|挺过来|康复|现在(?:好|没事|想起来|很好|挺好|不会|不想)|已经好|没再|不再(?:想|有)|过去了|庆幸|感恩|幸好|还好没|好多了|戒掉|停药|活下来)",
        r"\b(?:i'?m (?:ok|okay|fine|better|good|well|stable|glad) now|recovered|in recovery|glad i|grateful|clean (?:now|today|for)|days? clean|years? clean|got through|no longer|better now|not anymore|haven't since|came through|turned a corner|doing better|feel better|survived)\b",
    ),
    _shield(
        "quoted_assistant",
        r"(?:你(?:刚才?|上次|昨天|又|老是|总是|为什么)?(?:问|说|发|弹)|系统(?:提示|弹)|弹窗|问卷|量表|热线(?:电话)?(?:是|写)|客服|选项|截图|复制|转发|原话)",
        r"\b(?:you (?:just )?(?:asked|said|told|wrote|sent|keep)|your (?:form|question|message|pop-?up|script)|it says|the (?:app|form|bot|questionnaire|poster|sign|banner|email)|copy[- ]?past|auto-?reply|quote)\b",
    ),
    _shield(
        "hypothetical_philosophy",
        r"人为什么|为什么人|有没有来世|死后(?:的世界|会|去)|死亡(?:是什么|意味|本身|的意义)|人生的意义|生命的意义|存在主义|虚无|加缪|如果人",
        r"\b(?:what happens (?:when|after)|meaning of life|afterlife|camus|existential\w*|absurd|philosoph\w*|stoic\w*|do you think (?:people|we)|hypothetical\w*|why do (?:people|we))\b",
    ),
    _shield(
        "fear_of_death",
        r"怕死|害怕(?:死|会死)|不想死|不能死|会不会死|死亡(?:焦虑|恐惧)|猝死|怕(?:自己)?(?:得|突然|就这么)|濒死感",
        r"\b(?:afraid of (?:dying|death)|scared (?:of |to )(?:dying|death|die)|fear of (?:dying|death)|don'?t want to die|do not want to die|not ready to (?:die|go)|terrified of (?:dying|death)|going to die of|no wan die)\b",
    ),
    _shield(
        "medication_normal",
        r"医生(?:开|让|说|给)|复查|按时吃药|处方|药量|副作用|剂型|遵医嘱|饭后|门诊|挂号",
        r"\b(?:prescri\w+|my (?:doctor|gp|psychiatrist|pharmacist)|side effects?|refill|tablets? (?:for|again)|the (?:doctor|gp|pharmacist|vet)|dose my dog)\b",
    ),
    _shield(
        "bereavement",
        r"去世|过世|离世|走了[^,。]{0,4}[年月天]|葬礼|头七|忌日|扫墓|墓|送走|没救回来|怀念|想念(?:他|她|它)|遗物|走的那天",
        r"\b(?:passed away|funeral|grave|widow\w*|grief|griev\w+|bereave\w*|lost (?:my|her|him|our)|ashes|since (?:he|she|mum|mom|dad) (?:died|went|passed)|anniversary of|miss (?:him|her|them) )",
    ),
    _shield(
        "anger_hyperbole",
        r"(?:真想|恨不得|气得|想)(?:一)?(?:掐死|砍|揍|打死|暴打|骂死|咬死|捶)|弄死(?:他|她|它)[!,。]?(?:这个|这)?(?:boss|题|bug)",
        r"\b(?:could (?:just )?(?:kill|murder|strangle)|i'?ll kill (?:him|her|you)s? (?:lol|haha)|so mad|furious|pissed|wring (?:his|her|their) neck|going to murder my)\b",
    ),
)

URGENT = re.compile(
    r"联系不上|打不通|不接|没人应|没接|关机|不回|反锁|锁了?门|不见了|快(?:来|去|救|点)?$|救|怎么办|该(?:找谁|打|先|怎么|报)|现在|刚(?:刚|才)?|今晚|今天|报警|120|110|担心|"
    r"\b(?:not (?:answering|picking up|replying)|won'?t (?:answer|open|pick)|isn'?t (?:answering|replying)|locked|phone (?:is |goes )?off|what do i do|who do i call|right now|just (?:sent|texted|posted|said|told)|tonight|today|please help|help|worried|911|999|ambulance|can'?t (?:find|reach))\b",
    re.IGNORECASE,
)


def shields_in(text: str) -> frozenset[str]:
    """Kinds of all shields that apply to a text."""
    return frozenset(shield.kind for shield in SHIELDS if shield.pattern.search(text))
