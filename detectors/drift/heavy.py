"""Which names fill replies: a bounded count of the frequent ones (Misra & Gries 1982) that merges (Agarwal et al. 2012).

While no more than ``room`` names were ever held, counts are exact and merging is associative. Beyond that the small ones give
way, and each count is too low by ``lost`` at most, which is known and no more than (all counted) / (room + 1) in whatever
order was merged.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

N = TypeVar("N", int, str)


@dataclass(slots=True)
class Heavy(Generic[N]):
    """``counts``: replies in which a name was found, and pairs of replies of one conversation in both of which it was."""

    room: int
    counts: dict[N, tuple[int, int]] = field(default_factory=dict)
    lost: int = 0

    def add(self, names: Iterable[N], before: Iterable[Iterable[N]] = ()) -> None:
        """The names of one reply; ``before`` are those of earlier replies of its conversation."""
        found = set(names)
        if not found:
            return
        again: dict[N, int] = {}
        for earlier in before:
            for name in found.intersection(earlier):
                again[name] = again.get(name, 0) + 1
        for name in found:
            replies, pairs = self.counts.get(name, (0, 0))
            self.counts[name] = (replies + 1, pairs + again.get(name, 0))
        self._shrink()

    def merge(self, other: Heavy[N]) -> Heavy[N]:
        """Raise ValueError where the rooms differ: what one has lost the other may hold."""
        if self.room != other.room:
            raise ValueError("counts of different room cannot be merged; make both with the same release")
        counts = dict(self.counts)
        for name, (replies, pairs) in other.counts.items():
            mine = counts.get(name, (0, 0))
            counts[name] = (mine[0] + replies, mine[1] + pairs)
        whole = Heavy(self.room, counts, self.lost + other.lost)
        whole._shrink()
        return whole

    @property
    def most(self) -> int:
        """Names that are ever held."""
        return self.room + self.room // 4

    def bounds(self, name: N) -> tuple[int, int]:
        """Fewest and most replies that it was in."""
        replies = self.counts.get(name, (0, 0))[0]
        return replies, replies + self.lost

    def _shrink(self) -> None:
        """Take from every count that of the first that there is no room for. Not each time: a quarter more may wait."""
        if len(self.counts) <= self.most:
            return
        taken = sorted((replies for replies, _ in self.counts.values()), reverse=True)[self.room]
        self.counts = {
            name: (replies - taken, pairs)
            for name, (replies, pairs) in self.counts.items()
            if replies > taken
        }
        self.lost += taken
