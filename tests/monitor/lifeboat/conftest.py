"""A worker whose store can go away."""

from __future__ import annotations

import pytest

from tests.support.away_store import AwayStore
from tests.support.fake_clock import FakeClock
from tests.support.worker import Worker


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def worker(clock):
    worker = Worker(AwayStore(), clock)
    await worker.start()
    yield worker
    await worker.stop()
