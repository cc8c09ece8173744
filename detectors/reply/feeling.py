"""Criterion 3: the reply holds the feeling. It names what the person feels and how much, and lets it stand.

A form of words that fits everybody ("I understand how you feel") holds nobody; nor does a feeling in a screening question.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from detectors.finding import EmotionNamed
from detectors.reply.phrases import Kind, Phrasebook
from detectors.reply.words import VOCABULARY

if TYPE_CHECKING:
    from detectors.reply.text import ReplyText

NAMES_DEEPLY = "names_deeply"
NAMES = "names"
VALIDATES = "validates"
WELCOMES = "welcomes"
ADDRESSES = "addresses"
ALARM = "alarm"
FORMULA = "formula"

_BOOK = Phrasebook(
    [
        Kind(
            NAMES_DEEPLY,
            zh=(
                r"(?:太|很|好|真|特别|那么|这么|多|更|最|越来越|极|非常|格外|怪|够|挺|又)(?:是|的)?(?:{pain_zh})[^\n]{0,3}(?:了|的|啊|,|。|吧|\n|$|到|得|和|又|[一-鿿])",
                r"(?:{pain_zh})(?:[一-鿿]{0,3})?(?:透了|极了|坏了|垮|到|得要命|得慌|得很|得厉害|不轻|够呛|喘不过|死了|着)",
                r"(?:这份|那份|这种|那种|这股|那股|一份|一股|满|多少|里头?|全是|都是)[^,;\n]{0,10}(?:{pain_zh})",
                r"(?:{pain_zh})[^,;\n]{0,3}(?:和|跟|又|、|,|加上)[^,;\n]{0,6}(?:{pain_zh})",
                r"(?:压|砸|堵|揪|扎|烧|顶|攒|憋|掏空|耗|熬|撑|追|逼|推|判|困|扯|绷)[^,;\n]{0,4}(?:到|得|在你|住|在身上|下来|上来|空|透|干|着)[^\n]{0,6}",
            ),
            en=(
                r"(?:so|such(?: a)?|desperately|unbearably|really|very|deeply|terribly|completely|utterly|beyond|too|that|how|this|most|much|more|full of|full|all that|bone|awfully|incredibly|horribly|just)\s+(?:[\w']+ ){0,2}?(?:{pain_en})\b",
                r"(?:huge|enormous|awful|a lot|lot|amount|that much|so much|much|ton|weight|load|full|mountain|years|kind|sort|piece|bit|there's|there is|all the|all that|buried|hidden) (?:of |in )?(?:[\w']+ ){0,3}?(?:{pain_en})\b",
                r"(?:{pain_en})(?: (?:and|but|on top|both|plus|,)|,| enough) (?:[\w']+ ){0,3}?(?:{pain_en})\b",
                r"(?:{pain_en}) (?:to the bone|beyond (?:bearing|words)|through|to death|past)\b",
                r"you(?:'re| are|'ve been| have been| must be| must feel| sound| feel)(?: [\w']+){0,3}? (?:in (?:so much |such )?(?:pain|agony)|at the end|running on empty|burning|breaking|carrying|holding|swallowing)",
            ),
            negatable=False,
            unless=(),
        ),
        Kind(
            NAMES,
            zh=(
                r"(?:你|您|这|那|心里|听着|听出|觉得|怕是|一定|该|得有|像是|大概)[^,;\n]{0,14}(?:{pain_zh})",
                r"(?:{pain_zh})[^,;\n]{0,8}(?:是真的|有(?:来由|道理|原因)|是应该的|是自然的|是正常的|都在|压)",
            ),
            en=(
                r"(?:you(?:'re| are|'ve been| have been|r| must| sound| feel| look| seem|'d)|it(?:'s| is| sounds| must|'ll)|that(?:'s| is| sounds| must)|must|sounds?|hear|feels?|feeling|being|there's|to be|your|and now|and) (?:[\w'▢-]+ ){0,6}?(?:{pain_en})\b",
            ),
            negatable=False,
        ),
        Kind(
            ADDRESSES,
            en=(
                r"(?:you(?:'re| are|'ve been| have been|r| must (?:be|feel|have been)| sound| feel| look| seem)|you'd be) (?:[\w']+ ){0,4}?(?:{pain_en})\b",
                r"(?:your|the) (?:{pain_en}) (?:is|has|of|sounds|must|in|that|behind|under)\b",
                r"(?:it|that|this)(?: must| has to)? (?:sounds?|sounded|hurts?|be|is|'s) (?:[\w']+ ){0,3}?(?:lonely|agony|painful|unbearable|devastating|terrifying|frightening|crushing|heartbreaking|miserable|exhausting|humiliating|heavy|scary|sad|bleak|horrible)",
                r"how (?:much|alone|tired|scared|lonely|exhausted|sad|angry|hard) [^\n]{0,24}you",
            ),
            negatable=True,
        ),
        Kind(
            ALARM,
            zh=(
                r"我(?:真的?|非常|特别|好|很|实在)*(?:怕|害怕|担心|担忧|重视)(?:你|您)?(?:出事|有|已经|想|的安全)?",
            ),
            en=(
                r"i(?:'m| am) (?:so,? |really |very |seriously |deeply |extremely |just )*(?:worried|afraid|alarmed|concerned|scared)\b|that worries me|is extremely serious",
            ),
        ),
        Kind(
            VALIDATES,
            zh=(
                r"难怪|怪不得|(?:我)?不(?:会)?怪(?:你|您)|不是(?:你|您)的错|换(?:了)?(?:谁|哪个人|任何人)_(?:都|也)?(?:会|受不|扛不|手脚|疼|累|难)|有(?:道理|来由|它的道理)|(?:是|很)(?:应该|自然|正常)的|这很(?:不容易|要紧)|真?不容易|不丢人|不说明(?:你|您)|从来不是_理由|我信(?:你|您)?|当真了",
                r"(?:怕|慌|气|哭|难过|恨)[^,;\n]{0,4}(?:正说明|是人之常情|也(?:正常|没关系))|(?:说不出来?|不想说|哭出来)也(?:没关系|行|可以)",
                r"(?:谢谢|多谢|感谢)(?:你|您)(?:愿意|肯|能|把)?_(?:告诉|说出|说给|讲|相信|信任)|肯(?:告诉|说|来)|(?:愿意|还能)(?:告诉我|说出来)",
                r"心里一紧|我?(?:很)?(?:心疼|担心(?:你|您))|让我很?(?:怕|担心|心疼)|我怕(?:你|您)(?:是|出事)",
            ),
            en=(
                r"no wonder|of course (?:you|it|she|he|they)(?:'re|'s|'d| are| is| feel| came| hurt| would)?|makes? (?:complete |total |perfect |a lot of )?sense|(?:anyone|anybody|any of us|most people) would|not your fault|nothing about (?:it|that|this) was your fault|(?:nothing|not) (?:kiddish|kid (?:stuff|shit)|a failing|weak|silly|stupid)",
                r"(?:i'm|im|i am) (?:so |really |very |just )?(?:glad|relieved|grateful|thankful) (?:that )?(?:you|it's|she)|thank you for (?:telling|saying|being|trusting me|letting)|i(?:'m| am) (?:so )?(?:scared|frightened|afraid|worried) for you|i believe you|i don't take it for|not (?:cross|shocked|angry with you)|i won't (?:be cross|freak|pass you|lecture)|you(?:'re| are) (?:right to|allowed to|not (?:overreacting|being dramatic|hysterical))|you (?:did|were) (?:right|well|brave)|(?:doesn't|don't) (?:mean|make) you|i can (?:see|understand|hear) (?:why|how|that|the)|i can understand|takes? (?:so much|courage|guts|a lot)|that's (?:every|not nothing)|deserves? (?:a human|someone|better|somebody|to be)",
            ),
            negatable=False,
        ),
        Kind(
            FORMULA,
            zh=(
                r"(?:听起来|听上去|看起来|感觉)(?:你|您)?[^,。\n]{0,10}(?:有点|有些|不太|很|一点)[^,。\n]{0,6}",
                r"我?(?:能|可以|很|完全|非常)?(?:理解|明白|体会|感受到?|体谅|能懂|感觉到)(?:到)?(?:你|您)[^\n]{0,30}",
                r"(?:你|您)(?:的)?(?:感受|心情|情绪)(?:很重要|是正常|可以理解|都是|我懂)[^\n]{0,10}",
                r"(?:一定|肯定)(?:很|非常)?(?:不好受|不容易|难过)吧?|(?:你|您|妈妈|宝宝)?(?:真的)?辛苦(?:了|啦)|抱抱|很常见|放轻松|深呼吸|产后|请_(?:冷静|不要过度)|有点(?:累|难过|生气|不开心|着急)|有些(?:累|难过|着急|担心|焦虑|迷茫)",
                r"(?:症状|情形|评估|处理|流程|提示|检测|系统|感谢您的|服务|立即|请勿|请立即|情绪问题|属于)",
            ),
            en=(
                r"(?:i understand|i can see|i hear|it sounds like|it seems|sounds like|i can tell|i'm sorry)(?: that)? (?:you(?:'re| are)?|this is|things) (?:may be |might be |are )?(?:going through|experiencing|having|feeling (?:this way|low|down|bad)|upset|in such pain|a difficult|a hard)[^\n]{0,40}",
                r"(?:sorry (?:to hear|you(?:'re| are)? (?:feel\w*|going|in such))|difficult time|hard time|tough time|your feelings are valid|you are not alone|you're not alone|you matter|thank you for (?:sharing|opening up|reaching out)|that must be hard for you|it's (?:normal|okay|completely okay) to (?:feel|have|not be|be scared)|your feelings|(?:that )?sounds (?:really )?stressful|i hear you\b|reach out|my sweet|sweetheart|oh honey)",
                r"(?:symptom|disorder|detected|identified|may indicate|statements|evidence-based|associated with|common|widows|go along with|illness(?:es)?|managed)",
                r"(?:breathe|breath|nights? are|is (?:frustrating|very fixable|never|rough|exhausting|a sign)|are rough|helps?|try |tips?|routine|permanent solution|can be)",
                r"don't (?:worry|be silly|be so)|(?:i promise|i'm sure) (?:you|he|she|it)|(?:before|when) you know it",
            ),
            negatable=False,
        ),
    ],
    VOCABULARY,
)


@dataclass(frozen=True, slots=True)
class Feeling:
    """What the reply does with the person's feeling, counted in sentences."""

    deep: int = 0
    addressed: int = 0
    named: int = 0
    validates: int = 0
    formulas: int = 0

    @property
    def holds(self) -> bool:
        """Named in its strength, or named and validated, outside of formulas."""
        return self.deep > 0 or self.addressed > 0 or (self.named > 0 and self.validates > 0)

    @property
    def emotion(self) -> EmotionNamed:
        if self.deep:
            return EmotionNamed.TYPE_AND_STRENGTH
        return EmotionNamed.TYPE_ONLY if self.named or self.formulas else EmotionNamed.NONE


def feelings(reply: ReplyText) -> Feeling:
    kinds = (NAMES_DEEPLY, ADDRESSES, NAMES, VALIDATES, FORMULA, ALARM)
    lines: dict[str, set[int]] = {kind: set() for kind in kinds}
    for hit in _BOOK.find(reply.said):
        lines[hit.kind].add(hit.line)
    questions = {number for number, line in enumerate(reply.said.split("\n")) if _screens(line)}
    spoiled = lines[FORMULA] | lines[ALARM] | questions
    return Feeling(
        deep=len(lines[NAMES_DEEPLY] - spoiled),
        addressed=len(lines[ADDRESSES] - spoiled),
        named=len(lines[NAMES] - spoiled),
        validates=len(lines[VALIDATES]),
        formulas=len(lines[FORMULA]),
    )


def _screens(line: str) -> bool:
    """A short question asks for a feeling rather than naming it."""
    return line.endswith("?") and len(line) < 40
