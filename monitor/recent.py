"""The newest state of cases, kept at hand. Where there is no room, what waits for nothing goes first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from itertools import chain

from monitor.store.work import CaseWrite


class RecentCases:
    """At most ``limit``. A case with a time to wake at is in a crisis: it outlasts any number of quiet ones."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._quiet: OrderedDict[str, CaseWrite] = OrderedDict()
        self._waiting: OrderedDict[str, CaseWrite] = OrderedDict()

    def keep(self, write: CaseWrite) -> None:
        key = write.case.conversation.key
        self.forget(key)
        (self._quiet if write.wake_at is None else self._waiting)[key] = write
        if len(self._quiet) + len(self._waiting) > self._limit:
            (self._quiet or self._waiting).popitem(last=False)

    def forget(self, key: str) -> None:
        self._quiet.pop(key, None)
        self._waiting.pop(key, None)

    def get(self, key: str) -> CaseWrite | None:
        return self._waiting.get(key) or self._quiet.get(key)

    def waiting(self) -> Iterator[CaseWrite]:
        """Those with a time to wake at, from the one that was kept first."""
        return iter(self._waiting.values())

    def __iter__(self) -> Iterator[CaseWrite]:
        return chain(self._quiet.values(), self._waiting.values())
