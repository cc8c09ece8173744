"""One evaluation: every set through a scorer, measured by slice, ready for people and for scripts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from detectors.crisis.reader import Reader
from detectors.evaluation.dialogues import Detection, detect, has_personas, read_dialogues
from detectors.evaluation.judge import Progress, judge
from detectors.evaluation.metrics import Measured, Share, measure, pairs_right
from detectors.evaluation.replies import MeasuredReplies, judged, measure_replies
from detectors.evaluation.rows import Judged, Row, by_slice
from detectors.evaluation.sets import own_rows, public_rows
from detectors.ports import ReplyScorer, UserScorer
from detectors.scales.answer import Answer
from detectors.training.replies import JudgedReply
from detectors.training.sources import CORPORA

_SMALLEST: Final = 5  # rows of a slice worth a line
_PART: Final = 256  # replies at once


@dataclass(frozen=True, slots=True)
class Evaluation:
    """``measured`` by slice, ``pairs`` by set, ``dialogues`` by file; ``judged`` by set, for pictures.

    ``replies``: our held-out judged replies by language, ``all`` of them first; none where no judge of replies was asked.
    """

    measured: dict[str, Measured]
    pairs: dict[str, Share]
    dialogues: dict[str, Detection]
    judged: dict[str, list[Judged]]
    replies: dict[str, MeasuredReplies] = field(default_factory=dict)


def evaluate(
    users: UserScorer,
    replies: ReplyScorer | None,
    reader: Reader | None,
    data: Sequence[Path],
    progress: Progress,
    *,
    every: bool = False,
    corpora: Path = CORPORA,
    one_in: int = 1,
) -> Evaluation:
    """Our held-out families always take part; of other files the rows that were not learnt from, or ``every`` one.

    ``one_in``: of so many of our families take one, where a quick look is enough.
    """
    rows: list[Row] = own_rows(corpora, one_in=one_in)
    personas = [file for file in data if has_personas(file)]
    for file in data:
        if file not in personas:
            rows += public_rows(file, every=every)
    found = judge(rows, users, replies, reader, progress)
    sets: dict[str, list[Judged]] = {}
    for one in found:
        sets.setdefault(one.row.slices[0], []).append(one)
    return Evaluation(
        {name: measure(some) for name, some in by_slice(found).items() if len(some) >= _SMALLEST},
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
        "replies": {name: _replies(one) for name, one in evaluation.replies.items()},
    }
    cleaned: dict[str, Any] = _finite(whole)
    return cleaned


def evaluate_replies(
    scorer: ReplyScorer, replies: Sequence[JudgedReply], progress: Progress
) -> dict[str, MeasuredReplies]:
    """Those of ``replies`` that are held out, in all and by language."""
    held = [one for one in replies if one.held_out]
    answers: list[Answer] = []
    for start in range(0, len(held), _PART):
        answers += judged(held[start : start + _PART], scorer)
        progress(len(answers), len(held))
    langs = {one.lang: [i for i, other in enumerate(held) if other.lang == one.lang] for one in held}
    parts = {"all": list(range(len(held))), **langs} if held else {}
    return {
        name: measure_replies([held[i] for i in places], [answers[i] for i in places])
        for name, places in parts.items()
    }


def _replies(one: MeasuredReplies) -> dict[str, Any]:
    """With the F1 of each criterion and flag, which is no field."""
    told = asdict(one)
    for name in ("criteria", "flags"):
        told[name] = {
            key.value: asdict(found) | {"f1": found.f1} for key, found in getattr(one, name).items()
        }
    return told


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _finite(one) for name, one in value.items()}
    if isinstance(value, float):
        return round(value, 4) if math.isfinite(value) else None
    return value
