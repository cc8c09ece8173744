"""What ``storm.admit`` asks about, kept in memory: for tests, and for the time the database is away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from alerts.group import Group
from alerts.page import Kind
from alerts.ports import Notification
from alerts.storm import Admitted, Stand, all_releases


class MemoryGroups:
    def __init__(self) -> None:
        self._full: dict[str, datetime] = {}
        self._groups: dict[str, Group] = {}
        self._told: dict[str, str] = {}
        self._members: dict[tuple[str, str], None] = {}  # in the order in which they joined

    def stand(self, busy: frozenset[tuple[str, str]]) -> Stand:
        ringing = Counter(all_releases(one.scope) for one in self._groups.values() if one.ringing)
        return Stand(
            dict(self._full),
            tuple(self._groups.values()),
            dict(self._told),
            frozenset(self._members),
            ringing,
            busy,
        )

    def take(self, admitted: Admitted) -> None:
        """Keep what was decided."""
        self._full |= admitted.full
        for group in admitted.groups:
            self.put(replace(group, version=group.version + 1))
        self._members |= dict.fromkeys(admitted.joined)
        for changed in admitted.changed:
            if changed.told_by is not None:
                self._told[changed.row.page.dedup_key] = changed.told_by

    def put(self, group: Group) -> None:
        self._groups[group.key] = group

    def tell(self, row: Notification) -> None:
        """A row that a group tells of was written by somebody else."""
        if row.told_by is not None and row.page.kind in (Kind.PAGE, Kind.TICKET):
            self._told[row.page.dedup_key] = row.told_by
            self._members[row.told_by, row.page.incident] = None

    def group(self, key: str) -> Group | None:
        return self._groups.get(key)

    def groups(self) -> Sequence[Group]:
        return tuple(self._groups.values())

    def members(self, key: str) -> list[str]:
        """Keys of the incidents that a group tells of."""
        return [incident for group, incident in self._members if group == key]
