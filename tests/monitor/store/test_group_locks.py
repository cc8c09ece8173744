"""Whoever decides about a storm holds rows of the outbox in the order in which everybody else does."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import psycopg
import pytest
from sqlalchemy import make_url

from alerts.delivery import put_off
from alerts.storm import Admitted, Changed, Reason
from monitor.store.sql import SqlStore
from monitor.store.work import Work
from tests.support.fake_clock import EPOCH
from tests.support.stores import KEYRING
from tests.support.storms import LEASE, a_row

WAITING = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
)
HOLD = "SELECT id FROM outbox WHERE id = %s FOR UPDATE NOWAIT"


def decide(rows, _stand, now):
    """The first leaves, the last does not: in the store these are two statements."""
    first, last = sorted(rows, key=lambda row: row.id)
    later = put_off(last.delivery, now + timedelta(minutes=1), "paced")
    reasons = {first.id: Reason.SINGLE, last.id: Reason.PACED}
    return Admitted((first,), (Changed(last, later),), (), (), {}, reasons, ())


@pytest.mark.postgres
async def test_a_decision_waits_for_its_first_row_before_it_holds_another(postgres_url):
    store = SqlStore(postgres_url, KEYRING)
    first, last = a_row(1), a_row(2)
    await store.commit(Work(notifications=[first, last]))
    rows = await store.claim(EPOCH, LEASE, 10)
    plain = make_url(postgres_url).set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(plain) as somebody, psycopg.connect(plain, autocommit=True) as looking:
        somebody.execute(HOLD, [first.id])
        deciding = asyncio.create_task(store.admit(rows, EPOCH, decide))
        for _ in range(100):
            await asyncio.sleep(0.02)
            if looking.execute(WAITING).fetchone() == (1,):
                break
        assert not deciding.done()
        assert somebody.execute(HOLD, [last.id]).fetchone() == (last.id,)
        somebody.rollback()
        assert len((await deciding).send) == 1
    await store.close()
