"""What the alerting edges need from outside. The store and the pagers stand behind these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Protocol

from alerts.delivery import Attempt, Delivery
from alerts.page import Kind, Page

if TYPE_CHECKING:
    from alerts.storm import Admitted, Stand


class Clock(Protocol):
    def now(self) -> datetime:
        """Aware, UTC."""
        ...

    async def sleep(self, duration: timedelta) -> None: ...


def row_id(dedup_key: str, kind: Kind, step: int, target: str) -> str:
    """What is said, and to whom: saying it twice writes it once."""
    return f"{dedup_key}:{kind.value}:{step}:{target}"


@dataclass(frozen=True, slots=True)
class Notification:
    """A row of the outbox: one page to one target. ``id`` is made from what it says, so it is written once.

    ``told_by``: the key of the group whose page tells of it, if one does.
    """

    id: str
    page: Page
    delivery: Delivery
    created_at: datetime
    told_by: str | None = None

    @property
    def target(self) -> str:
        """Whom it is for; the route where the id does not say."""
        said = row_id(self.page.dedup_key, self.page.kind, self.page.step, "")
        return self.id.removeprefix(said) if self.id.startswith(said) else ",".join(self.delivery.route)


Decide = Callable[[Sequence[Notification], "Stand", datetime], "Admitted"]  # storm.admit, with its policy


class Pager(Protocol):
    """One channel to people."""

    name: str

    async def send(self, page: Page) -> Attempt:
        """Make one request and tell what was answered. Never raises for what the network or receiver does."""
        ...

    async def close(self) -> None: ...


class Outbox(Protocol):
    """Notifications that are not accepted yet. Claims are leases: a dead relay's rows come free again."""

    async def claim(self, now: datetime, lease: timedelta, limit: int) -> Sequence[Notification]:
        """Take rows that are due (pending, retrying with next_at ≤ now, or sending with a lease run out).

        Rows come as they were last recorded, pages before the rest, then the longest due. Nobody else gets
        them before ``now + lease``, or before a state other than ``SENDING`` is recorded.
        """
        ...

    async def admit(self, rows: Sequence[Notification], now: datetime, decide: Decide) -> Admitted:
        """Ask ``decide`` about rows that were just claimed, and write all that follows in one transaction.

        Nobody else decides meanwhile. Rows to be sent keep their lease; the others are free at the time that
        was decided, or never due again.
        """
        ...

    async def record(self, notification_id: str, delivery: Delivery) -> None:
        """Write what became of it. A row that is final stays as it is; one that is gone is no error."""
        ...

    async def oldest(self, now: datetime) -> timedelta:
        """Age of the oldest row that nobody has accepted; zero if there is none. Canaries have a figure of their own."""
        ...
