"""What ends by age: of those, too, that this jiezhu did not send."""

from __future__ import annotations

from datetime import timedelta

from alerts.canary import Canary
from monitor.canary import KEPT
from monitor.expiry import Expiry, Figures
from monitor.store.memory_tallies import MemoryTallies
from monitor.store.work import CaseWrite, Excerpt, Work
from monitor.tally.cell import HOUR, Cell, Where, hour_of
from monitor.tally.election import Lease
from monitor.tally.hours import Hour, Place
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


async def test_figures_of_hours_go_at_their_own_age_whoever_is_elected():
    clock, store = FakeClock(), AwayStore()
    tallies = MemoryTallies(store)
    where = Where("production", "7.2", "en", "none", "live")
    old, young = (Place(hour_of(clock.now()) - days * 24 * HOUR, where) for days in (40, 30))
    lease = Lease(1, "another", clock.now())
    assert await tallies.elect(None, lease)
    assert await tallies.fold(1, [], dict.fromkeys([old, young], Hour(Cell(), b"style")))
    await Expiry(store, clock, timedelta(days=7), Figures(tallies, timedelta(days=35))).expire()
    assert await tallies.sketched(old.hour) == [young]


async def test_a_database_that_is_away_ends_no_loop():
    store = AwayStore()
    store.away = frozenset({"sweep_canaries"})
    await Expiry(store, FakeClock(), timedelta(days=7)).expire()
