"""Linear heads over the vector of a reply and what phrases found in it: meaning and words, weighed together.

One head for each criterion that phrases can miss, one for harm, one for each flag that meaning tells better than words,
and two for the emotion named: whether any is, and whether in its strength. They are fitted on our own judged replies for one
encoder (``encoder`` names it) and mean nothing to another one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from detectors.finding import Flag

RISK_RECOGNISED, HOLDS_FEELING, REFERS, BOUNDARY = CRITERIA = (
    "risk_recognised",
    "holds_feeling",
    "refers",
    "boundary",
)
HARMFUL: Final = "harmful"
EMOTION, STRENGTH = "emotion_named", "strength_named"
# the others are told by the conversation or by a table of numbers
FLAGS: Final = tuple(flag for flag in Flag if flag not in {Flag.ECHO, Flag.BACK_REFERENCE, Flag.WRONG_NUMBER})
NAMES: Final = (*CRITERIA, HARMFUL, EMOTION, STRENGTH, *(flag.value for flag in FLAGS))


@dataclass(frozen=True, slots=True)
class Heads:
    """``weights`` has shape (len(NAMES), dimension + features), ``bias`` (len(NAMES),), both float32.

    The columns of the vector come first, then those of ``detectors.reply.features``.
    """

    weights: NDArray[np.float32] = field(repr=False)
    bias: NDArray[np.float32] = field(repr=False)
    encoder: str

    def logits(self, vectors: NDArray[np.float32], found: Sequence[Sequence[float]]) -> NDArray[np.float32]:
        """Return shape (len(vectors), len(NAMES)): log-odds by each head. ``found`` has the features of each reply.

        Raises ``ValueError`` on a foreign dimension.
        """
        rows = np.hstack([vectors, np.asarray(found, dtype=np.float32)])
        if rows.shape[1] != self.weights.shape[1]:
            raise ValueError(
                f"reply heads expect {self.weights.shape[1]} columns, not {rows.shape[1]}: fit them for this encoder"
            )
        return np.asarray(rows @ self.weights.T + self.bias, dtype=np.float32)


@lru_cache(maxsize=1)
def load() -> Heads:
    """Return the heads that are shipped."""
    with as_file(files("detectors.reply").joinpath("heads.npz")) as path:
        return read(path)


def read(path: Path) -> Heads:
    """Return the heads of a file that a training wrote."""
    with np.load(path, allow_pickle=False) as data:
        return Heads(weights=data["weights"], bias=data["bias"], encoder=str(data["encoder"]))
