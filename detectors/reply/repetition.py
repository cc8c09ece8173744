"""One form of words given to everyone (J7): replies that were said, nearly word for word, in other conversations lately."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from typing import Final

from detectors.text.gist import words_of

KEPT: Final = 256  # replies of the sliding sample
NEARLY: Final = 0.6  # share of their words that near-duplicates have in common (Jaccard)


class Recent:
    """The last replies as sketches, whatever conversation they come from. Holds no words; at most ``kept`` sketches."""

    def __init__(self, kept: int = KEPT) -> None:
        self._said: deque[tuple[str, frozenset[int]]] = deque(maxlen=kept)

    def repeats(self, conversation: str, gist: str) -> bool:
        """Whether a reply nearly the same stands in the sample from another conversation. It joins the sample."""
        mine = words_of(gist)
        found = any(_alike(mine, said) for other, said in self._said if other != conversation)
        self._said.append((conversation, mine))
        return found

    def forget(self, conversations: Collection[str]) -> None:
        """Leave the replies of these out of the sample."""
        self._said = deque((one for one in self._said if one[0] not in conversations), self._said.maxlen)


def _alike(one: frozenset[int], other: frozenset[int]) -> bool:
    fewer, more = sorted((len(one), len(other)))
    if not fewer or fewer < NEARLY * more:  # too unlike in length for the rest to matter
        return False
    shared = len(one & other)
    return shared >= NEARLY * (fewer + more - shared)
