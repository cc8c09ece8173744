"""What ends by age: of those, too, that this jiezhu did not send."""

from __future__ import annotations

from datetime import timedelta

from alerts.canary import Canary
from monitor.canary import KEPT
from monitor.expiry import Expiry
from monitor.store.work import CaseWrite, Excerpt, Work
from tests.support.away_store import AwayStore
from tests.support.cases import PARTITION, a_case
from tests.support.fake_clock import FakeClock


def canary(clock: FakeClock, ago: timedelta) -> Canary:
    return Canary(int((clock.now() - ago).timestamp()), 3)


async def test_canaries_of_another_jiezhu_leave_nothing_behind():
    clock = FakeClock()
    store = AwayStore()
    old, fresh = canary(clock, KEPT + timedelta(minutes=1)), canary(clock, timedelta(minutes=1))
    names = [old.conversation, fresh.conversation, "c-1"]
    words = Excerpt("jz-1-1", "e-1", "user", clock.now() - timedelta(days=9), "words")
    cases = [CaseWrite(a_case(name), PARTITION, None) for name in names]
    await store.commit(Work(cases=cases, excerpts=[words]))
    await Expiry(store, clock, timedelta(days=7)).expire()
    assert set(await store.cases(names)) == {fresh.conversation, "c-1"}
    assert await store.excerpts("jz-1-1") == []


async def test_a_database_that_is_away_ends_no_loop():
    store = AwayStore()
    store.away = frozenset({"sweep_canaries"})
    await Expiry(store, FakeClock(), timedelta(days=7)).expire()
