"""Which partitions are held back, and why. Several reasons may hold at once; the last one to go lets them run."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from monitor.store.work import Partition


class Holds:
    def __init__(self) -> None:
        self._by_reason: dict[str, frozenset[Partition] | None] = {}

    def hold(self, reason: str, partitions: Collection[Partition] | None = None) -> None:
        """None holds all partitions, also those that come later."""
        before = self._by_reason.get(reason, frozenset())
        self._by_reason[reason] = (
            None if partitions is None or before is None else before | frozenset(partitions)
        )

    def release(self, reason: str, partitions: Collection[Partition] | None = None) -> None:
        """None releases all that the reason held. A reason that holds nothing is none to release."""
        held = self._by_reason.get(reason)
        if partitions is None or held is None:
            self._by_reason.pop(reason, None)
        elif rest := held - frozenset(partitions):
            self._by_reason[reason] = rest
        else:
            del self._by_reason[reason]

    def holding(self, partition: Partition) -> bool:
        return any(held is None or partition in held for held in self._by_reason.values())

    @property
    def reasons(self) -> Mapping[str, frozenset[Partition] | None]:
        return dict(self._by_reason)
