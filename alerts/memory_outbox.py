"""An outbox in memory: for tests, and for pages that come up while the database is away."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from alerts.delivery import TOLD_BY_GROUP, WITHDRAWN, Delivery, State, abandoned, due
from alerts.escalation import elsewhere
from alerts.memory_groups import MemoryGroups
from alerts.page import Kind
from alerts.ports import Decide, Notification, row_id
from alerts.storm import Admitted, channel_of


class MemoryOutbox:
    """Lives as long as its process. Whoever fills it writes its rows to the database once that is back."""

    def __init__(self) -> None:
        self._rows: dict[str, Notification] = {}
        self._leases: dict[str, datetime] = {}
        self._grouped = MemoryGroups()
        self._by_key: dict[str, list[str]] = {}  # ids of rows by dedup key

    def add(self, notifications: Iterable[Notification]) -> None:
        """Write each once: a notification whose id is known already changes nothing."""
        given = tuple(notifications)
        for page in (row for row in given if not row.page.kind.is_update):
            if page.id not in self._rows:
                self._put(page)
                self._grouped.tell(page)
        updates: dict[tuple[str, Kind], list[Notification]] = defaultdict(list)
        for row in given:
            if row.page.kind.is_update:
                updates[row.page.dedup_key, row.page.kind].append(row)
        for alike in updates.values():
            for update in self._as_told(alike):
                if update.id not in self._rows:
                    self._put(update)

    def withdraw(self, incidents: Collection[str]) -> None:
        """Abandon the pages of incidents that nobody has accepted yet."""
        for row in self.rows():
            waiting = row.page.incident in incidents and not row.delivery.state.final
            if waiting and row.page.kind is Kind.PAGE:
                self._rows[row.id] = replace(row, delivery=abandoned(row.delivery, WITHDRAWN))

    def rows(self) -> tuple[Notification, ...]:
        """Everything it holds, the accepted included, oldest first."""
        return tuple(self._rows.values())

    def forget(self, notification_id: str) -> None:
        self._rows.pop(notification_id, None)
        self._leases.pop(notification_id, None)

    async def claim(self, now: datetime, lease: timedelta, limit: int) -> Sequence[Notification]:
        free = [row for row in self._rows.values() if self._is_free(row, now) and due(row.delivery, now)]
        free.sort(key=lambda row: (row.page.kind is not Kind.PAGE, row.delivery.next_at or row.created_at))
        claimed = free[:limit]
        for row in claimed:
            self._leases[row.id] = now + lease
        return claimed

    async def admit(self, rows: Sequence[Notification], now: datetime, decide: Decide) -> Admitted:
        admitted = decide(rows, self._grouped.stand(self._busy(rows, now)), now)
        self._grouped.take(admitted)
        for changed in admitted.changed:
            row = replace(changed.row, delivery=changed.delivery, told_by=changed.told_by)
            self._rows[row.id] = row
            self._leases.pop(row.id, None)
        for row in admitted.send:
            self._rows[row.id] = replace(self._rows[row.id], delivery=row.delivery)
        for call in admitted.calls:
            self._put(call)
        return admitted

    async def record(self, notification_id: str, delivery: Delivery) -> None:
        row = self._rows.get(notification_id)
        if row is None or row.delivery.state.final:
            return
        self._rows[notification_id] = replace(row, delivery=delivery)
        if delivery.state is not State.SENDING:
            self._leases.pop(notification_id, None)

    async def oldest(self, now: datetime) -> timedelta:
        waiting = [
            now - row.created_at
            for row in self._rows.values()
            if not (row.delivery.state.final or row.page.canary)
        ]
        return max(waiting, default=timedelta(0))

    def _is_free(self, row: Notification, now: datetime) -> bool:
        until = self._leases.get(row.id)
        return until is None or until <= now

    def _busy(self, rows: Sequence[Notification], now: datetime) -> frozenset[tuple[str, str]]:
        mine = {row.id for row in rows}
        return frozenset(
            (row.page.incident, channel_of(row))
            for row in self._rows.values()
            if row.id not in mine and not row.delivery.state.final and not self._is_free(row, now)
        )

    def _as_told(self, updates: Sequence[Notification]) -> list[Notification]:
        """Updates of one alert: sent wherever its pages went, and not sent if a grouped page alone told of it."""
        like = updates[0]
        key, kind = like.page.dedup_key, like.page.kind
        alike = [self._rows[row] for row in self._by_key.get(key, ()) if row in self._rows]
        pages = [row for row in alike if not row.page.kind.is_update]
        if pages and all(row.told_by is not None and not row.delivery.attempts for row in pages):
            group = pages[0].told_by
            return [
                replace(row, delivery=abandoned(row.delivery, TOLD_BY_GROUP), told_by=group)
                for row in updates
            ]
        channels = elsewhere([row.delivery for row in updates], [row.delivery for row in pages])
        return [
            *updates,
            *(
                replace(
                    like,
                    id=row_id(key, kind, like.page.step, channel),
                    delivery=Delivery((channel,), next_at=like.created_at),
                )
                for channel in channels
            ),
        ]

    def _put(self, row: Notification) -> None:
        self._rows[row.id] = row
        self._by_key.setdefault(row.page.dedup_key, []).append(row.id)
