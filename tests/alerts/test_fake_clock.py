"""The fake clock is relied upon by other tests, so it has its own."""

import asyncio
from datetime import timedelta

import pytest

from tests.support.fake_clock import EPOCH, FakeClock, settle

SECOND = timedelta(seconds=1)


async def test_sleepers_wake_in_order_each_at_its_own_time():
    clock, woke = FakeClock(), []

    async def sleeper(seconds):
        await clock.sleep(seconds * SECOND)
        woke.append((seconds, clock.now()))

    tasks = [asyncio.create_task(sleeper(seconds)) for seconds in (3, 1, 2, 9)]
    await clock.advance(5 * SECOND)
    assert woke == [(seconds, EPOCH + seconds * SECOND) for seconds in (1, 2, 3)]
    assert clock.now() == EPOCH + 5 * SECOND
    assert clock.sleepers == 1
    tasks[3].cancel()
    await settle()
    assert clock.sleepers == 0


async def test_a_loop_runs_as_often_as_it_would():
    clock, ticks = FakeClock(), []

    async def tick():
        while True:
            await clock.sleep(SECOND)
            ticks.append(clock.now())
            await asyncio.sleep(0)

    task = asyncio.create_task(tick())
    await clock.advance(10 * SECOND)
    task.cancel()
    assert ticks == [EPOCH + number * SECOND for number in range(1, 11)]


async def test_advance_until_says_how_long_it_took_or_that_it_did_not_happen():
    clock = FakeClock()
    task = asyncio.create_task(clock.sleep(3 * SECOND))
    assert await clock.advance_until(task.done, 5 * SECOND) == 3 * SECOND
    task = asyncio.create_task(clock.sleep(30 * SECOND))
    with pytest.raises(AssertionError, match="did not happen"):
        await clock.advance_until(task.done, 5 * SECOND)
    task.cancel()


async def test_work_that_never_waits_is_found_out():
    async def spin():
        while True:  # noqa: ASYNC110  the fault under test
            await asyncio.sleep(0)

    task = asyncio.create_task(spin())
    with pytest.raises(AssertionError, match="without waiting"):
        await settle()
    task.cancel()


async def test_nobody_sleeps_for_no_time():
    clock = FakeClock()
    await clock.sleep(timedelta(0))
    await clock.sleep(timedelta(seconds=-1))
    assert clock.now() == EPOCH
