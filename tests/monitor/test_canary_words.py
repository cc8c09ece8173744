"""What the canary says, before the detectors that ship: a crisis that the reply lets down, in both languages."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from alerts.canary import Canary
from alerts.pagers.canary import CanaryChannel
from monitor import assembly
from monitor.canary_event import SAID, CanaryMark
from monitor.decode.native import NativeDecoder
from monitor.reader import Reader
from monitor.settings import load
from monitor.store.memory import MemoryStore
from tests.support.fake_clock import FakeClock
from tests.support.fake_pager import FakePager
from tests.support.warm import warm_cache
from tests.support.worker import PSEUDONYMISER, Worker

__all__ = ["warm_cache"]

pytestmark = [pytest.mark.model, pytest.mark.xdist_group("encoder")]


async def test_its_page_comes_in_both_languages(warm_cache: Path) -> None:
    clock, mark = FakeClock(), CanaryMark(b"k" * 32, PSEUDONYMISER)
    people, own = FakePager("first", clock), FakePager("canary's own", clock)
    scoring = assembly.scoring(
        load(None, {"JIEZHU_ENCODER__CACHE_DIR": str(warm_cache)}), lambda *_: None, b"s" * 32
    )
    worker = Worker(MemoryStore(), clock, pagers=[people, CanaryChannel(own)], scoring=scoring)
    worker.pipeline._reader = Reader(NativeDecoder(), PSEUDONYMISER, clock, mark.marked)
    found = [Canary(int(clock.now().timestamp()) - 60 * n, 0) for n in range(12)]
    await worker.start()
    await worker.read(*(value for canary in found for _, value in mark.events(canary)))
    clock.jump(timedelta(seconds=5))
    await worker.timers.fire(clock.now())
    await worker.wait(3)
    await worker.stop()
    scoring.close()
    assert {page.incident for page in own.got} == {canary.incident for canary in found}
    assert {page.lang for page in own.got} == {lang for lang, _, _ in SAID}
    assert people.rung == []
