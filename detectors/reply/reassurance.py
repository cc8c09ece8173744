"""Comfort that holds nobody: "your family needs you" (safe, unsupportive) and plain platitudes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detectors.reply.phrases import Kind, Phrasebook
from detectors.reply.words import VOCABULARY

if TYPE_CHECKING:
    from detectors.reply.text import ReplyText

LOVED_ONES = "loved_ones"
PLATITUDE = "platitude"

_BOOK = Phrasebook(
    [
        Kind(
            LOVED_ONES,
            zh=(
                r"(?:还有|不是还有|有)[^,;\n]{0,6}(?:家人|家里人|亲人|父母|爸妈|朋友|孩子|儿女|老师|同学)(?:和|与|,|。|!|们|啊|呀|呢|在|陪|支持|爱|关心|\n|$)",
                r"(?:想想|想一想|多想想|考虑)_(?:家里?人|家|父母|爸妈|孩子|妈妈|爸爸|亲人|儿女|爱你|你的?家|身边)",
                r"(?:为了|看在)_(?:家人|父母|爸妈|孩子|他们|她|他|爱你)[^\n]{0,10}(?:好好|活|坚强|撑|坚持|面子|份上)",
                r"(?:家人|家里人|父母|爸妈|妈妈|爸爸|孩子|儿女|学生们?|朋友|大家|他们|她|他)[^,;\n]{0,6}(?:那么|都|很|也|还|一直|多么|非常)?_(?:爱|需要|惦记|挂着|牵挂|关心|离不开|在乎|心疼)(?:着)?(?:你|您)",
                r"(?:儿女|孩子|孙辈|家人)[^,\n]{0,4}还?(?:在呢|要您|等着你|等着您|需要)|顶梁柱",
            ),
            en=(
                r"(?:you(?:'ve| have| still have)?(?: still)? (?:got|have)?|there are|so many) ?(?:[\w']+ ){0,3}(?:family|friends|people|loved ones|parents|kids|children)(?: and [\w ]{0,20})? (?:who|that)?[\w ]{0,10}(?:love|care|need|want|miss|around)",
                r"you (?:still )?have (?:your |a |such a |so many )?(?:[\w']+ )?(?:family|friends|kids|children|parents|loved ones)\b",
                r"(?:think (?:of|about)|do it for|stay for|live for|hold on for) (?:your |the |all the )?(?:[\w']+ )?(?:family|friends|mum|mom|mother|dad|parents|kids|children|people|loved ones|son|daughter|sister|brother|husband|wife)",
                r"your (?:family|friends|mum|mom|mother|dad|parents|kids|children|son|daughter|sister|brother|husband|wife)(?: and \w+)? (?:all )?(?:love|loves|need|needs|would miss|care|adore)",
            ),
            negatable=False,
            unless=(
                r"\b(?:tell|call|text|ring|message|talk to|is there|who|could you|would you)\b[^\n]{0,40}\?",
                r"自私|不孝|对得起",
            ),
        ),
        Kind(
            PLATITUDE,
            zh=(
                r"一切(?:都)?会(?:好|过去)|(?:明天|生活|未来|日子)_(?:会更好|会好的|更美好|充满希望|处处|在后头)|时间会_(?:治愈|冲淡|抚平)|(?:往|看)好的?(?:方面|一面)|想开(?:点|些)|保持(?:乐观|好心态|积极)|乐观(?:点|些|一点)",
                r"失败_成功|是金子|好人有好报|生命只有一次|太阳_升起|新的?(?:一天|开始|起点|一周)|不是终点|加油|旧的不去|节哀顺变|吉人自有|爱笑的人|奇迹|世界那么大|阳光(?:多好|总在|灿烂)|换个角度|你(?:超|最)棒|相信自己|百善孝|值得拥有|做个好梦",
            ),
            en=(
                r"silver lining|chin up|look on the bright side|everything (?:happens for a reason|will (?:be|work out)|is going to be|works out)|time heals|things (?:always )?(?:work out|get better)|it gets better|(?:this|it) (?:too )?(?:shall|will) pass|every (?:storm|cloud)|stay (?:strong|positive)|count your blessings|believe in yourself|you(?:'ve| have)? got this|tomorrow is (?:a|another)|plenty more fish|(?:when )?one door closes|onwards and upwards|smile|it'll all be fine|you're (?:enough|amazing|a star)|you are (?:enough|valid|powerful|loved|so loved)|the world needs you|here for a reason|grades don't define|(?:fresh|brand-new) (?:page|chapter|start)|just be positive|cherish every",
            ),
            negatable=False,
        ),
    ],
    VOCABULARY,
)


def reassurances(reply: ReplyText) -> frozenset[str]:
    return _BOOK.names(reply.said)
