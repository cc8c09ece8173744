"""Groups, paces, and the decision over rows that are due: one transaction, one decider at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from sqlalchemy import Connection, bindparam, delete, select, update

from alerts.delivery import State
from alerts.group import Group
from alerts.incident import Incident
from alerts.ports import Decide, Notification
from alerts.storm import Admitted, Changed, Stand, all_releases, paces_of, scopes_of
from monitor.errors import GroupConflict
from monitor.store import codec
from monitor.store import incidents as incident_rows
from monitor.store.dialect import insert, insert_absent
from monitor.store.group_rows import read_row, readable, stands
from monitor.store.outbox import rows_of as outbox_rows
from monitor.store.outbox import write as write_outbox
from monitor.store.schema import groups, incidents, outbox, paces

_DECIDER = ""  # the pace that nobody takes from: who holds its row decides
_FULL_AGAIN = timedelta(hours=1)  # a pace that was full so long ago is as good as none
_KEY_RECENT = timedelta(minutes=1)  # keys count seconds: one of the same second must be seen


def rows_of(written: Sequence[Group]) -> list[dict[str, Any]]:
    return [
        {
            "key": group.key,
            "read_version": group.version,
            "scope": group.scope.name,
            "track": group.scope.track,
            "ringing": group.ringing,
            "opened_at": group.opened_at,
            "due_at": group.look_at,
            "version": group.version + 1,
            "body": codec.GROUPS.encode(group),
        }
        for group in sorted(written, key=lambda group: group.key)
    ]


def write(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    """Raise GroupConflict if any group is not in the version that was read. A new one that is there already stays."""
    query = select(groups.c.key, groups.c.version).where(groups.c.key.in_([row["key"] for row in rows]))
    held = {
        row.key: row.version for row in connection.execute(query.order_by(groups.c.key).with_for_update())
    }
    old = [row for row in rows if row["read_version"]]
    if any(held.get(row["key"]) != row["read_version"] for row in old):
        raise GroupConflict
    _put(connection, old, _EVERYTHING)
    new = [_columns(row) for row in rows if not row["read_version"]]
    if new:
        connection.execute(insert_absent(connection, groups), new)


def read(connection: Connection, key: str) -> Group | None:
    """Raise StoreError for one of a release more than one ahead; what stands for a damaged one is ``unreadable``."""
    row = connection.execute(select(groups).where(groups.c.key == key)).first()
    return None if row is None else stands(connection, row)


def due(connection: Connection, now: datetime, lease: timedelta, limit: int) -> list[Group]:
    free = (
        select(groups.c.key)
        .where(groups.c.due_at <= now)
        .order_by(groups.c.due_at)
        .limit(limit)
        .with_for_update(skip_locked=True)
        .cte("free")
    )
    statement = (
        update(groups)
        .where(groups.c.key.in_(select(free.c.key)))
        .values(due_at=now + lease)
        .returning(*groups.c)
    )
    return list(readable(connection.execute(statement).all(), partial(stands, connection)))


def members(
    connection: Connection, group: str, *, after: str, skip: int, limit: int, open_only: bool
) -> list[Incident]:
    told = select(outbox.c.incident).where(outbox.c.told_by == group)
    query = select(incidents).where(incidents.c.key.in_(told), incidents.c.key > after)
    if open_only:
        query = query.where(~incidents.c.over)
    query = query.order_by(incidents.c.key).offset(skip).limit(limit)
    return [incident_rows.read_row(connection, row) for row in connection.execute(query).all()]


def admit(connection: Connection, rows: Sequence[Notification], now: datetime, decide: Decide) -> Admitted:
    """Everybody who decides waits here for the one before, and locks groups before rows of the outbox."""
    _alone(connection)
    admitted = decide(rows, _stand(connection, rows, now), now)
    if admitted.groups:
        _put(connection, rows_of(admitted.groups), _NEWER)
    _write_paces(connection, admitted, now)
    _hold_rows(connection, admitted)
    if admitted.changed:
        connection.execute(_CHANGE, [_change(changed) for changed in _sorted(admitted.changed)])
    if fresh := [row for row in admitted.send if not row.delivery.attempts]:
        marks = [{"of": row.id, "state": codec.DELIVERIES.encode(row.delivery)} for row in fresh]
        connection.execute(_MARK, sorted(marks, key=lambda mark: mark["of"]))
    if admitted.calls:
        write_outbox(connection, outbox_rows(admitted.calls))
    return admitted


def _hold_rows(connection: Connection, admitted: Admitted) -> None:
    """In one order, which is that of ``outbox.withdraw``: or the two could wait for each other."""
    ids = {row.id for row in admitted.send} | {changed.row.id for changed in admitted.changed}
    if ids:
        query = select(outbox.c.id).where(outbox.c.id.in_(sorted(ids))).order_by(outbox.c.id)
        connection.execute(query.with_for_update()).all()


def _alone(connection: Connection) -> None:
    lock = select(paces.c.name).where(paces.c.name == _DECIDER).with_for_update()
    if connection.execute(lock).first() is None:
        connection.execute(
            insert_absent(connection, paces), [{"name": _DECIDER, "full_at": datetime.fromtimestamp(0, UTC)}]
        )
        connection.execute(lock)


def _stand(connection: Connection, rows: Sequence[Notification], now: datetime) -> Stand:
    told, members_, busy = _of_incidents(connection, rows, now)
    names = select(paces).where(paces.c.name.in_(sorted(paces_of(rows))))
    known = {*told.values(), *(row.page.incident for row in rows if row.page.group)}
    recent = groups.c.ringing | (groups.c.opened_at >= now - _KEY_RECENT)
    scopes = [scope.name for scope in scopes_of(rows)]
    query = (
        _FOUND.where((groups.c.scope.in_(scopes) & recent) | groups.c.key.in_(sorted(known)))
        .order_by(groups.c.key)
        .with_for_update()
    )
    ringing = connection.execute(_FOUND.where(groups.c.ringing))
    return Stand(
        full={row.name: row.full_at for row in connection.execute(names)},
        groups=tuple(readable(connection.execute(query), read_row)),
        told=told,
        members=frozenset(members_),
        ringing=Counter(all_releases(group.scope) for group in readable(ringing, read_row)),
        busy=frozenset(busy),
    )


def _of_incidents(
    connection: Connection, rows: Sequence[Notification], now: datetime
) -> tuple[dict[str, str], set[tuple[str, str]], set[tuple[str, str]]]:
    """What groups told of the rows' incidents, and which requests about them are on their way."""
    mine = {row.id for row in rows}
    told: dict[str, str] = {}
    members_: set[tuple[str, str]] = set()
    busy: set[tuple[str, str]] = set()
    query = (
        select(outbox.c.id, outbox.c.incident, outbox.c.told_by, outbox.c.due_at, outbox.c.delivery)
        .where(
            outbox.c.incident.in_(sorted({row.page.incident for row in rows})),
            outbox.c.told_by.is_not(None) | (outbox.c.due_at > now),
        )
        .order_by(outbox.c.created_at, outbox.c.id)
    )  # of two groups that told of a key, the newest counts
    for row in connection.execute(query):
        if row.told_by is not None:
            told[row.id.partition(":")[0]] = row.told_by
            members_.add((row.told_by, row.incident))
        elif row.id not in mine:
            delivery = codec.delivery_of(row.delivery)
            if delivery is None:  # cannot be read, so nobody sends it
                continue
            waits = delivery.state is State.RETRYING and delivery.next_at == row.due_at
            if not waits and delivery.route:
                busy.add((row.incident, delivery.channel_name))
    return told, members_, busy


