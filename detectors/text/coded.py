"""Words written so that a filter does not see them, read back where the words around make them risky.

"紫砂" is a teapot until somebody *wants* it; "zs" is nothing until somebody *thinks of* it.
"""

from __future__ import annotations

import re

_SEP = r"[\s.·•・*_\-~/|+^,，。、…'`]{0,3}"
_SEP1 = r"[\s.·•・*_\-~/|+^,，、…'`]{1,3}"


def _apart(word: str) -> re.Pattern[str]:
    """The word with at least one separator somewhere inside."""
    whole = _SEP.join(map(re.escape, word))
    return re.compile(rf"(?!{re.escape(word)}){whole}", re.IGNORECASE)


# read together wherever they stand: joined they mean one thing only
_CHINESE_APART = tuple(
    (_apart(word), word)
    for word in (
        "自杀",
        "想死",
        "不想活",
        "活不下去",
        "自残",
        "去死",
        "轻生",
        "杀了自己",
        "结束生命",
        "遗书",
        "寻死",
        "死了算了",
        "杀死",
        "不活了",
    )
)
_LATIN_APART = tuple(
    (re.compile(r"(?<![A-Za-z])(?!" + word + ")" + _SEP.join(word) + r"(?![A-Za-z])", re.IGNORECASE), word)
    for word in ("suicide", "suicidal", "kill", "myself", "die", "unalive", "dead", "hurt", "harm")
)

# left of the code word: wanting, thinking, deciding, having done
_WANT_ZH = r"(?P<want>想|想要|要去|去|准备|打算|不如|已经|刚|真的|又|都是|念头|满脑子|计划|决定|考虑|干脆|还是|试过|会|要|有|能|敢)"
_SELF_KILL = r"(?:z\s?[-.]?\s?[sS]|Z\s?[-.]?\s?S|紫砂|紫杀|自鲨|自沙|自刹|子杀|自sha|zi\s?sha|自\s?[*xX×]|[*xX×]\s?杀自己|字杀|自S|自s)"
_NOT_THING = r"(?!壶|杯|锅|茶|泥|煲|器|盆|花|罐|陶|汽车|[A-Za-z])"
_CODED: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(_WANT_ZH + r"(?P<gap>[^。！？!?\n]{0,6}?)" + r"(?<![A-Za-z])" + _SELF_KILL + _NOT_THING),
        r"\g<want>\g<gap>自杀",
    ),
    (
        re.compile(r"(?<![A-Za-z])" + _SELF_KILL + r"(?=(?:的)?(?:念头|想法|计划|倾向|冲动|了算|算了|吧))"),
        "自杀",
    ),
    (re.compile(r"(?:自鲨|自sha|zisha|自刹)(?![A-Za-z])"), "自杀"),
    (
        re.compile(
            r"(?P<want>想|好想|要|不如|真想)[\s,，]?(?:s一s|s1s|4一4|亖一亖|亖|4)(?=$|[\s,，。.!！?？了啊呢吧但，的得]|掉)"
        ),
        r"\g<want>死",
    ),
    (re.compile(r"(?P<want>想|好想|不如|真想|要)\s?si(?=$|[\s,，。.!！?？了啊呢吧]|掉)"), r"\g<want>死"),
    (re.compile(r"(?<![A-Za-z])(?:xiang|xiǎng)\s?(?:si|sǐ)(?![A-Za-z])", re.IGNORECASE), "想死"),
    (re.compile(r"(?<![A-Za-z])bu\s?xiang\s?huo(?:\s?le)?(?![A-Za-z])", re.IGNORECASE), "不想活了"),
    (re.compile(r"(?P<want>想|要|又|在|刚|去)\s?(?:zc|ZC|zi\s?can)(?![A-Za-z])"), r"\g<want>自残"),
    (re.compile(r"(?P<want>想|要|真想|干脆|不如)嘎(?:了|掉)?(?P<who>自己|我自己)"), r"\g<want>杀了\g<who>"),
    (
        re.compile(
            r"(?<![A-Za-z])(?:un-?al[iy]ve)(?P<end>d|ing)?(?= (?:me|myself|my self|us)\b)", re.IGNORECASE
        ),
        r"kill",
    ),
    (
        re.compile(
            r"(?<![A-Za-z])(?:sewer[\s-]?slid(?:e|al)|su[\s-]?side|sue[\s-]?cide)(?![A-Za-z])(?! smell)",
            re.IGNORECASE,
        ),
        "suicide",
    ),
    (re.compile(r"(?<![A-Za-z])self[\s-]delete(?![A-Za-z])", re.IGNORECASE), "kill myself"),
    (
        re.compile(r"(?<![A-Za-z])sui(?= (?:thoughts|ideation|idea|attempt|plan|note)\b)", re.IGNORECASE),
        "suicide",
    ),
)


def read_coded(text: str) -> tuple[str, bool]:
    """Return the text with code words spelt out, and whether there were any."""
    changed = False
    for pattern, plain in _CHINESE_APART + _LATIN_APART + _CODED:
        text, count = pattern.subn(plain, text)
        changed = changed or count > 0
    return text, changed
