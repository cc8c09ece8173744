"""A store in memory whose database can go away, wholly or for some operations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from alerts.case import Case
from monitor.errors import StoreUnavailable, StoreUnwritable
from monitor.store.memory import MemoryStore
from monitor.store.work import Work

NOTHING: frozenset[str] = frozenset()
WRITES = frozenset({"commit", "claim", "admit", "record"})
EVERYTHING = (
    WRITES
    | {"positions", "cases", "due", "next_wake", "incident", "alike", "ping", "oldest"}
    | {"accepted", "newest_canaries", "sweep_canaries", "group", "members", "due_groups", "expire_pieces"}
)


class AwayStore(MemoryStore):
    """``away`` names the operations that are turned away. ``before_commit`` runs once, before the next commit."""

    def __init__(self) -> None:
        super().__init__()
        self.away: frozenset[str] = frozenset()
        self.full = False  # its disk: it answers, and takes no writes
        self.asked: Counter[str] = Counter()
        self.before_commit: Callable[[], Awaitable[object]] | None = None

    async def commit(self, work: Work) -> None:
        self._ask("commit")
        if self.before_commit is not None:
            first, self.before_commit = self.before_commit, None
            await first()
        await super().commit(work)

    async def positions(self, partitions):
        self._ask("positions")
        return await super().positions(partitions)

    async def cases(self, conversations) -> dict[str, Case]:
        self._ask("cases")
        return await super().cases(conversations)

    async def due(self, now: datetime, limit: int):
        self._ask("due")
        return await super().due(now, limit)

    async def next_wake(self) -> datetime | None:
        self._ask("next_wake")
        return await super().next_wake()

    async def incident(self, key: str):
        self._ask("incident")
        return await super().incident(key)

    async def alike(self, release: str, since: datetime) -> int:
        self._ask("alike")
        return await super().alike(release, since)

    async def group(self, key: str):
        self._ask("group")
        return await super().group(key)

    async def members(self, group, **which):
        self._ask("members")
        return await super().members(group, **which)

    async def due_groups(self, now, lease, limit):
        self._ask("due_groups")
        return await super().due_groups(now, lease, limit)

    async def claim(self, now, lease, limit):
        self._ask("claim")
        return await super().claim(now, lease, limit)

    async def admit(self, rows, now, decide):
        self._ask("admit")
        return await super().admit(rows, now, decide)

    async def record(self, notification_id, delivery) -> None:
        self._ask("record")
        await super().record(notification_id, delivery)

    async def oldest(self, now: datetime) -> timedelta:
        self._ask("oldest")
        return await super().oldest(now)

    async def accepted(self, ids):
        self._ask("accepted")
        return await super().accepted(ids)

    async def newest_canaries(self):
        self._ask("newest_canaries")
        return await super().newest_canaries()

    async def sweep_canaries(self, before, keep=()) -> None:
        self._ask("sweep_canaries")
        await super().sweep_canaries(before, keep)

    async def expire_pieces(self, before, partitions=None) -> int:
        self._ask("expire_pieces")
        return await super().expire_pieces(before, partitions)

    async def ping(self) -> timedelta:
        self._ask("ping")
        return await super().ping()

    async def probe(self, now: datetime) -> None:
        self._ask("probe")

    def _ask(self, operation: str) -> None:
        self.asked[operation] += 1
        if self.full and operation in WRITES | {"probe"}:
            raise StoreUnwritable("the database takes no writes")
        if operation in self.away:
            raise StoreUnavailable("the database does not answer")
