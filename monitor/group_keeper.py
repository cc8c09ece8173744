"""Looks after groups: who takes one takes its incidents, and one with nobody left in it is over."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

import structlog

from alerts.group import LOOK, Group, acknowledged, ended, group_updates
from alerts.incident import Acknowledged, Incident, State
from alerts.page import Kind
from alerts.ports import Clock, Notification
from alerts.storm import StormPolicy, owed
from alerts.time_limit import either
from monitor.changes import Paging
from monitor.errors import GroupConflict, JiezhuError, StoreUnavailable
from monitor.observing import observing
from monitor.people import People
from monitor.store.work import Store, Work

_log = structlog.get_logger(__name__)

POLL = timedelta(seconds=1)
LEASE = timedelta(seconds=15)
AT_ONCE = 8
AT_LENGTH = timedelta(seconds=8)  # then the lease is taken anew
BATCH = 100  # incidents that are written together
CONFLICTS = 50
READ_AGAIN = timedelta(days=1)  # an absence is read again by then, or was decided differently
EVERYBODY = "everybody in it"  # who has a group when each of its incidents was taken by itself


class GroupKeeper:
    """Run one in each process; they share the groups by leases. Call ``wake`` after a group was acknowledged."""

    def __init__(
        self,
        store: Store,
        people: People,
        paging: Paging,
        clock: Clock,
        written: Callable[[], None] = lambda: None,
        policy: StormPolicy | None = None,
        *,
        looked: Callable[[datetime], None] = lambda _: None,
        unreadable: Callable[[int], None] = lambda _: None,
    ) -> None:
        """``unreadable`` is told of each damaged record, once another stands in its place."""
        self._store = store
        self._people = people
        self._paging = paging
        self._clock = clock
        self._written = written
        self._policy = policy or StormPolicy()
        self._looked = looked
        self._unreadable = unreadable
        self._woken = asyncio.Event()
        self._stopping = False

    def wake(self) -> None:
        self._woken.set()

    def stop(self) -> None:
        self._stopping = True
        self._woken.set()

    async def run(self) -> None:
        while not self._stopping:
            self._looked(self._clock.now())
            self._woken.clear()
            try:
                await self.look()
            except StoreUnavailable:
                pass  # it is looked for elsewhere
            except JiezhuError as error:
                _log.warning("groups_not_kept", exc_info=error)
            if not self._stopping:
                await either(self._clock, POLL, self._woken)

    async def look(self) -> None:
        """Look at every group that is due. One that somebody else writes meanwhile is looked at again.

        One that cannot be kept, as a member of it is of a later release or as it makes no sense, keeps nobody from the
        others.
        """
        for group in await self._store.due_groups(self._clock.now(), LEASE, AT_ONCE):
            try:
                await self.keep(group)
            except GroupConflict:
                continue
            except StoreUnavailable:
                raise
            except Exception as error:  # noqa: BLE001 - whatever is wrong with it
                _log.error("group_not_kept", exc_info=error)

    async def acknowledge(self, key: str, by: str) -> Group | None:
        """Take a group; its incidents follow batch by batch (``keep``). None if there is none of that key.

        It is on record before anything follows, so that a crash leaves no half of them ringing.
        """
        for _ in range(CONFLICTS):
            group = await self._store.group(key)
            if group is None or not group.ringing:
                return group
            try:
                taken = await self._write(acknowledged(group, by, self._clock.now()), Kind.ACKNOWLEDGE)
            except GroupConflict:
                continue
            self.wake()
            return taken
        raise GroupConflict

    async def keep(self, group: Group) -> Group:
        """Bring a group up to date with its incidents; return it as it is written."""
        now = self._clock.now()
        if not group.ringing and not group.settled:
            if not await self._settle(group):
                return await self._write(replace(group, look_at=self._clock.now()))
            group = replace(group, settled=True)
        if await self._waits(group, now):
            return await self._write(replace(group, look_at=now + LOOK))
        if not await self._store.members(group.key, limit=1, open_only=True):
            return await self._write(ended(group, now), Kind.RESOLVE)
        if group.ringing and group.scope.kind is Kind.PAGE and not await self._rings(group):
            return await self._write(acknowledged(group, EVERYBODY, now, settled=True), Kind.ACKNOWLEDGE)
        group = replace(group, look_at=now + LOOK)
        again = owed(group, now, self._policy, self._paging.links)
        return await self._write(group) if again is None else await self._write(again[0], calls=again[1])

    async def _waits(self, group: Group, now: datetime) -> bool:
        """It was written down after an absence of the database, and those it tells of are not all read again yet.

        That none of them is found does not mean that none of them rings.
        """
        since = group.ashore_at
        if since is None or now - since > READ_AGAIN:
            return False
        return not await self._store.members(group.key, skip=max(group.count - 1, 0), limit=1)

    async def _settle(self, group: Group) -> bool:
        """Acknowledge whoever in it still rings, batch by batch; False if somebody is left when the lease nears its end."""
        begun = self._clock.now()
        by = group.acknowledged_by or EVERYBODY
        taken_at = group.acknowledged_at
        left = False
        async for batch in self._open(group):
            ringing = [one for one in batch if _to_take(one, taken_at)]
            if ringing:
                event, meant = Acknowledged(by), partial(_to_take, taken_at=taken_at)
                left |= bool(await self._people.put_all(ringing, event, by, meant))
            if self._clock.now() - begun > AT_LENGTH:
                return False
        return not left

    async def _rings(self, group: Group) -> bool:
        async for batch in self._open(group):
            if any(one.state is State.PAGING for one in batch):
                return True
        return False

    async def _open(self, group: Group) -> AsyncIterator[Sequence[Incident]]:
        """Its incidents that are not over, a batch at a time."""
        after = ""
        while batch := await self._store.members(group.key, after=after, limit=BATCH, open_only=True):
            yield batch
            after = batch[-1].key

    async def _write(
        self, group: Group, kind: Kind | None = None, calls: Sequence[Notification] = ()
    ) -> Group:
        """Write it, and ``calls`` that ring for it; with ``kind`` tell the pagers. Who did it stands in the group and in each incident's trail."""
        now = self._clock.now()
        told = list(calls)
        if kind is not None:
            told += group_updates(group, kind, self._paging.links, now)
        await self._store.commit(
            Work(
                groups=[replace(group, unreadable=False)],
                withdrawals=[group.key] if group.ended_at is not None else (),
                notifications=told,
            )
        )
        if told:
            self._written()
        if group.unreadable:
            _log.error("group_begun_anew", state=group.state)
            with observing():
                self._unreadable(1)
        return replace(group, unreadable=False, version=group.version + 1)


def _to_take(incident: Incident, taken_at: datetime | None) -> bool:
    """Rings, and rang before the group was taken: what rose since then is not in hand."""
    rung_at = incident.rung_at
    return incident.state is State.PAGING and (taken_at is None or rung_at is None or rung_at <= taken_at)
