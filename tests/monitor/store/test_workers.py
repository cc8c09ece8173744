"""Workers that share one database, each with connections of its own: their writes wait for each other and all stand."""

from __future__ import annotations

import asyncio

from monitor.store.sql import SqlStore
from monitor.store.work import Advance, AuditRow, CaseWrite, Work
from tests.support.cases import NOW, a_case, an_incident
from tests.support.pages import a_notification
from tests.support.stores import KEYRING

WORKERS = 4
ROUNDS = 12


async def test_workers_with_partitions_of_their_own_never_fail_each_other(url):
    stores = [SqlStore(url, KEYRING) for _ in range(WORKERS)]

    async def work(number: int, store: SqlStore) -> None:
        for turn in range(ROUNDS):
            keys = [f"c-{number}-{case}" for case in range(5)]
            found = await store.cases(keys)
            writes = [CaseWrite(found.get(key, a_case(key)), ("t", number), NOW) for key in keys]
            await store.commit(
                Work(
                    advances=[Advance(("t", number), turn, turn + 1)],
                    cases=writes,
                    incidents=[an_incident(f"i-{number}")],
                    notifications=[a_notification(f"n-{number}-{turn}")],
                    audit=[AuditRow(f"i-{number}", NOW, str(turn), "worker", "watching")],
                )
            )

    await asyncio.gather(*(work(number, store) for number, store in enumerate(stores)))
    reached = await stores[0].positions([("t", number) for number in range(WORKERS)])
    assert reached == {("t", number): ROUNDS for number in range(WORKERS)}
    for number in range(WORKERS):
        assert len(await stores[0].timeline(f"i-{number}")) == ROUNDS
    await asyncio.gather(*(store.close() for store in stores))
