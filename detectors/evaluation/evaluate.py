"""One evaluation: every set through a scorer, measured by slice, ready for people and for scripts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from detectors.crisis.reader import Reader
from detectors.evaluation.dialogues import Detection, detect, has_personas, read_dialogues
from detectors.evaluation.judge import Progress, judge
from detectors.evaluation.metrics import Measured, Share, measure, pairs_right
from detectors.evaluation.rows import Judged, Row, by_slice
from detectors.evaluation.sets import own_rows, public_rows
from detectors.ports import ReplyScorer, UserScorer
from detectors.training.sources import CORPORA

_SMALLEST: Final = 5  # rows of a slice worth a line


@dataclass(frozen=True, slots=True)
class Evaluation:
    """``measured`` by slice, ``pairs`` by set, ``dialogues`` by file; ``judged`` by set, for pictures."""

    measured: dict[str, Measured]
    pairs: dict[str, Share]
    dialogues: dict[str, Detection]
    judged: dict[str, list[Judged]]


def evaluate(
    users: UserScorer,
    replies: ReplyScorer | None,
    reader: Reader | None,
    data: Sequence[Path],
    progress: Progress,
    *,
    every: bool = False,
    corpora: Path = CORPORA,
) -> Evaluation:
    """Our held-out families always take part; of other files the rows that were not learnt from, or ``every`` one."""
    rows: list[Row] = own_rows(corpora)
    personas = [file for file in data if has_personas(file)]
    for file in data:
        if file not in personas:
            rows += public_rows(file, every=every)
    judged = judge(rows, users, replies, reader, progress)
    sets: dict[str, list[Judged]] = {}
    for one in judged:
        sets.setdefault(one.row.slices[0], []).append(one)
    return Evaluation(
        {name: measure(some) for name, some in by_slice(judged).items() if len(some) >= _SMALLEST},
        {name: pairs_right(some) for name, some in sets.items() if any(one.row.family for one in some)},
        {file.stem: detect(read_dialogues(file, every=every), users, replies, reader) for file in personas},
        sets,
    )


def as_json(evaluation: Evaluation) -> dict[str, Any]:
    """NaN becomes null: JSON has none."""
    whole = {
        "sets": {name: asdict(one) for name, one in evaluation.measured.items()},
        "pairs": {name: asdict(one) for name, one in evaluation.pairs.items()},
        "dialogues": {name: asdict(one) for name, one in evaluation.dialogues.items()},
    }
    cleaned: dict[str, Any] = _finite(whole)
    return cleaned


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _finite(one) for name, one in value.items()}
    if isinstance(value, float):
        return round(value, 4) if math.isfinite(value) else None
    return value
