"""Runs jobs in a workshop process, passes its progress on, and turns its end into results or an error."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self

from detectors.encoder import errors

Progress = Callable[[str, int, int], None]
"""Stage, done, total."""

_QUIET: Final = {
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "TRANSFORMERS_VERBOSITY": "error",
    "PYTHONWARNINGS": "ignore",
}


class Jobs:
    """Starts the process with the first job and ends it with the ``with`` block: torch is imported once or never."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._workshop: subprocess.Popen[str] | None = None
        self._words: IO[bytes] | None = None
        self._closing = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._workshop is not None and kind is not None:
            self._workshop.kill()
        self._closing.close()

    def run(self, job: dict[str, Any]) -> Any:
        """Do ``job`` and return its result.

        Raises the workshop's ``EncoderError``, or ``BuildError`` with its last words if it died without one.
        """
        match self._converse(job):
            case ["done", result]:
                return result
            case ["failed", kind, message]:
                raise getattr(errors, kind, errors.BuildError)(message)
            case _:
                raise errors.BuildError(
                    f"preparing the encoder failed ({self._last_words()}): it needs about 2.5 GB of memory"
                )

    def _converse(self, job: dict[str, Any]) -> list[Any]:
        if self._workshop is None:
            self._words = self._closing.enter_context(tempfile.TemporaryFile())  # noqa: SIM115  the stack closes it
            # one that died took a part of a job with it
            self._closing.enter_context(suppress(BrokenPipeError))
            # leaving it closes its input, at which it ends, and waits
            self._workshop = self._closing.enter_context(_start(self._words))
        assert self._workshop.stdin is not None
        assert self._workshop.stdout is not None
        try:
            self._workshop.stdin.write(json.dumps(job) + "\n")
            self._workshop.stdin.flush()
        except BrokenPipeError:
            return []
        for line in self._workshop.stdout:
            match json.loads(line):
                case ["progress", stage, done, total]:
                    self._progress(stage, done, total)
                case ending:
                    return list(ending)
        return []

    def _last_words(self) -> str:
        assert self._workshop is not None
        assert self._words is not None
        status = self._workshop.wait()
        self._words.seek(0)
        lines = self._words.read().decode(errors="replace").strip().splitlines()
        return lines[-1][:200] if lines else f"exit status {status}"


def _start(words: IO[bytes]) -> subprocess.Popen[str]:
    here = str(Path(__file__).resolve().parents[2])
    paths = [here, *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.Popen(
        [sys.executable, "-m", "detectors.encoder.workshop"],
        env={**os.environ, **_QUIET, "PYTHONPATH": os.pathsep.join(paths)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=words,
        text=True,
    )
