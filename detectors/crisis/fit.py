"""Fit the heads and the fusion of the exemplar scorer: ``python -m detectors.crisis.fit --models DIR [--data FILE…]``.

Our own corpora always take part (held-out families never). Labelled rows from elsewhere may be added as
JSONL ``{"id","text","label"}`` with ``label`` ``crisis`` or ``not_crisis``; other labels are left out. Of those files only
the rows whose id hashes into the fitting part are used, the rest stays for measuring (``in_fitting_part``).
Needs scikit-learn, which sentence-transformers brings along.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression, Ridge

from detectors.crisis.bank import Bank, load_bank
from detectors.crisis.features import NAMES, pattern_features, read_window
from detectors.crisis.fusion import CUES, EMOTIONS
from detectors.finding import CRISIS_LEVELS
from detectors.ports import Encoder
from detectors.text import normalise, split_windows

FOLDS = 5
_CONTINUOUS = ("crisis_nearness", "contrast_nearness", "meaning")
_TOP = 3
_OWN_SHARE = 1.0  # weight of one of our rows; rows from elsewhere weigh ``_OTHER_SHARE``
_OTHER_SHARE = 1.0
_TARGET_DISTRESS = 4.0

Floats = NDArray[np.float64]


def digest_number(name: str) -> int:
    return int(hashlib.sha256(name.encode()).hexdigest(), 16)


def in_fitting_part(identity: str) -> bool:
    """Three of five rows of a foreign set are fitted on; the others measure."""
    return digest_number(identity) % 5 < 3


@dataclass(frozen=True, slots=True)
class Row:
    """A labelled text; ``group`` keeps variants together across folds; ``own`` is its index in the bank."""

    text: str = field(repr=False)
    crisis: bool
    group: str
    own: int | None = None
    weight: float = 1.0


def read_rows(files: Iterable[Path]) -> list[Row]:
    rows = []
    for file in files:
        for line in file.read_text(encoding="utf-8").splitlines():
            data = json.loads(line)
            if data.get("label") in {"crisis", "not_crisis"} and in_fitting_part(data["id"]):
                rows.append(Row(data["text"], data["label"] == "crisis", data["id"], weight=_OTHER_SHARE))
    return rows


@dataclass(frozen=True, slots=True)
class _Windows:
    """All windows of all rows, flat, with the row each belongs to."""

    owner: NDArray[np.int64]
    vectors: NDArray[np.float32] = field(repr=False)
    patterns: list[dict[str, float]] = field(repr=False)


def _window(rows: Sequence[Row], encoder: Encoder) -> _Windows:
    owner: list[int] = []
    texts: list[str] = []
    for i, row in enumerate(rows):
        for window in split_windows(normalise(row.text).text):
            owner.append(i)
            texts.append(window.text)
    patterns = [pattern_features(read_window(text), text) for text in texts]
    return _Windows(np.array(owner), np.asarray(encoder.encode(texts), dtype=np.float32), patterns)


def _matrix(windows: _Windows, continuous: Floats) -> Floats:
    out = np.zeros((len(windows.owner), len(NAMES)))
    for column, name in enumerate(NAMES):
        if name in _CONTINUOUS:
            out[:, column] = continuous[:, _CONTINUOUS.index(name)]
        else:
            out[:, column] = [pattern[name] for pattern in windows.patterns]
    return out


def _continuous(
    windows: _Windows,
    rows: Sequence[Row],
    bank: Bank,
    meaning: Callable[[int], tuple[Floats, float]],
    fold: NDArray[np.int64],
) -> Floats:
    """Out-of-fold: a row's own family is never among its exemplars, nor among what its head has seen."""
    cosines = windows.vectors @ bank.vectors.T
    families = np.array([exemplar.family for exemplar in bank.exemplars])
    for i, owner in enumerate(windows.owner):
        own = rows[int(owner)].own
        if own is not None:
            cosines[i, families == families[own]] = -1.0
    risky = bank.risky
    out = np.zeros((len(windows.owner), 3))
    for column, side in enumerate((risky, ~risky)):
        part = cosines[:, side]
        out[:, column] = np.partition(part, -_TOP, axis=1)[:, -_TOP:].mean(axis=1)
    for number in range(FOLDS):
        weight, bias = meaning(number)
        mine = fold[windows.owner] == number
        out[mine, 2] = windows.vectors[mine] @ weight + bias
    return out


def _strongest(owner: NDArray[np.int64], scores: Floats, count: int) -> NDArray[np.int64]:
    """The window with the highest score of each row."""
    best = np.full(count, -1, dtype=np.int64)
    for i, row in enumerate(owner):
        if best[row] == -1 or scores[i] > scores[best[row]]:
            best[row] = i
    return best


@dataclass(frozen=True, slots=True)
class Fitted:
    heads: dict[str, NDArray[np.float32]] = field(repr=False)
    fusion: dict[str, Any]


