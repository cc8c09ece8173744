"""All examples of a run, in three parts by family: to learn from, to calibrate on, and (never touched here) to test."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeVar

from detectors.training.example import Example
from detectors.training.hidden import hidden_rows
from detectors.training.replies import read_replies
from detectors.training.sources import CORPORA, READINGS, fitted_on, read_corpora, read_dialogues, read_public

T = TypeVar("T")

_HIDDEN: Final = 0.15  # share of the single rows that is learnt in a hidden spelling too
_HIDDEN_WEIGHT: Final = 0.6  # where the telling word is hidden, some say nothing any more
_CALIBRATING: Final = 12  # one family in so many is kept for calibration
# real voices are few beside ours. PsySUICIDE's crisis rows are mostly from social media, its others mostly are not: that
# is left as it is, and every figure on it is given by source too
_WEIGHT: Final = {
    "zh_psysuicide": 2.0,
    "en_cssrs_suicidewatch_posts": 2.0,
    "zh_smilechat": 0.7,
    "zh_cpsycound": 0.7,
    "en_vera_mh_dialogues": 0.7,
}


@dataclass(frozen=True, slots=True)
class Gathered:
    learn: list[Example]
    calibrate: list[Example]


def gather(data: Sequence[Path], corpora: Path = CORPORA) -> Gathered:
    """Our corpora and the part of the given files that is for learning (``fitted_on``)."""
    own = _weighed([example for example in read_corpora(corpora) if not example.held_out])
    hidden = [replace(one, weight=one.weight * _HIDDEN_WEIGHT) for one in hidden_rows(own, _HIDDEN)]
    replies = [
        example
        for judged in read_replies(corpora / "replies")
        if not judged.held_out and (example := judged.example())
    ]
    rows = [*own, *hidden, *_public(data), *replies]
    kept = [_calibrates(example) for example in rows]
    return Gathered(
        [row for row, keep in zip(rows, kept, strict=True) if not keep],
        [row for row, keep in zip(rows, kept, strict=True) if keep],
    )


def _weighed(examples: Sequence[Example]) -> list[Example]:
    """Rare levels and rare languages count for more, within bounds."""
    levels = Counter(example.level for example in examples if example.crisis)
    languages = Counter(example.lang for example in examples)
    usual_level = sum(levels.values()) / max(1, len(levels))
    usual_language = sum(languages.values()) / max(1, len(languages))

    def weight(example: Example) -> float:
        level = usual_level / levels[example.level] if example.crisis else 1.0
        language = usual_language / languages[example.lang]
        return float(min(1.5, max(0.8, (level * language) ** 0.25)))

    return [replace(example, weight=weight(example)) for example in examples]


def _number(name: str) -> int:
    return int(hashlib.sha256(name.encode()).hexdigest(), 16)


def _calibrates(example: Example) -> bool:
    return _number(f"calibrate {example.group}") % _CALIBRATING == 0


def _public(files: Sequence[Path]) -> Iterator[Example]:
    for file in files:
        dialogues = (READINGS / file.name).exists()
        for identity, example in read_dialogues(file) if dialogues else read_public(file):
            if fitted_on(identity):
                yield replace(example, weight=_WEIGHT.get(example.source, 1.0))


def spread(rows: Sequence[T], limit: int | None) -> list[T]:
    """Return so many at most, evenly spread: for a trial."""
    if limit is None or len(rows) <= limit:
        return list(rows)
    step = len(rows) / limit
    return [rows[int(i * step)] for i in range(limit)]
