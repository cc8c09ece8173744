"""A worker that finds itself dead for minutes ends by itself, and is ended if it cannot."""

from __future__ import annotations

import threading
from collections.abc import Callable

from structlog.testing import capture_logs

from monitor.health import Health
from monitor.last_resort import STATUS, LastResort

DEAD, WELL = Health(("timers_stalled",)), Health(())
LIMIT = 5.0


class Process:
    """Whose health is told look by look; the last is how it stays. ``ends``: it can still end in good order."""

    def __init__(self, *healths: Health | Exception, ends: bool = True) -> None:
        self._healths = list(healths)
        self._ends = ends
        self.looks = 0
        self.over = threading.Event()
        self.told: list[tuple[str, ...]] = []
        self.killed: list[int] = []
        self.last_resort = LastResort(
            self._health, self._give_up, look=0.005, looks=3, mercy=0.05, kill=self._kill
        )
        self.last_resort.start()

    def _health(self) -> Health:
        self.looks += 1
        health = self._healths.pop(0) if len(self._healths) > 1 else self._healths[0]
        if isinstance(health, Exception):
            raise health
        return health

    def _give_up(self, reasons: tuple[str, ...]) -> None:
        self.told.append(reasons)
        if self._ends:
            self.last_resort.stop()
            self.over.set()

    def _kill(self, status: int) -> None:
        self.killed.append(status)
        self.over.set()

    def looked(self, count: int) -> bool:
        enough = threading.Event()
        watch: Callable[[], None] = lambda: enough.set() if self.looks >= count else None  # noqa: E731 - a look
        while not enough.wait(0.002):
            watch()
        return True


def test_three_failing_looks_in_a_row_end_it_with_the_reason():
    with capture_logs() as logs:
        process = Process(DEAD, DEAD, WELL, DEAD)
        assert process.over.wait(LIMIT)
    assert process.told == [("timers_stalled",)]
    assert process.looks >= 6  # the well one in between began it anew
    assert not process.killed
    assert logs[0]["event"] == "worker_gives_up"
    assert logs[0]["reasons"] == ["timers_stalled"]


def test_one_that_cannot_end_is_killed():
    process = Process(DEAD, ends=False)
    assert process.over.wait(LIMIT)
    assert (process.told, process.killed) == ([("timers_stalled",)], [STATUS])


def test_one_that_is_well_is_left_alone():
    process = Process(WELL)
    assert process.looked(10)
    process.last_resort.stop()
    assert (process.told, process.killed) == ([], [])


def test_parts_that_change_while_it_looks_prove_nothing():
    process = Process(DEAD, DEAD, RuntimeError("dictionary changed size during iteration"), WELL)
    assert process.looked(8)
    process.last_resort.stop()
    assert process.told == []
