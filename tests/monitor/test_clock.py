"""Time that never goes back and never leaps, whatever is done to the clocks; one time for all workers."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from monitor.clock import SLEW, SteadyClock, elapsed
from monitor.common_time import FRESH, CommonTime
from monitor.errors import StoreUnavailable
from monitor.store.shared_time import Agreed, Told

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = 3600.0


class Machine:
    """Real time passes with ``wait``; ``wrong`` is what its clock is off by."""

    def __init__(self) -> None:
        self.passed = 0.0
        self.wrong = 0.0
        self.clock = SteadyClock(
            lambda: NOON.timestamp() + self.passed + self.wrong, lambda: 77 + self.passed
        )

    def wait(self, seconds: float) -> None:
        self.passed += seconds

    @property
    def off(self) -> float:
        """By how much the steady clock differs from real time."""
        return (self.clock.now() - NOON).total_seconds() - self.passed


@pytest.fixture
def machine() -> Machine:
    return Machine()


@pytest.mark.parametrize("jump", [HOUR, -HOUR, 90.0, -2.0])
def test_a_jump_is_logged_once_with_its_size_and_moves_no_deadline(machine, jump):
    machine.wait(5)
    before = machine.clock.now()
    with capture_logs() as logs:
        machine.wrong = jump
        assert machine.clock.now() == before
        machine.wait(60)
        assert machine.off == pytest.approx(0, abs=60 * SLEW + 1e-3)
    assert logs == [
        {"event": "clock_jumped", "log_level": "warning", "clock": "machine", "seconds": pytest.approx(jump)}
    ]


def test_a_correction_that_lasts_is_followed_in_the_end(machine):
    machine.clock.now()
    machine.wrong = 90.0
    for _ in range(1000):
        machine.wait(60)
        machine.clock.now()
    assert machine.off == pytest.approx(90, abs=0.01)


@given(st.lists(st.tuples(st.floats(0, 100), st.floats(-7 * HOUR, 7 * HOUR)), max_size=30))
def test_it_never_goes_back_nor_leaps(steps):
    machine = Machine()
    last = machine.clock.now()
    for seconds, wrong in steps:
        machine.wait(seconds)
        machine.wrong = wrong
        now = machine.clock.now()
        allowed = seconds * SLEW + 1e-3
        assert seconds - allowed <= (now - last).total_seconds() <= seconds + allowed
        last = now


def test_small_drift_is_no_jump(machine):
    with capture_logs() as logs:
        for _ in range(100):
            machine.wait(1)
            machine.wrong += 0.01
            machine.clock.now()
    assert logs == []


def test_the_databases_time_stands_above_the_machines(machine):
    machine.clock.heard(NOON, 77)
    machine.wrong = HOUR
    machine.wait(1000)
    machine.clock.now()
    machine.wait(1000)
    assert machine.off == pytest.approx(0, abs=0.01)


def test_a_database_whose_clock_jumps_is_named(machine):
    machine.clock.heard(NOON, 77)
    with capture_logs() as logs:
        machine.clock.heard(NOON + timedelta(hours=1), 77)
    assert [(log["event"], log["clock"], log["seconds"]) for log in logs] == [
        ("clock_jumped", "database", HOUR)
    ]
    assert machine.off == pytest.approx(0, abs=0.01)


class Source:
    def __init__(self, apart: float | None) -> None:
        self.apart = apart

    async def time(self) -> Told | None:
        if self.apart is None:
            raise StoreUnavailable("the database does not answer")
        return Told(datetime.now(UTC) + timedelta(seconds=self.apart), None)

    async def agree(self, before: Agreed | None, after: Agreed) -> bool:
        del before, after
        return True


def apart(clock: SteadyClock) -> float:
    return (clock.now() - datetime.now(UTC)).total_seconds()


async def test_two_hosts_ninety_seconds_apart_have_one_time(tmp_path: Path):
    import time

    ahead, behind = SteadyClock(lambda: time.time() + 90), SteadyClock()
    for name, clock in (("a", ahead), ("b", behind)):
        await CommonTime(clock, Source(7.0), tmp_path / name).begin()
    assert apart(ahead) == pytest.approx(7, abs=0.5)
    assert apart(behind) == pytest.approx(7, abs=0.5)


async def test_a_database_that_is_away_leaves_the_machines_time(tmp_path: Path):
    clock = SteadyClock()
    await CommonTime(clock, Source(None), tmp_path / "clock.json").begin()
    assert apart(clock) == pytest.approx(0, abs=0.5)


def keep(file: Path, **changes: object) -> None:
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    offset = datetime.now(UTC).timestamp() - elapsed() - HOUR
    file.write_text(json.dumps({"boot": boot, "offset": offset, "at": elapsed()} | changes), encoding="utf-8")


async def test_who_starts_after_the_clock_was_set_goes_on_in_the_time_of_who_went_before(tmp_path: Path):
    keep(tmp_path / "clock.json")
    clock = SteadyClock()
    await CommonTime(clock, Source(None), tmp_path / "clock.json").begin()
    assert apart(clock) == pytest.approx(-HOUR, abs=0.5)


@pytest.mark.parametrize(
    "changes",
    [{"boot": "another"}, {"at": elapsed() - FRESH - 10}, {"at": elapsed() + 1e6}, {"offset": "x"}],
    ids=["another boot", "long ago", "of the future", "damaged"],
)
async def test_what_was_kept_long_ago_or_elsewhere_counts_for_nothing(tmp_path: Path, changes):
    keep(tmp_path / "clock.json", **changes)
    clock = SteadyClock()
    await CommonTime(clock, Source(None), tmp_path / "clock.json").begin()
    assert apart(clock) == pytest.approx(0, abs=0.5)
