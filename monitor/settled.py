"""What went out while the database was away: marked as accepted when it is written at last, not sent twice."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import timedelta

from alerts.ports import Notification

# A call that was repeated this long before, unanswered, is due again.
UNANSWERED = timedelta(minutes=1)


class Settled:
    """By id; at most ``limit``, the newest."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._told: OrderedDict[str, Notification] = OrderedDict()

    def keep(self, told: Iterable[Notification]) -> None:
        for note in told:
            self._told[note.id] = note
        while len(self._told) > self._limit:
            self._told.popitem(last=False)

    def forget(self, starts: tuple[str, ...]) -> None:
        for note in [note for note in self._told if note.startswith(starts)]:
            del self._told[note]

    def as_it_stands(self, note: Notification) -> Notification:
        """As accepted, unless it is due all the same.

        A repeated call is due again if nobody has answered it: or an escalation of an hour would be made up
        for by an hour of silence. A first one bears the same id, whatever it is about: one that speaks of a
        later crisis turn is another one, as what was told may have come to nothing when it was read again.
        """
        told = self._told.get(note.id)
        if told is None:
            return note
        if note.page.step:
            again = note.created_at - (told.delivery.accepted_at or told.created_at) > UNANSWERED
        else:
            again = note.page.since > told.page.since
        return note if again else replace(note, delivery=told.delivery, told_by=told.told_by)

    def __iter__(self) -> Iterator[str]:
        return iter(self._told)
