"""What is counted of the replies of one stratum, and of pairs of replies of one conversation. Whole numbers: sums are exact."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from detectors.drift.feature import FEATURES, LEVELS
from detectors.drift.heavy import Heavy
from detectors.drift.sample import Sample
from detectors.drift.trace import WIDTH

Counts = NDArray[np.int64]

TEMPLATES: Final = 256  # sentence ids held in one stratum
PHRASES: Final = 256  # kinds of phrases; there are fewer, so these are exact


def _zeros(*shape: int) -> Counts:
    return np.zeros(shape, dtype=np.int64)


@dataclass(slots=True)
class Tally:
    """``histograms`` (features, levels). ``powers`` (3, 48): sums of first, second and third powers of the ``traced`` traces.

    ``conversations`` counts those that were ever in this stratum. Sentences and phrases are counted in pairs of which both
    replies stand in it.
    """

    replies: int = 0
    conversations: int = 0
    histograms: Counts = field(default_factory=lambda: _zeros(len(FEATURES), LEVELS))
    traced: int = 0
    powers: Counts = field(default_factory=lambda: _zeros(3, WIDTH))
    sample: Sample = field(default_factory=Sample)
    templates: Heavy[int] = field(default_factory=lambda: Heavy(TEMPLATES))
    phrases: Heavy[str] = field(default_factory=lambda: Heavy(PHRASES))

    def merge(self, other: Tally) -> Tally:
        return Tally(
            self.replies + other.replies,
            self.conversations + other.conversations,
            self.histograms + other.histograms,
            self.traced + other.traced,
            self.powers + other.powers,
            self.sample.merge(other.sample),
            self.templates.merge(other.templates),
            self.phrases.merge(other.phrases),
        )


@dataclass(slots=True)
class Pairs:
    """Of pairs whose replies stand in two strata (or twice in one): sums over each side and of products.

    ``sums`` (3, features + 48): of the first side's values, of the second's, of their products. The first side is that
    of the stratum that comes first in ``stratum.ALL``.
    """

    pairs: int = 0
    traced: int = 0
    sums: Counts = field(default_factory=lambda: _zeros(3, len(FEATURES) + WIDTH))

    def merge(self, other: Pairs) -> Pairs:
        return Pairs(self.pairs + other.pairs, self.traced + other.traced, self.sums + other.sums)