def _write_paces(connection: Connection, admitted: Admitted, now: datetime) -> None:
    if not admitted.full:
        return
    statement = insert(connection, paces)
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=[paces.c.name], set_={"full_at": statement.excluded.full_at}
        ),
        [{"name": name, "full_at": at} for name, at in sorted(admitted.full.items())],
    )
    connection.execute(delete(paces).where(paces.c.full_at < now - _FULL_AGAIN, paces.c.name != _DECIDER))


def _put(connection: Connection, rows: Sequence[dict[str, Any]], columns: Sequence[str]) -> None:
    if not rows:
        return
    statement = insert(connection, groups)
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=[groups.c.key], set_={name: statement.excluded[name] for name in columns}
        ),
        [_columns(row) for row in rows],
    )


def _sorted(changed: Sequence[Changed]) -> list[Changed]:
    return sorted(changed, key=lambda one: one.row.id)


def _change(changed: Changed) -> dict[str, Any]:
    return {
        "of": changed.row.id,
        "due": changed.delivery.next_at,
        "state": codec.DELIVERIES.encode(changed.delivery),
        "group": changed.told_by,
    }


def _columns(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "read_version"}


_FOUND = select(groups.c.key, groups.c.body, groups.c.version, groups.c.due_at)
_EVERYTHING = ("ringing", "due_at", "version", "body")
_NEWER = ("ringing", "version", "body")  # when to look at it is for the keeper to say
_MARK = (
    update(outbox)
    .where(outbox.c.id == bindparam("of"), outbox.c.due_at.is_not(None))
    .values(delivery=bindparam("state"))
)
_CHANGE = (
    update(outbox)
    .where(outbox.c.id == bindparam("of"), outbox.c.due_at.is_not(None))
    .values(due_at=bindparam("due"), delivery=bindparam("state"), told_by=bindparam("group"))
)
