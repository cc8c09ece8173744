"""Why a reply was judged as it was: what was found, by which kind of phrase, in which sentence. Never its words (J1–J13)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from detectors.finding import Evidence

MEANING: Final = "meaning"
"""The source of what no phrase shows, but the whole of the reply."""
MOST: Final = 12  # of one message
HARM: Final = "harm"
FORMULA: Final = "formula"
GUIDANCE: Final = "guidance"
RELATION: Final = "relation"


def evidence(found: Mapping[str, Mapping[str, int]]) -> tuple[Evidence, ...]:
    """``found``: kinds of phrases with their first line, by the name of what they show. The gravest names come first."""
    return tuple(_each(found))[:MOST]


def _each(found: Mapping[str, Mapping[str, int]]) -> Iterator[Evidence]:
    for name, kinds in found.items():
        for source, line in kinds.items():
            yield Evidence(name, source, line)
