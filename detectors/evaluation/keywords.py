"""What many products still do: a short list of words. Here to be compared with, never to judge."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from detectors.finding import Level, UserSignal

_WORDS: Final = re.compile(
    "自杀|想死|不想活|活不下去|去死|寻死|轻生|自残|伤害自己|结束生命|结束自己|遗书|死了算了|不如死|解脱"
    r"|\b(?:suicid\w*|kill(?:ing)? myself|end (?:my life|it all)|want to die|wanna die|better off dead|self[- ]?harm\w*"
    r"|hurt(?:ing)? myself|don'?t want to (?:live|be alive)|take my (?:own )?life|kms)\b",
    re.IGNORECASE,
)


class KeywordScorer:
    """A ``UserScorer``: active ideation where a word of the list stands, none elsewhere."""

    def score(self, texts: Sequence[str], langs: Sequence[str | None]) -> list[UserSignal]:
        del langs
        return [
            UserSignal(Level.ACTIVE_IDEATION, 1.0, 0.5)
            if _WORDS.search(text)
            else UserSignal(Level.NONE, 0.0, 0.0)
            for text in texts
        ]
