"""Ends a worker that finds itself dead: not every supervisor restarts what is unhealthy, and each restarts what has ended.

In a thread, as the event loop may be what stands still.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

import structlog

from monitor.health import Health

_log = structlog.get_logger(__name__)

LOOK = 5.0  # seconds
# In a row: three minutes. A supervisor that asks /livez is faster; counted, so that a suspended machine is not a dead worker.
LOOKS = 36
MERCY = 40.0  # seconds to end in good order
STATUS = 70  # EX_SOFTWARE of sysexits.h


class LastResort:
    """``give_up`` is told the reasons, in a thread of ours, and is to end the process; ``kill`` does if that takes too long."""

    def __init__(
        self,
        health: Callable[[], Health],
        give_up: Callable[[tuple[str, ...]], None],
        *,
        look: float = LOOK,
        looks: int = LOOKS,
        mercy: float = MERCY,
        kill: Callable[[int], object] = os._exit,
    ) -> None:
        self._health = health
        self._give_up = give_up
        self._look = look
        self._looks = looks
        self._mercy = mercy
        self._kill = kill
        self._failing = 0
        self._stopped = threading.Event()

    def start(self) -> None:
        threading.Thread(target=self._run, name="last_resort", daemon=True).start()

    def stop(self) -> None:
        """Nobody needs to be watched any more. Not after it has given up."""
        self._stopped.set()

    def _run(self) -> None:
        while not self._stopped.wait(self._look):
            reasons = self._reasons()
            self._failing = self._failing + 1 if reasons else 0
            if self._failing >= self._looks:
                break
        else:
            return
        _log.critical("worker_gives_up", reasons=list(reasons), seconds=round(self._failing * self._look))
        try:
            self._give_up(reasons)
        except Exception as error:  # noqa: BLE001 - the loop may be closed; then there is nothing to wait for
            _log.error("worker_does_not_end", error=type(error).__name__)
        if not self._stopped.wait(self._mercy):
            _log.critical("worker_killed")
            self._kill(STATUS)

    def _reasons(self) -> tuple[str, ...]:
        """The parts may be changing while this thread looks at them: then the next look will tell."""
        try:
            return self._health().reasons
        except RuntimeError:
            return ()
