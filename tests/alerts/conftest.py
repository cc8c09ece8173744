"""What most tests of the relay begin with."""

from __future__ import annotations

import pytest

from tests.support.fake_clock import FakeClock
from tests.support.relays import Ear, FlakyOutbox


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def outbox():
    return FlakyOutbox()


@pytest.fixture
def ear():
    return Ear()
