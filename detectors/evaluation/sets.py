"""The sets an evaluation is made of: our held-out families, hidden spellings of them, and files of others."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from detectors.evaluation.rows import Row, row_of
from detectors.training.example import Example
from detectors.training.hidden import hidden_rows
from detectors.training.sources import (
    CORPORA,
    READINGS,
    fitted_on,
    read_corpora,
    read_dialogues,
    read_public,
)

OWN: Final = "own"
HIDDEN: Final = "hidden"
_SHARE: Final = 1 / 3


def own_rows(folder: Path = CORPORA, *, one_in: int = 1) -> list[Row]:
    """Our families that nothing was fitted on, and a third of their single turns in hidden spelling.

    ``one_in``: of so many families take one, whole; of hidden spellings, which are few, all.
    """
    held = [example for example in read_corpora(folder) if example.held_out]
    hidden = [row_of(example, HIDDEN) for example in hidden_rows(held, _SHARE)]
    return [row_of(example, OWN) for example in _one_in(one_in, held)] + hidden


def _one_in(count: int, held: list[Example]) -> list[Example]:
    place: dict[str, int] = {}
    for example in held:
        place.setdefault(example.group, len(place))
    return [example for example in held if place[example.group] % count == 0]


def public_rows(file: Path, *, every: bool = False) -> list[Row]:
    """Labelled texts of a file, or the user turns of its conversations by our readings of them.

    Those the model learnt from are left out unless ``every``. Raises ``ValueError`` where there is nothing to measure.
    """
    dialogues = (READINGS / file.name).exists()
    found = list(read_dialogues(file) if dialogues else read_public(file))
    if not found:
        raise ValueError(f"{file.name} holds no labelled texts, and there is no reading of its conversations")
    return [row_of(example, file.stem) for identity, example in found if every or not fitted_on(identity)]
