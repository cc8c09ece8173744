"""The styles of a group of replies (a release on a track, in some hours) in bounded space, mergeable in any order.

A sketch holds counts, ids and hashes: no text. Its packed size is at most ``packing.MOST_BYTES`` whatever it was fed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import TypeVar

import numpy as np

from detectors.drift.feature import FEATURES
from detectors.drift.stratum import PLACE, Stratum
from detectors.drift.style import Style
from detectors.drift.tally import Counts, Pairs, Tally
from detectors.drift.trace import WIDTH, numbers_of

K = TypeVar("K")
P = TypeVar("P", Tally, Pairs)

_EACH_FEATURE = np.arange(len(FEATURES))


@dataclass(frozen=True, slots=True)
class Reply:
    """One assistant message as a sketch takes it.

    ``stratum`` is of the user turn that it answers. ``conversation`` and ``mark`` (of the reply) are keyed 64-bit hashes.
    ``phrases`` are kinds found in it (``style.phrases_of``); ``trace`` is empty where no encoder read it.
    """

    stratum: Stratum
    style: Style
    conversation: int
    mark: int
    phrases: tuple[str, ...] = ()
    trace: bytes = field(default=b"", repr=False)


@dataclass(slots=True)
class StyleSketch:
    """``model`` names what traces were made by: those of two models are not comparable.

    ``pairs`` counts all pairs of replies of one conversation, ``linked`` holds the sums of those that were at hand.
    """

    model: str = ""
    replies: int = 0
    conversations: int = 0
    pairs: int = 0
    strata: dict[Stratum, Tally] = field(default_factory=dict)
    linked: dict[tuple[Stratum, Stratum], Pairs] = field(default_factory=dict)

    def add(self, reply: Reply, before: Sequence[Reply] = (), earlier: int | None = None) -> None:
        """Count a reply. ``before`` are the replies of its conversation that are still at hand, of the same release.

        From them the likeness of replies within a conversation is learnt, without which everything would seem surer than
        it is. ``earlier`` is how many came before, where that is more than are at hand.
        """
        tally = self.strata.setdefault(reply.stratum, Tally())
        first = not (earlier or before)
        self.replies += 1
        self.conversations += first
        self.pairs += max(len(before), earlier or 0)
        tally.replies += 1
        within = [one for one in before if one.stratum == reply.stratum]
        tally.conversations += first or not within
        tally.histograms[_EACH_FEATURE, reply.style.levels] += 1
        tally.templates.add(reply.style.sentences, (one.style.sentences for one in within))
        tally.phrases.add(reply.phrases, (one.phrases for one in within))
        if reply.trace:
            numbers = numbers_of(reply.trace)
            tally.traced += 1
            square = numbers * numbers
            tally.powers[0] += numbers
            tally.powers[1] += square
            tally.powers[2] += square * numbers
            tally.sample.add(reply.conversation, reply.mark, reply.trace)
        mine = _values(reply) if before else None
        for one in before:
            if mine is not None and one.stratum.language == reply.stratum.language:
                self._link(reply, mine, one)

    def _link(self, reply: Reply, mine: Counts, other: Reply) -> None:
        theirs = _values(other)
        if not (reply.trace and other.trace):
            mine, theirs = mine.copy(), theirs.copy()
            mine[len(FEATURES) :] = theirs[len(FEATURES) :] = 0
        strata = (reply.stratum, other.stratum)
        if PLACE[strata[0]] > PLACE[strata[1]]:
            mine, theirs, strata = theirs, mine, (other.stratum, reply.stratum)
        held = self.linked.setdefault(strata, Pairs())
        held.pairs += 1
        held.traced += bool(reply.trace and other.trace)
        held.sums[0] += mine
        held.sums[1] += theirs
        held.sums[2] += mine * theirs

    def merge(self, other: StyleSketch) -> StyleSketch:
        """The sketch of both groups, to the last digit. Raise ValueError for traces of two models."""
        if self.model and other.model and self.model != other.model:
            raise ValueError(
                "sketches of two models cannot be merged; keep them apart or pin the baseline anew"
            )
        return StyleSketch(
            self.model or other.model,
            self.replies + other.replies,
            self.conversations + other.conversations,
            self.pairs + other.pairs,
            _merged(self.strata, other.strata, Tally()),
            _merged(self.linked, other.linked, Pairs()),
        )


def merge_all(sketches: Sequence[StyleSketch]) -> StyleSketch:
    return reduce(StyleSketch.merge, sketches, StyleSketch())


def _merged(mine: dict[K, P], theirs: dict[K, P], nothing: P) -> dict[K, P]:
    """Merged with ``nothing`` where one side has none, so that the result shares no counts with what it was made of."""
    keys = (*mine, *(key for key in theirs if key not in mine))
    return {key: mine.get(key, nothing).merge(theirs.get(key, nothing)) for key in keys}


def _values(reply: Reply) -> Counts:
    trace = numbers_of(reply.trace) if reply.trace else np.zeros(WIDTH, dtype=np.int64)
    return np.concatenate([np.array(reply.style.levels, dtype=np.int64), trace])
