"""A bounded uniform sample of conversations, one reply of each: those with the smallest hashes (bottom-k, Cohen & Kaplan 2007).

Merging is associative, commutative and idempotent. One reply a conversation, so that the sample's rows are independent.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

KEPT: Final = 64  # conversations of one stratum


@dataclass(slots=True)
class Sample:
    """``rows``: hash of the conversation → (hash of the reply, its trace)."""

    rows: dict[int, tuple[int, bytes]] = field(default_factory=dict, repr=False)

    def add(self, conversation: int, reply: int, trace: bytes) -> None:
        """Hashes are unsigned 64-bit numbers, keyed and so without order of their own."""
        held = self.rows.get(conversation)
        row = (reply, trace)
        if held is None and len(self.rows) >= KEPT:
            last = max(self.rows)
            if conversation > last:
                return
            del self.rows[last]
        self.rows[conversation] = row if held is None else min(held, row)

    def merge(self, other: Sample) -> Sample:
        rows = dict(self.rows)
        for conversation, row in other.rows.items():
            rows[conversation] = min(rows.get(conversation, row), row)
        return Sample({one: rows[one] for one in sorted(rows)[:KEPT]})
