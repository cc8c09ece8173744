"""Positions: how far each partition was read. Moving one on is a compare-and-set, so a zombie fails by itself."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import Connection, bindparam, select, tuple_, update

from monitor.errors import PositionConflict
from monitor.store.dialect import insert_absent
from monitor.store.schema import positions
from monitor.store.work import Advance, Partition

_KEY = tuple_(positions.c.topic, positions.c.number)


def read(connection: Connection, partitions: Collection[Partition]) -> dict[Partition, int]:
    query = select(positions).where(_KEY.in_(sorted(partitions)))
    return {(row.topic, row.number): row.next for row in connection.execute(query)}


def advance(connection: Connection, advances: Sequence[Advance]) -> None:
    """Raise PositionConflict if any partition is not where it was expected to be."""
    wanted = {advance.partition: advance for advance in sorted(advances, key=lambda a: a.partition)}
    query = select(positions).where(_KEY.in_(list(wanted))).order_by(*_KEY.clauses).with_for_update()
    held = {(row.topic, row.number): row.next for row in connection.execute(query)}
    late = {key for key, advance in wanted.items() if held.get(key, 0) != advance.expected}
    if late:
        raise PositionConflict(frozenset(late))
    new = [a for key, a in wanted.items() if key not in held]
    if new:
        rows = [{"topic": a.partition[0], "number": a.partition[1], "next": a.next} for a in new]
        statement = insert_absent(connection, positions).returning(positions.c.topic, positions.c.number)
        written = {(row.topic, row.number) for row in connection.execute(statement, rows)}
        if len(written) < len(rows):
            raise PositionConflict(frozenset({a.partition for a in new} - written))
    moved = [a for key, a in wanted.items() if key in held]
    if moved:
        connection.execute(_MOVE, [{"of": a.partition[0], "no": a.partition[1], "to": a.next} for a in moved])


_MOVE = (
    update(positions)
    .where(positions.c.topic == bindparam("of"), positions.c.number == bindparam("no"))
    .values(next=bindparam("to"))
)
