"""Workers on several machines have one time, whatever is done to the database's clock or to one of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from monitor.clock import SLEW, SteadyClock
from monitor.common_time import LOOK, CommonTime
from monitor.errors import StoreUnavailable
from monitor.store.shared_time import Agreed, Told

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = 3600.0
MINUTE = 60.0
SOON = 1.1  # seconds: what is less than a jump is brought in line in minutes
EVERY = LOOK.total_seconds()


class World:
    """Real time, and a database whose clock is ``wrong`` by some seconds; ``away``: it answers nobody."""

    def __init__(self, folder: Path) -> None:
        self.passed = 0.0
        self.wrong = 0.0
        self.away = False
        self.agreed: Agreed | None = None
        self.folder = folder
        self.hosts: list[Host] = []

    async def time(self) -> Told:
        if self.away:
            raise StoreUnavailable("the database does not answer")
        return Told(NOON + timedelta(seconds=self.passed + self.wrong), self.agreed)

    async def agree(self, before: Agreed | None, after: Agreed) -> bool:
        if before != self.agreed:
            return False
        self.agreed = after
        return True

    async def start(self, wrong: float = 0.0) -> Host:
        host = Host(self, wrong)
        await host.time.begin()
        self.hosts.append(host)
        return host

    async def go(self, seconds: float, only: Sequence[Host] | None = None) -> None:
        """One look each, every few seconds, a second apart; others than ``only`` are paused, their clocks with them."""
        awake = self.hosts if only is None else only
        for _ in range(round(seconds / EVERY)):
            for number in range(int(EVERY)):
                self.passed += 1
                for host in self.hosts:
                    host.clock.now()
                    if host not in awake:
                        host.missed += 1
                    elif self.hosts.index(host) == number:
                        await host.time.look()


class Host:
    def __init__(self, world: World, wrong: float) -> None:
        self.world = world
        self.wrong = wrong
        self.missed = 0.0
        self.shown: dict[str, float] = {}
        self.clock = SteadyClock(
            lambda: NOON.timestamp() + world.passed + self.wrong - self.missed,
            lambda: 77 + world.passed - self.missed,
        )
        self.time = CommonTime(self.clock, world, world.folder / "clock.json", show=self.shown.__setitem__)

    @property
    def off(self) -> float:
        return (self.clock.now() - NOON).total_seconds() - self.world.passed


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.mark.parametrize("leap", [HOUR, -HOUR])
async def test_a_database_whose_clock_is_set_moves_nobody_and_who_starts_then_has_the_same_time(world, leap):
    one, two = await world.start(), await world.start(wrong=90)
    await world.go(60)
    world.wrong = leap
    await world.go(20)
    three = await world.start()
    await world.go(60)
    for host in (one, two, three):
        assert host.off == pytest.approx(0, abs=80 * SLEW + SOON)
    assert max(h.off for h in world.hosts) - min(h.off for h in world.hosts) <= SOON
    assert one.shown["database"] == pytest.approx(-leap, abs=10)
    assert two.shown["machine"] == pytest.approx(-90, abs=10)


@pytest.mark.parametrize("leap", [HOUR, -HOUR])
async def test_who_starts_at_that_very_moment_moves_nobody_else(world, leap):
    one = await world.start()
    await world.go(60)
    world.wrong = leap
    two = await world.start()
    await world.go(30)
    assert one.off == pytest.approx(0, abs=30 * SLEW + SOON)
    assert two.off == pytest.approx(one.off, abs=SOON)


async def test_all_come_to_the_right_time_together(world):
    one, two = await world.start(), await world.start()
    await world.go(10)
    world.wrong = MINUTE
    apart = last = 0.0
    for _ in range(110):
        await world.go(400)
        apart = max(apart, abs(one.off - two.off))
        assert one.off >= last - SOON
        last = one.off
    assert last == pytest.approx(MINUTE, abs=SOON)
    assert apart <= SOON


async def test_time_never_goes_back_nor_leaps_while_it_is_brought_in_line(world):
    host = await world.start()
    await world.go(10)
    world.wrong = -HOUR
    before = host.clock.now()
    for _ in range(200):
        await world.go(EVERY)
        now = host.clock.now()
        assert EVERY * (1 - SLEW) - 0.01 <= (now - before).total_seconds() <= EVERY * (1 + SLEW) + 0.01
        before = now


async def test_a_machine_that_was_paused_goes_on_in_the_time_of_the_others(world):
    one, two = await world.start(), await world.start()
    await world.go(60)
    await world.go(300, only=[one])
    with capture_logs() as logs:
        await world.go(10)
    assert (one.off, two.off) == (pytest.approx(0, abs=SOON), pytest.approx(0, abs=SOON))
    assert [(log["event"], log["seconds"]) for log in logs] == [
        ("clock_stood_still", pytest.approx(300, abs=EVERY))
    ]


async def test_one_that_is_alone_and_stood_still_comes_to_the_right_time(world):
    host = await world.start()
    await world.go(60)
    await world.go(MINUTE, only=[])
    assert host.off < 10 - MINUTE
    await world.go(1.1 * MINUTE / SLEW)
    assert host.off == pytest.approx(0, abs=SOON)


@pytest.mark.parametrize("wrong", [HOUR, -HOUR])
async def test_the_first_answer_counts_if_nobody_could_be_asked_at_the_start(world, wrong):
    world.away = True
    host = await world.start(wrong=wrong)
    assert host.off == pytest.approx(wrong)
    world.away = False
    await world.go(EVERY)
    assert host.off == pytest.approx(0, abs=0.01)


async def test_a_database_that_was_away_for_hours_changes_nothing(world):
    one, two = await world.start(), await world.start()
    await world.go(10)
    world.wrong = HOUR
    await world.go(10)
    world.away = True
    await world.go(2 * HOUR)
    world.away = False
    three = await world.start()
    await world.go(30)
    assert one.off == pytest.approx(2 * HOUR * SLEW, abs=60 * SLEW + SOON)
    assert one.off == pytest.approx(two.off, abs=SOON)
    assert one.off == pytest.approx(three.off, abs=SOON)
    assert one.shown["database"] == pytest.approx(one.off - HOUR, abs=1)
