"""Fit the heads and the fusion: ``python -m detectors.crisis.fit --models DIR [--data FILE…] [--benign FILE…]``.

Our own corpora always take part (held-out families never). Labelled rows from elsewhere may be added as
JSONL ``{"id","text","label"}``, counselling conversations as ``{"id","turns"}``. Of those files only
the rows whose id hashes into the fitting part are used, the rest stays for measuring (``in_fitting_part``).
Needs scikit-learn, which sentence-transformers brings along.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neural_network import MLPClassifier

from detectors.crisis.bank import Bank, load_bank
from detectors.crisis.features import NAMES, judged_windows, pattern_features, read_window
from detectors.crisis.fusion import CONTINUOUS, CUES, EMOTIONS, heads_from
from detectors.crisis.wording import BUCKETS, buckets
from detectors.encoder import load_engine, prepare
from detectors.encoder.cache import locate_cache
from detectors.finding import CRISIS_LEVELS, Level
from detectors.ports import Encoder, Vectors
from detectors.text import normalise

FOLDS = 5
ROUNDS = 2
NETS, WIDTH = 3, 64
_TOP = 3
_TARGET_DISTRESS = 4.0
_OUTRIGHT = 2.0
_SPEAKING = ("crisis_nearness", "contrast_nearness", "meaning", "own_passive_ideation", "own_active_ideation")
_CLASSES = (Level.NONE, *CRISIS_LEVELS)

Floats = NDArray[np.float64]
Arrays = dict[str, NDArray[np.float32]]

# what other label sets call our levels: PsySUICIDE's classes, the Columbia scale's numbers
_LEVEL_OF = {
    "active_suicidal_ideation": Level.ACTIVE_IDEATION,
    "passive_suicidal_ideation": Level.PASSIVE_IDEATION,
    "suicide_plan": Level.PLAN_INTENT,
    "suicide_attempt": Level.ACTIVE_IDEATION,
    "suicide_preparation": Level.PREPARATION,
    "self_harm_behaviour": Level.SELF_HARM,
    "self_harm_intent": Level.SELF_HARM,
    "harm_to_others_user": Level.HARM_TO_OTHERS,
    "2": Level.ACTIVE_IDEATION,
    "3": Level.ACTIVE_IDEATION,
    "4": Level.PLAN_INTENT,
    "5": Level.PLAN_INTENT,
    "6": Level.ACTIVE_IDEATION,
}


def digest_number(name: str) -> int:
    return int(hashlib.sha256(name.encode()).hexdigest(), 16)


def in_fitting_part(identity: str) -> bool:
    """Three of five rows of a foreign set are fitted on; the others measure."""
    return digest_number(identity) % 5 < 3


@dataclass(frozen=True, slots=True)
class Row:
    """A labelled text; ``group`` keeps variants together across folds; ``own`` is its index in the bank."""

    text: str = field(repr=False)
    level: Level
    group: str
    own: int | None = None


def read_rows(files: Iterable[Path]) -> list[Row]:
    """Labelled single texts of the fitting part; other labels than ``crisis`` and ``not_crisis`` are left out."""
    rows = []
    for file in files:
        for line in file.read_text(encoding="utf-8").splitlines():
            data = json.loads(line)
            if data.get("label") not in {"crisis", "not_crisis"} or not in_fitting_part(data["id"]):
                continue
            level = Level.NONE
            if data["label"] == "crisis":
                name = str(data.get("category") or "").partition("|")[0]
                level = _LEVEL_OF.get(name) or _LEVEL_OF.get(str(data.get("severity")), Level.ACTIVE_IDEATION)
            rows.append(Row(data["text"], level, data["id"]))
    return rows


def benign_turns(files: Iterable[Path], *, fitting: bool) -> list[tuple[str, str]]:
    """(conversation id, user text) of one user turn in four, from the fitting part of the conversations or the rest."""
    found = []
    for file in files:
        for line in file.read_text(encoding="utf-8").splitlines():
            data = json.loads(line)
            if in_fitting_part(data["id"]) is not fitting:
                continue
            texts = [turn["text"] for turn in data["turns"] if turn["role"] == "user"]
            found += [
                (data["id"], text)
                for i, text in enumerate(texts)
                if digest_number(f"{data['id']}/{i}") % 4 == 0
            ]
    return found


def read_benign(files: Iterable[Path]) -> list[Row]:
    """User turns of everyday counselling, taken as harmless unless they say a wish to die outright."""
    rows = []
    for identity, text in benign_turns(files, fitting=True):
        own = read_window(normalise(text).text).own()
        if not any(heard.signal.strength == 2 for heard in own):
            rows.append(Row(text, Level.NONE, identity))
    return rows


@dataclass(frozen=True, slots=True)
class _Windows:
    """All windows of all rows, flat, with the row each belongs to."""

    owner: NDArray[np.int64]
    vectors: Vectors = field(repr=False)
    patterns: list[dict[str, float]] = field(repr=False)
    wording: csr_matrix = field(repr=False)


def _window(rows: Sequence[Row], encoder: Encoder) -> _Windows:
    owner: list[int] = []
    texts: list[str] = []
    for i, row in enumerate(rows):
        for window in judged_windows(normalise(row.text).text):
            owner.append(i)
            texts.append(window.text)
    patterns = [pattern_features(read_window(text), text) for text in texts]
    found = [buckets(text) for text in texts]
    starts = np.concatenate([[0], np.cumsum([len(one) for one in found])])
    values = np.concatenate([np.full(len(one), 1.0 / np.sqrt(max(1, len(one)))) for one in found])
    wording = csr_matrix((values, np.concatenate(found), starts), shape=(len(texts), BUCKETS))
    return _Windows(np.array(owner), np.asarray(encoder.encode(texts), dtype=np.float32), patterns, wording)


def _net(vectors: Vectors, levels: Sequence[Level]) -> Arrays:
    """Small nets side by side over all levels; the standardising of their input is folded into their weights."""
    mean, scale = vectors.mean(axis=0), vectors.std(axis=0)
    number = np.array([_CLASSES.index(level) for level in levels])
    hidden, hidden_bias, output, output_bias = [], [], [], []
    for seed in range(NETS):
        net = MLPClassifier((WIDTH,), alpha=3.0, max_iter=30, random_state=seed, learning_rate_init=2e-3)
        net.fit((vectors - mean) / scale, number)
        first = net.coefs_[0].T / scale
        hidden.append(first)
        hidden_bias.append(net.intercepts_[0] - first @ mean)
        full = np.full((len(_CLASSES), WIDTH), 0.0)
        bias = np.full(len(_CLASSES), -30.0)
        full[net.classes_], bias[net.classes_] = net.coefs_[1].T, net.intercepts_[1]
        output.append(full)
        output_bias.append(bias)
    arrays = {
        "net_hidden": hidden,
        "net_hidden_bias": hidden_bias,
        "net_output": output,
        "net_output_bias": output_bias,
    }
    return {name: np.stack(parts).astype(np.float32) for name, parts in arrays.items()}


def _wording(matrix: csr_matrix, truth: NDArray[np.bool_]) -> Arrays:
    model = LogisticRegression(C=30.0, max_iter=500).fit(matrix, truth)
    return {
        "wording": model.coef_[0].astype(np.float32),
        "wording_bias": np.array(model.intercept_[0], dtype=np.float32),
    }


def _nearness(windows: _Windows, rows: Sequence[Row], bank: Bank) -> Floats:
    """A row's own family is never among its exemplars."""
    cosines = windows.vectors @ bank.vectors.T
    families = np.array([exemplar.family for exemplar in bank.exemplars])
    for i, owner in enumerate(windows.owner):
        own = rows[int(owner)].own
        if own is not None:
            cosines[i, families == families[own]] = -1.0
    risky = bank.risky
    sides = [
        np.partition(cosines[:, side], -_TOP, axis=1)[:, -_TOP:].mean(axis=1) for side in (risky, ~risky)
    ]
    return np.stack(sides, axis=1).astype(np.float64)


