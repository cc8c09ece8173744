"""How formally a reply addresses the person: by the pronoun where the language has two, by contractions in English."""

from __future__ import annotations

import re
from typing import Final

# Polite and familiar address (Brown & Gilman 1960, "The pronouns of power and solidarity"). "Sie" counts within a sentence
# only: at its beginning it may be "she" or "they".
_SIGNS: Final = {
    "zh": (r"您|贵方|敬请", r"你|咱"),
    "de": (
        r"(?<=[^.!?\n] )(?:Sie|Ihnen|Ihr(?:e[mnrs]?)?)\b",
        r"\b(?:[Dd]u|[Dd]ich|[Dd]ir|[Dd]ein(?:e[mnrs]?)?)\b",
    ),
    "es": (r"\b[Uu]sted(?:es)?\b|\bUds?\.", r"\b(?:[Tt]ú|[Tt]i|[Cc]ontigo|[Vv]os|[Tt]us?|[Tt]e)\b"),
    "fr": (r"\b(?:[Vv]ous|[Vv]os|[Vv]otre)\b", r"\b(?:[Tt]u|[Tt]oi|[Tt]on|[Tt]es|[Tt]a|[Tt]e)\b|\b[Tt]'"),
    "en": (
        r"\b(?:do not|cannot|can not|will not|is not|are not|I am|I have|you are|it is|please|therefore|however|regarding|kindly)\b",
        r"\b\w+['’](?:t|m|re|ve|ll|s|d)\b|\b(?:gonna|wanna|kinda|yeah|hey|ok|okay)\b",
    ),
}
_COMPILED: Final = {
    lang: (re.compile(formal), re.compile(familiar)) for lang, (formal, familiar) in _SIGNS.items()
}
_READ: Final = 6_000
NEITHER: Final = 0.5


def formality(text: str, language: str) -> float:
    """Share of formal signs among all, 0 (familiar) to 1 (formal); one half where nothing tells."""
    signs = _COMPILED.get(language)
    if signs is None:
        return NEITHER
    formal, familiar = (len(sign.findall(text[:_READ])) for sign in signs)
    return formal / (formal + familiar) if formal + familiar else NEITHER
