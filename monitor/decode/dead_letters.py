"""When dead letters stop the line: then the events are not what we think they are, and a person must look."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import StrEnum


class StopReason(StrEnum):
    IN_A_ROW = "dead_letters_in_a_row"
    SHARE = "dead_letter_share"


@dataclass(frozen=True, slots=True)
class DeadLetterPolicy:
    """``share`` (0 to 1) of the last ``window`` records, once ``least`` of them have been seen.

    ``least`` of 1,000 puts the 95 % interval of a true 20 % at ± 2.5 points, and is reached in about a
    minute at 15 records a second; below it only the row counts, so that a start over a few bad records
    does not stop the line. A smaller window is judged once it is full.
    """

    in_a_row: int = 1_000
    share: float = 0.20
    window: int = 10_000
    least: int = 1_000


class DeadLetterLimit:
    """Counts records in the order they were read. Count a batch once it is committed, or a retry counts twice."""

    def __init__(self, policy: DeadLetterPolicy | None = None) -> None:
        self._policy = policy or DeadLetterPolicy()
        self._recent: deque[bool] = deque(maxlen=self._policy.window)
        self._dead = 0
        self._row = 0

    @property
    def share(self) -> float:
        """Of the records in the window; 0 when there are none."""
        return self._dead / len(self._recent) if self._recent else 0.0

    def count(self, *, dead: bool) -> StopReason | None:
        """Take one more record; return why the line must stop, or None."""
        if len(self._recent) == self._recent.maxlen:
            self._dead -= self._recent[0]
        self._recent.append(dead)
        self._dead += dead
        self._row = self._row + 1 if dead else 0
        return self.decide()

    def decide(self) -> StopReason | None:
        if self._row >= self._policy.in_a_row:
            return StopReason.IN_A_ROW
        if (
            len(self._recent) >= min(self._policy.least, self._policy.window)
            and self.share >= self._policy.share
        ):
            return StopReason.SHARE
        return None

    def reset(self) -> None:
        """A person has looked and lets the line go on: count anew."""
        self._recent.clear()
        self._dead = self._row = 0