def _strongest(owner: NDArray[np.int64], scores: Floats, count: int) -> NDArray[np.int64]:
    """The window with the highest score of each row."""
    best = np.full(count, -1, dtype=np.int64)
    for i, row in enumerate(owner):
        if best[row] == -1 or scores[i] > scores[best[row]]:
            best[row] = i
    return best


@dataclass(frozen=True, slots=True)
class Fitted:
    heads: Arrays = field(repr=False)
    fusion: dict[str, Any]
    fusion_other: dict[str, Any]


def fit(encoder: Encoder, bank: Bank, others: Sequence[Row]) -> Fitted:
    """Fit the heads, then the fusion on out-of-fold features of each row's strongest window. Deterministic."""
    rows = [*(Row(e.text, e.level, e.family, i) for i, e in enumerate(bank.exemplars)), *others]
    windows = _window(rows, encoder)
    levels = [row.level for row in rows]
    truth = np.array([level.crisis for level in levels])
    fold = np.array([digest_number(row.group + "/fold") % FOLDS for row in rows])
    near = _nearness(windows, rows, bank)
    linear = _linear(bank)
    features = np.zeros((len(windows.owner), len(NAMES)))
    for column, name in enumerate(NAMES):
        if name not in CONTINUOUS:
            features[:, column] = [pattern[name] for pattern in windows.patterns]
    columns = [NAMES.index(name) for name in CONTINUOUS]
    features[:, columns[:2]] = near
    chosen = _strongest(
        windows.owner, -np.arange(len(windows.owner), dtype=np.float64), len(rows)
    )  # the whole turn
    model = LogisticRegression(C=0.3, max_iter=2000)
    means, scales = np.zeros(len(NAMES)), np.ones(len(NAMES))
    for _ in range(ROUNDS):
        for number in range(FOLDS):
            use = np.flatnonzero(fold != number)
            arrays = _trained(windows, chosen[use], [levels[i] for i in use], truth[use])
            heads = heads_from(linear | arrays)
            mine = fold[windows.owner] == number
            features[mine, columns[2]] = heads.meaning(windows.vectors[mine])
            features[mine, columns[3]] = windows.wording[mine] @ heads.wording + heads.wording_bias
        for column in columns:
            means[column], scales[column] = features[chosen, column].mean(), features[chosen, column].std()
        scaled = (features - means) / scales
        model.fit(scaled[chosen], truth)
        chosen = _strongest(windows.owner, np.asarray(model.decision_function(scaled)), len(rows))
    arrays = _trained(windows, chosen, levels, truth)
    counts = (len(bank.exemplars), len(others))
    # in a language we have no rows of, only the vectors and the plainest sentences speak
    spoken = [i for i, name in enumerate(NAMES) if name in _SPEAKING]
    other = LogisticRegression(C=0.3, max_iter=2000).fit(scaled[chosen][:, spoken], truth)
    weights = np.zeros(len(NAMES))
    weights[spoken] = other.coef_[0]
    for name in _SPEAKING[
        3:
    ]:  # too few of our rows say it in those languages to learn this weight: set by hand
        weights[NAMES.index(name)] = max(weights[NAMES.index(name)], _OUTRIGHT)
    return Fitted(
        linear | arrays,
        _fusion(model.coef_[0], float(model.intercept_[0]), means, scales, counts),
        _fusion(weights, float(other.intercept_[0]), means, scales, counts),
    )


