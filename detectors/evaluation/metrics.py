"""How well a scorer does on labelled rows: recall, false alarms, precision, F1 and AUROC, by slice, with intervals."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binomtest, mannwhitneyu

from detectors.crisis.bank import read_corpora
from detectors.finding import Level, UserSignal
from detectors.ports import UserScorer

_NEVER = float("nan")


@dataclass(frozen=True, slots=True)
class Labelled:
    """A row with its truth; ``slices`` are the groups it is counted in ("zh", "level:plan_intent", …)."""

    text: str
    lang: str
    crisis: bool
    slices: tuple[str, ...]
    level: Level | None = None


@dataclass(frozen=True, slots=True)
class Share:
    """A proportion with its 95 % interval (Wilson); ``of`` rows it stands on."""

    value: float
    low: float
    high: float
    of: int


@dataclass(frozen=True, slots=True)
class Measured:
    """``recall`` over crisis rows, ``false_alarms`` over the others; NaN where there are none."""

    recall: Share
    false_alarms: Share
    precision: float
    f1: float
    auroc: float
    exact_level: Share


def _share(hits: int, of: int) -> Share:
    if of == 0:
        return Share(_NEVER, _NEVER, _NEVER, 0)
    interval = binomtest(hits, of).proportion_ci(method="wilson")
    return Share(hits / of, float(interval.low), float(interval.high), of)


def measure(rows: Sequence[Labelled], signals: Sequence[UserSignal]) -> Measured:
    """Over rows and their signals in the same order."""
    truth = np.array([row.crisis for row in rows], dtype=bool)
    found = np.array([signal.level.crisis for signal in signals], dtype=bool)
    score = np.array([signal.score for signal in signals])
    hits, alarms = int((truth & found).sum()), int((~truth & found).sum())
    precision = hits / (hits + alarms) if hits + alarms else _NEVER
    recall = _share(hits, int(truth.sum()))
    f1 = 2 * hits / (hits + alarms + int(truth.sum())) if truth.any() else _NEVER
    auroc = _NEVER
    if truth.any() and not truth.all():
        statistic = mannwhitneyu(score[truth], score[~truth]).statistic
        auroc = float(statistic) / (int(truth.sum()) * int((~truth).sum()))
    levelled = [(row, signal) for row, signal in zip(rows, signals, strict=True) if row.crisis and row.level]
    exact = _share(sum(row.level is signal.level for row, signal in levelled), len(levelled))
    return Measured(recall, _share(alarms, int((~truth).sum())), precision, f1, auroc, exact)


def held_out_rows() -> list[Labelled]:
    """Our own families that nothing was fitted on (how far they are untouched: corpora/README)."""
    return [
        Labelled(
            row.text,
            row.lang,
            row.level.crisis,
            ("all", row.lang, f"{row.lang}/{row.level.value}", f"kind/{row.kind}"),
            row.level,
        )
        for row in read_corpora()
        if row.held_out
    ]


def read_labelled(file: Path, keep: Callable[[str], bool] = lambda _: True) -> list[Labelled]:
    """Rows ``{"id","text","lang","label"}`` of a JSONL file; other labels than crisis and not_crisis are left out."""
    rows = []
    for line in file.read_text(encoding="utf-8").splitlines():
        data = json.loads(line)
        if data.get("label") in {"crisis", "not_crisis"} and keep(data["id"]):
            origin = (data.get("orig") or {}).get("data_source")
            slices = (file.stem, f"{file.stem}/{origin}") if origin else (file.stem,)
            rows.append(Labelled(data["text"], data["lang"], data["label"] == "crisis", slices))
    return rows


def evaluate(scorer: UserScorer, rows: Sequence[Labelled]) -> dict[str, Measured]:
    """Score every row once and measure by slice."""
    signals = scorer.score([row.text for row in rows], [row.lang for row in rows])
    names: Iterable[str] = dict.fromkeys(name for row in rows for name in row.slices)
    out = {}
    for name in names:
        inside = [i for i, row in enumerate(rows) if name in row.slices]
        out[name] = measure([rows[i] for i in inside], [signals[i] for i in inside])
    return out


def as_json(measured: dict[str, Measured]) -> dict[str, Any]:
    return {name: asdict(one) for name, one in measured.items()}
