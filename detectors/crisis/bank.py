"""The bank of exemplars: our own sentences with their labels, and their vectors for one encoder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from detectors.finding import Emotion, Level
from detectors.ports import Encoder, Vectors
from detectors.text import normalise

CORPORA = ("zh_user.jsonl", "en_user.jsonl", "zh_plain.jsonl", "en_plain.jsonl")


@dataclass(frozen=True, slots=True)
class Exemplar:
    """One row of the corpora; ``distress`` is 0–4 as in the guide, ``held_out`` rows are for measuring only."""

    text: str = field(repr=False)
    lang: str
    level: Level
    distress: int
    emotions: tuple[Emotion, ...]
    cues: tuple[str, ...]
    kind: str
    family: str
    held_out: bool


def read_corpora(folder: Path | None = None) -> list[Exemplar]:
    """All rows, used and held out, in file order."""
    root = folder or Path(str(resources.files("detectors"))) / "corpora"
    out = []
    for name in CORPORA:
        for line in (root / name).read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            out.append(
                Exemplar(
                    text=row["text"],
                    lang=row["lang"].partition("-")[0],
                    level=Level(row["level"]),
                    distress=int(row["distress"]),
                    emotions=tuple(Emotion(name) for name in row["emotions"]),
                    cues=tuple(row["cues"]),
                    kind=row["kind"],
                    family=row["family"],
                    held_out=bool(row["held_out"]),
                )
            )
    return out


@dataclass(frozen=True, slots=True)
class Bank:
    """Exemplars in use with one unit vector each, shape (len(exemplars), dimension)."""

    exemplars: tuple[Exemplar, ...]
    vectors: Vectors = field(repr=False)
    risky: NDArray[np.bool_] = field(init=False, repr=False)  # True where the exemplar is of a crisis level

    def __post_init__(self) -> None:
        risky = np.array([exemplar.level.crisis for exemplar in self.exemplars], dtype=np.bool_)
        object.__setattr__(self, "risky", risky)


def _encode(texts: list[str], encoder: Encoder, progress: Callable[[str, int, int], None] | None) -> Vectors:
    parts = []
    for start in range(0, len(texts), 64):
        if progress is not None:
            progress("exemplars", start, len(texts))
        parts.append(np.asarray(encoder.encode(texts[start : start + 64]), dtype=np.float32))
    return np.concatenate(parts)


def _digest(texts: list[str], encoder: Encoder) -> str:
    """Of the texts and of how the encoder maps a fixed sentence, so that another encoder means other vectors."""
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode())
        digest.update(b"\0")
    probe = np.round(encoder.encode(["今天还好 so far"])[0], 3)
    digest.update(probe.astype(np.float32).tobytes())
    return digest.hexdigest()[:20]


def load_bank(
    encoder: Encoder, cache: Path | None = None, progress: Callable[[str, int, int], None] | None = None
) -> Bank:
    """The exemplars in use with their vectors, from ``cache`` where they have been computed before.

    The first time costs one encoder pass an exemplar (about half a minute on one core); ``progress`` gets the
    stage ``exemplars``, done, total.
    """
    exemplars = tuple(exemplar for exemplar in read_corpora() if not exemplar.held_out)
    texts = [normalise(exemplar.text).text for exemplar in exemplars]
    kept = cache / f"bank-{_digest(texts, encoder)}.npy" if cache else None
    if kept is not None and kept.exists():
        vectors: Vectors = np.load(kept, allow_pickle=False)
        if vectors.shape == (len(texts), encoder.dimension):
            return Bank(exemplars, vectors.astype(np.float32))
    vectors = _encode(texts, encoder, progress)
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        part = kept.with_suffix(f".{hashlib.sha256(vectors.tobytes()).hexdigest()[:8]}.part.npy")
        np.save(part, vectors, allow_pickle=False)
        part.replace(kept)  # two workers may do this at once: the last one wins with the same bytes
    return Bank(exemplars, vectors)
