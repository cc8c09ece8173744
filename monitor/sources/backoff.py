"""How long to wait before trying again: doubling, bounded, never giving up."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Backoff:
    """Seconds."""

    first: float
    longest: float

    def wait(self, failures: int) -> float:
        """``failures`` in a row, from 1."""
        return min(self.longest, self.first * 2.0 ** min(failures - 1, 30))
