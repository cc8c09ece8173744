"""Cases: conversations with their newest incident, written only over the version that was read."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, select, tuple_, update

from alerts.canary import CANARIES, Canary
from alerts.case import Case
from detectors.conversation import Conversation
from monitor.crypto.keyring import Keyring
from monitor.errors import CaseConflict, RowDamaged
from monitor.store import codec, incidents
from monitor.store.dialect import insert_absent
from monitor.store.schema import cases
from monitor.store.streaming import with_words, without_words
from monitor.store.work import CaseWrite, Partition, Wake

PIECES_AT_ONCE = 500  # cases whose words go in one transaction


def rows_of(writes: Sequence[CaseWrite], keyring: Keyring) -> list[dict[str, Any]]:
    """Encode and seal, before any transaction is open. Sorted by key: all writers lock in one order."""
    rows = []
    for write in sorted(writes, key=lambda write: write.case.conversation.key):
        wordless, sealed = without_words(write.case, keyring)
        written = replace(wordless, version=write.case.version + 1)
        rows.append(
            {
                "of": write.case.conversation.key,
                "read_version": write.case.version,
                "version": written.version,
                "topic": write.partition[0],
                "number": write.partition[1],
                "wake_at": write.wake_at,
                "body": codec.CASES.encode(written),
                "sealed": sealed,
                "person": write.person,
                "touched_at": max((entry.received for entry in written.conversation.entries), default=None),
            }
        )
    return rows


def write(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    """Raise CaseConflict if any case is not in the version that was read."""
    keys = [row["of"] for row in rows]
    query = (
        select(cases.c.conversation, cases.c.version)
        .where(cases.c.conversation.in_(keys))
        .order_by(cases.c.conversation)
        .with_for_update()
    )
    held = {row.conversation: row.version for row in connection.execute(query)}
    stale = {row["of"] for row in rows if held.get(row["of"], 0) != row["read_version"]}
    if stale or len(set(keys)) < len(keys):
        raise CaseConflict(frozenset(stale or keys))
    new = [_new(row) for row in rows if row["of"] not in held]
    if new:
        statement = insert_absent(connection, cases).returning(cases.c.conversation)
        written = {row.conversation for row in connection.execute(statement, new)}
        if len(written) < len(new):
            raise CaseConflict(frozenset({row["conversation"] for row in new} - written))
    old = [row for row in rows if row["of"] in held]
    if old:
        connection.execute(_WRITE, old)


def read(connection: Connection, conversations: Collection[str], keyring: Keyring) -> list[Case]:
    """One that is damaged is begun anew, over the version that stands: it must stop nobody else's."""
    query = select(cases.c.conversation, cases.c.version, cases.c.body, cases.c.sealed)
    rows = connection.execute(query.where(cases.c.conversation.in_(sorted(set(conversations))))).all()
    return [_read(connection, row, keyring) for row in rows]


def _read(connection: Connection, row: Any, keyring: Keyring) -> Case:
    try:
        return with_words(codec.CASES.decode(row.body), row.sealed, keyring)
    except RowDamaged:
        return begun_anew(connection, row)


def begun_anew(connection: Connection, row: Any) -> Case:
    """What stands for one that is damaged."""
    newest = incidents.newest_of(connection, row.conversation)
    return Case(Conversation(row.conversation), newest, version=row.version, begun_anew=True)


def due(connection: Connection, now: datetime, limit: int) -> list[Wake]:
    query = (
        select(cases.c.conversation, cases.c.topic, cases.c.number, cases.c.wake_at)
        .where(cases.c.wake_at <= now)
        .order_by(cases.c.wake_at)
        .limit(limit)
    )
    return [Wake(row.conversation, (row.topic, row.number), row.wake_at) for row in connection.execute(query)]


def next_wake(connection: Connection) -> datetime | None:
    found: datetime | None = connection.scalar(
        select(func.min(cases.c.wake_at)).where(cases.c.wake_at.is_not(None))
    )
    return found


def expire_pieces(connection: Connection, before: datetime, partitions: Collection[Partition] | None) -> int:
    """Let go of the words alone, which need not be opened for it, nor the case be written.

    Whoever is writing one of these cases has heard of it, and is not waited for.
    """
    old = cases.c.sealed.is_not(None) & (cases.c.touched_at < before)
    if partitions is not None:
        old &= tuple_(cases.c.topic, cases.c.number).in_(sorted(partitions))
    oldest = select(cases.c.conversation).where(old).order_by(cases.c.touched_at).limit(PIECES_AT_ONCE)
    query = select(cases.c.conversation).where(
        cases.c.conversation.in_(list(connection.scalars(oldest))), old
    )
    lock = query.order_by(cases.c.conversation).with_for_update(skip_locked=True)
    gone = cases.c.conversation.in_(list(connection.scalars(lock)))
    return connection.execute(update(cases).where(gone).values(sealed=None)).rowcount


def erase_pieces(connection: Connection, versions: Mapping[str, int]) -> int:
    """The same of these cases, each if it still is in the version that was read."""
    query = (
        select(cases.c.conversation, cases.c.version)
        .where(cases.c.conversation.in_(sorted(versions)), cases.c.sealed.is_not(None))
        .order_by(cases.c.conversation)
        .with_for_update()
    )
    same = [
        row.conversation for row in connection.execute(query) if versions[row.conversation] == row.version
    ]
    return connection.execute(
        update(cases).where(cases.c.conversation.in_(same)).values(sealed=None)
    ).rowcount


def partition_of(connection: Connection, conversation: str) -> Partition | None:
    query = select(cases.c.topic, cases.c.number).where(cases.c.conversation == conversation)
    row = (connection.execute(query)).first()
    return (row.topic, row.number) if row else None


def partitions_of(connection: Connection, conversations: Collection[str]) -> dict[str, Partition]:
    query = select(cases.c.conversation, cases.c.topic, cases.c.number)
    found = connection.execute(query.where(cases.c.conversation.in_(sorted(set(conversations)))))
    return {row.conversation: (row.topic, row.number) for row in found}


def _new(row: dict[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in row.items() if name not in ("of", "read_version")}
    return {"conversation": row["of"], **kept}


_WRITE = (
    update(cases)
    .where(cases.c.conversation == bindparam("of"))
    .values(
        {
            name: bindparam(name)
            for name in ("version", "topic", "number", "wake_at", "body", "sealed", "touched_at")
        }
    )
    .values(person=func.coalesce(bindparam("person"), cases.c.person))  # timers and people name nobody
)


def sweep_canaries(connection: Connection, before: Canary) -> None:
    key = cases.c.conversation  # a range as well, for its index
    old = (key >= CANARIES) & (key < before.conversation) & key.startswith(CANARIES)
    connection.execute(delete(cases).where(old))
