"""The words of the labels that only corpora use."""

from __future__ import annotations

from typing import Final

HARMLESS_KINDS: Final = (
    "everyday",
    "distress",
    "idiom_hyperbole",
    "technical_game",
    "third_party_past",
    "news_study",
    "fiction_lyrics",
    "negation",
    "recovered",
    "hypothetical_philosophy",
    "fear_of_death",
    "medication_normal",
    "quoted_assistant",
    "bereavement",
    "anger_hyperbole",
    "support_thanks",
)
RISKY_KINDS: Final = (
    "plain",
    "euphemism",
    "disguised",
    "understated",
    "contextual",
    "humour",
    "code_switch",
    "short_fragment",
)
KINDS: Final = HARMLESS_KINDS + RISKY_KINDS
TRENDS: Final = ("falling", "steady", "rising")
