"""What the rest of the product asks of a detector. The trained encoder replaces what stands behind these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from detectors.finding import ReplySignal, UserSignal

Vectors = NDArray[np.float32]


class Encoder(Protocol):
    """Texts to unit vectors."""

    dimension: int

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return shape (len(texts), dimension), float32, rows of length 1.

        Blocking; call it off the event loop. The same text gives the same row whatever its batch mates.
        """
        ...


class UserScorer(Protocol):
    """Judges user texts one by one, without context."""

    def score(self, texts: Sequence[str], langs: Sequence[str | None]) -> list[UserSignal]:
        """Blocking. One signal for each text, in order; ``langs`` are the producer's hints."""
        ...


class ReplyScorer(Protocol):
    """Judges assistant messages one by one."""

    def score(
        self, texts: Sequence[str], langs: Sequence[str | None], regions: Sequence[str | None]
    ) -> list[ReplySignal]:
        """Blocking. One signal for each text, in order."""
        ...