def fit(
    encoder: Encoder, bank: Bank, others: Sequence[Row], *, strength: float = 30.0, rounds: int = 3
) -> Fitted:
    """Fit heads, then the fusion on out-of-fold features of each row's strongest window.

    ``strength`` is scikit-learn's C of the meaning head. Deterministic.
    """
    own = [Row(e.text, e.level.crisis, e.family, i, _OWN_SHARE) for i, e in enumerate(bank.exemplars)]
    rows = [*own, *others]
    windows = _window(rows, encoder)
    truth = np.array([row.crisis for row in rows])
    weight = np.array([row.weight for row in rows])
    fold = np.array([digest_number(row.group + "/fold") % FOLDS for row in rows])

    chosen = _strongest(
        windows.owner, -np.arange(len(windows.owner), dtype=np.float64), len(rows)
    )  # the whole turn first
    model = LogisticRegression(C=0.3, max_iter=2000)
    means, scales = np.zeros(len(NAMES)), np.ones(len(NAMES))
    head = (np.zeros(bank.vectors.shape[1]), 0.0)
    for _ in range(rounds):
        heads = [
            _meaning(windows.vectors[chosen], truth, weight, fold != number, strength)
            for number in range(FOLDS)
        ]
        head = _meaning(windows.vectors[chosen], truth, weight, np.ones(len(rows), dtype=bool), strength)
        features = _matrix(windows, _continuous(windows, rows, bank, lambda number, h=heads: h[number], fold))
        means, scales = np.zeros(len(NAMES)), np.ones(len(NAMES))
        for name in _CONTINUOUS:
            column = NAMES.index(name)
            means[column], scales[column] = features[chosen, column].mean(), features[chosen, column].std()
        scaled = (features - means) / scales
        model.fit(scaled[chosen], truth, sample_weight=weight)
        chosen = _strongest(windows.owner, np.asarray(model.decision_function(scaled)), len(rows))
    # the threshold of the shipped policy is 0.5: the intercept moves so that it means the chosen false-alarm rate
    return Fitted(_heads(bank, head), _fusion(model, means, scales, len(own), len(others)))


def _meaning(
    vectors: NDArray[np.float32],
    truth: NDArray[np.bool_],
    weight: Floats,
    use: NDArray[np.bool_],
    strength: float,
) -> tuple[Floats, float]:
    model = LogisticRegression(C=strength, max_iter=3000).fit(
        vectors[use], truth[use], sample_weight=weight[use]
    )
    return np.asarray(model.coef_[0]), float(model.intercept_[0])


def _heads(bank: Bank, meaning: tuple[Floats, float]) -> dict[str, NDArray[np.float32]]:
    rows = bank.exemplars
    risky = bank.risky
    index = {level: i for i, level in enumerate(CRISIS_LEVELS)}
    levels = LogisticRegression(C=30.0, max_iter=3000, class_weight="balanced")
    levels.fit(bank.vectors[risky], [index[row.level] for row in rows if row.level.crisis])
    distress = Ridge(alpha=1.0).fit(bank.vectors, [row.distress / _TARGET_DISTRESS for row in rows])
    emotions = [_one(bank, [emotion in row.emotions for row in rows]) for emotion in EMOTIONS]
    cues = [_one(bank, [cue in row.cues for row in rows]) for cue in CUES]
    arrays = {
        "meaning": (meaning[0][None, :], np.array([meaning[1]])),
        "levels": (levels.coef_, levels.intercept_),
        "distress": (np.atleast_2d(distress.coef_), np.atleast_1d(distress.intercept_)),
        "emotions": (np.stack([w for w, _ in emotions]), np.array([b for _, b in emotions])),
        "cues": (np.stack([w for w, _ in cues]), np.array([b for _, b in cues])),
    }
    out = {}
    for name, (weights, bias) in arrays.items():
        out[f"{name}_weight"] = np.asarray(weights, dtype=np.float32)
        out[f"{name}_bias"] = np.asarray(bias, dtype=np.float32)
    return out


def _one(bank: Bank, truth: list[bool]) -> tuple[Floats, float]:
    if not any(truth):
        return np.zeros(bank.vectors.shape[1]), -10.0
    model = LogisticRegression(C=10.0, max_iter=2000).fit(bank.vectors, truth)
    return np.asarray(model.coef_[0]), float(model.intercept_[0])


def _fusion(
    model: LogisticRegression, means: Floats, scales: Floats, own: int, others: int
) -> dict[str, Any]:
    return {
        "bias": round(float(model.intercept_[0]), 4),
        "weights": {name: round(float(w), 4) for name, w in zip(NAMES, model.coef_[0], strict=True)},
        "means": {name: round(float(means[NAMES.index(name)]), 6) for name in _CONTINUOUS},
        "scales": {name: round(float(scales[NAMES.index(name)]), 6) for name in _CONTINUOUS},
        "fitted_on": {"own_rows": own, "other_rows": others},
    }


def save(fitted: Fitted, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    np.savez(
        folder / "crisis_heads.npz",
        **{name: array.astype(np.float16) for name, array in fitted.heads.items()},
    )
    text = json.dumps(fitted.fusion, indent=1, ensure_ascii=False)
    (folder / "crisis_fusion.json").write_text(text + "\n", encoding="utf-8")


def fit_files(encoder: Encoder, files: Sequence[Path], models: Path, cache: Path | None = None) -> Fitted:
    fitted = fit(encoder, load_bank(encoder, cache), read_rows(files))
    save(fitted, models)
    return fitted
