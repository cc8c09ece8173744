"""Negative questions that assert: "why don't you", "isn't it", 难道不, 何不. Their negation takes nothing back, it drives home.

Only harm is read so: "isn't it your own fault?" blames. To a referral or a held feeling such a question adds nothing sure.
"""

from __future__ import annotations

import re

_BREAKS = ",;:\n"
_FAR = 80

_NOT = r"(?:do|does|did|is|are|was|were|would|could|should|wo|ca|have|has|had|ai)n'?t"
_WHO = (
    r"(?:you|it|that|this|there|he|she|they|we|everyone|everybody|people|(?:your|the|my|his|her|their) \w+)"
)
_FIRST = r"^\W*(?:(?:so|and|but|or|then|well|oh|honestly|really)\W+)*"
_AGREE = r"(?:(?:do|would|ca|could)n'?t you (?:think|agree|see|know|realise|realize|admit)|wouldn'?t you say)"
# between it and the phrase no word that reports or denies: "isn't it the illness that says so?" comforts
_NEAR = (
    r"(?: (?:that|true|obvious|clear|time|because|you|you're|you are|they|they'd|would|everyone|everybody|people|it's|be|been|being"
    r"|just|really|actually|simply|only|always|already|finally|all|so|such|very|quite|rather|pretty|an?|the|bit|little|kind|sort"
    r"|of|to|go|and|get|have|better))*\s*$"
)
_FIRST_ZH = r"^\W*(?:[那可你您他她还就]|大家|家里)*"
_NEAR_ZH = r"[^说骂讲想听念不没别]{0,4}$"

_SUGGESTS = re.compile(
    rf"(?:\bwhy (?:do|wo|would|ca|could)n'?t {_WHO}|{_FIRST}why not)\b{_NEAR}"
    rf"|(?:{_FIRST_ZH}(?:怎么|咋)(?:就|还|也)?不|{_FIRST_ZH}(?:为什么|为啥|为何|干嘛|干吗|何)(?:就|还|也)?不(?![该应能会算是])"
    rf"|难道(?:你|您)?(?:就|还|也|都)?(?:不|没有?)(?:觉得)?){_NEAR_ZH}"
)
_ASKED = re.compile(
    rf"{_FIRST}(?:{_AGREE}|{_NOT} {_WHO}|(?:do|does|is|are|was|were|would|should) {_WHO} not)\b{_NEAR}"
)
_ASKED_ZH = re.compile(
    rf"(?:^\W*(?:你|您)?(?:这|那|还|可)不(?=是)|不就|不正|岂不|(?:你|您)(?:就|都|也)?不觉得){_NEAR_ZH}"
)
_WITHIN = re.compile(
    r"^why (?:don'?t|won'?t|not)\b|(?:怎么|咋|为什么|为啥|为何|干嘛|干吗|何)(?:就|还|也)?不|不就|岂不"
)

_QUESTION = re.compile(r"\?[^\w\s]*\s*$")
_QUESTION_ZH = re.compile(r"[^,;:\n]*(?<![对好是行懂白道])[吗么嘛][^\w\s]*\s*")
_NOTHING_MORE = re.compile(
    r"(?:[ ,]*\b(?:without you|around|here|anyway|already|too|then|by now|now|after all)\b)*[了吗么嘛呢啊的]{0,3}[^\w\s]*\s*"
)


def straight(sentence: str, start: int, end: int) -> tuple[str, int]:
    """The sentence without what makes it a negative question, and where its phrase ``start``–``end`` then starts.

    The question mark goes only where the phrase is all that is asked: "don't you think they'd be fine?" says so, "don't you
    think they'd be fine with a call?" asks.
    """
    clause = max(sentence.rfind(mark, 0, start) for mark in _BREAKS) + 1
    opener = _opener(sentence[clause:start], sentence[start:end], sentence[end:])
    if opener is None:
        return sentence, start
    before = sentence[:clause] + sentence[clause:start][: opener[0]] + sentence[clause:start][opener[1] :]
    after = sentence[end:]
    if _NOTHING_MORE.fullmatch(after):
        after = after.replace("?", "")
    return before + sentence[start:end] + after, len(before)


def _opener(before: str, phrase: str, after: str) -> tuple[int, int] | None:
    """What of the clause before the phrase makes it such a question."""
    found = None
    if len(before) <= _FAR:
        found = _SUGGESTS.search(before)
        if found is None and _QUESTION.search(after):
            found = _ASKED.search(before)
        if found is None and _QUESTION_ZH.fullmatch(phrase[-1:] + after):
            found = _ASKED_ZH.search(before)
    if found is not None:
        return found.span()
    return (0, 0) if _WITHIN.search(phrase) else None
