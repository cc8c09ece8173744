"""Quick workers that are forked from a process that has imported everything: up in a fraction of a second.

A worker's imports take a core for two seconds; a promise that wants twenty of them would mostly measure Python.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from monitor.demo.workers import Worker, inherited

_fork = multiprocessing.get_context("forkserver")
_fork.set_forkserver_preload(["tests.support.quick_worker"])


def warm() -> None:
    """Import everything now. Else the first start does, and holds up the loop on which a test's pager answers."""
    process = _fork.Process(target=int)
    process.start()
    process.join()


class ForkedWorker(Worker):
    def start(self) -> None:
        self._process = _Forked({**inherited(os.environ), **self._environment}, self._log)  # type: ignore[assignment]


class _Forked:
    """What is used of a ``Popen``."""

    def __init__(self, environment: Mapping[str, str], log: Path) -> None:
        self._process = _fork.Process(target=run, args=(dict(environment), log))
        self._process.start()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired("quick worker", timeout or 0)
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:  # as Popen does: one that ended by itself is no error
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def run(environment: Mapping[str, str], log: Path) -> None:
    """In the child: become the worker."""
    from tests.support.quick_worker import main

    with log.open("ab") as out:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
            os.dup2(out.fileno(), stream.fileno())
    os.environ.clear()
    os.environ.update(environment)
    main()
