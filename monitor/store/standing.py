"""How a conversation stands that is to be forgotten: all that decides whether it may be. Whatever cannot be read holds up nobody else."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, select

from alerts.case import Case
from alerts.incident import Incident
from monitor.errors import RowDamaged, StoreError
from monitor.store import cases as case_rows
from monitor.store import codec
from monitor.store import incidents as incident_rows
from monitor.store.schema import cases, incidents, outbox
from monitor.store.updates import is_update


@dataclass(frozen=True, slots=True)
class Standing:
    """``wakes``: time will do something to the case. ``due``: a pager has still to hear that it is over.

    ``unreadable``: so many rows are damaged; what stands for them is in ``case`` and ``incidents``. ``readable``: not
    written by a release more than one ahead, whose workers are the ones to decide.
    """

    conversation: str
    incidents: tuple[Incident, ...] = ()
    case: Case | None = None
    wakes: bool = False
    due: bool = False
    erasure: str | None = None
    unreadable: int = 0
    readable: bool = True


def standing_of(connection: Connection, conversations: Mapping[str, str | None]) -> list[Standing]:
    """``conversations``: each with its erasure. In the order of their keys."""
    wanted = sorted(conversations)
    query = select(cases.c.conversation, cases.c.version, cases.c.wake_at, cases.c.body)
    kept = {
        row.conversation: row for row in connection.execute(query.where(cases.c.conversation.in_(wanted)))
    }
    opened: dict[str, list[Any]] = defaultdict(list)
    for row in connection.execute(select(incidents).where(incidents.c.conversation.in_(wanted))):
        opened[row.conversation].append(row)
    found = [
        replace(_read(connection, key, kept.get(key), opened[key]), erasure=conversations[key])
        for key in wanted
    ]
    due = _due(connection, [incident.key for one in found for incident in one.incidents])
    return [replace(one, due=any(incident.key in due for incident in one.incidents)) for one in found]


def _read(connection: Connection, conversation: str, kept: Any, opened: Sequence[Any]) -> Standing:
    try:
        case, damaged = _case(connection, kept)
        known: dict[str, Incident] = {}
        for row in opened:
            try:
                known[row.key] = codec.INCIDENTS.decode(row.body)
            except RowDamaged:
                known[row.key] = incident_rows.instead_of(connection, row)
                damaged += 1
    except StoreError:
        return Standing(conversation, readable=False)
    if case is not None and case.incident is not None:
        known.setdefault(case.incident.key, case.incident)
    wakes = kept is not None and kept.wake_at is not None
    return Standing(conversation, tuple(known.values()), case, wakes=wakes, unreadable=damaged)


def _case(connection: Connection, row: Any) -> tuple[Case | None, int]:
    if row is None:
        return None, 0
    try:
        return codec.CASES.decode(row.body), 0
    except RowDamaged:
        return case_rows.begun_anew(connection, row), 1


def _due(connection: Connection, keys: Sequence[str]) -> set[str]:
    query = select(outbox.c.id, outbox.c.incident).where(
        outbox.c.incident.in_(keys), outbox.c.due_at.is_not(None)
    )
    return {row.incident for row in connection.execute(query) if is_update(row.id)}