def _trained(
    windows: _Windows, chosen: NDArray[np.int64], levels: Sequence[Level], truth: NDArray[np.bool_]
) -> Arrays:
    return _net(windows.vectors[chosen], levels) | _wording(windows.wording[chosen], truth)


def _linear(bank: Bank) -> Arrays:
    """Heads that are fitted on our own rows alone."""
    rows = bank.exemplars
    risky = bank.risky
    levels = LogisticRegression(C=30.0, max_iter=3000, class_weight="balanced")
    levels.fit(bank.vectors[risky], [CRISIS_LEVELS.index(row.level) for row in rows if row.level.crisis])
    distress = Ridge(alpha=0.3).fit(bank.vectors, [row.distress / _TARGET_DISTRESS for row in rows])
    emotions = [_one(bank, [emotion in row.emotions for row in rows]) for emotion in EMOTIONS]
    cues = [_one(bank, [cue in row.cues for row in rows]) for cue in CUES]
    arrays = {
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
    weights: Floats, bias: float, means: Floats, scales: Floats, counts: tuple[int, int]
) -> dict[str, Any]:
    return {
        "bias": round(bias, 4),
        "weights": {name: round(float(w), 4) for name, w in zip(NAMES, weights, strict=True)},
        "means": {name: round(float(means[NAMES.index(name)]), 6) for name in CONTINUOUS},
        "scales": {name: round(float(scales[NAMES.index(name)]), 6) for name in CONTINUOUS},
        "fitted_on": {"own_rows": counts[0], "other_rows": counts[1]},
    }


def save(fitted: Fitted, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    half = {name: array.astype(np.float16) for name, array in fitted.heads.items()}
    np.savez_compressed(folder / "crisis_heads.npz", **half)  # type: ignore[arg-type]
    for name, fusion in (("crisis_fusion", fitted.fusion), ("crisis_fusion_other", fitted.fusion_other)):
        text = json.dumps(fusion, indent=1, ensure_ascii=False)
        (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def main() -> None:
    """Prepare the default encoder, fit, and write the files into ``--models``."""
    parser = argparse.ArgumentParser(
        prog="python -m detectors.crisis.fit", description="fit the exemplar scorer"
    )
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--data", type=Path, nargs="*", default=[])
    parser.add_argument("--benign", type=Path, nargs="*", default=[])
    parser.add_argument("--cache", type=Path, default=locate_cache())
    given = parser.parse_args()
    encoder = load_engine("int8", prepare("offline", given.cache))
    others = [*read_rows(given.data), *read_benign(given.benign)]
    save(fit(encoder, load_bank(encoder, given.cache / "bank"), others), given.models)


if __name__ == "__main__":
    main()
