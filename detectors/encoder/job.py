"""Starts the workshop process, passes its progress on, and turns its end into a result or an error."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, Final

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


def run_job(job: dict[str, Any], progress: Progress) -> Any:
    """Run ``job`` in a workshop process and return its result.

    Raises the workshop's ``EncoderError``, or ``BuildError`` with its last words if it died without one.
    """
    here = str(Path(__file__).resolve().parents[2])
    paths = [here, *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, **_QUIET, "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-m", "detectors.encoder.workshop"]
    with (
        tempfile.TemporaryFile() as words,
        subprocess.Popen(  # noqa: S603  fixed arguments, no shell
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=words, text=True
        ) as workshop,
    ):
        try:
            ending = _converse(workshop, job, progress)
        except BaseException:
            workshop.kill()
            raise
        workshop.wait()
        words.seek(0)
        last = words.read().decode(errors="replace").strip().splitlines()[-1:]
    match ending:
        case ["done", result]:
            return result
        case ["failed", kind, message]:
            raise getattr(errors, kind, errors.BuildError)(message)
        case _:
            reason = last[0][:200] if last else f"exit status {workshop.returncode}"
            raise errors.BuildError(
                f"preparing the encoder failed ({reason}): it needs about 2.5 GB of memory"
            )


def _converse(workshop: subprocess.Popen[str], job: dict[str, Any], progress: Progress) -> list[Any]:
    to, back = _pipes(workshop)
    to.write(json.dumps(job))
    to.close()
    ending: list[Any] = []
    for line in back:
        match json.loads(line):
            case ["progress", stage, done, total]:
                progress(stage, done, total)
            case words:
                ending = words
    return ending


def _pipes(workshop: subprocess.Popen[str]) -> tuple[IO[str], IO[str]]:
    assert workshop.stdin is not None
    assert workshop.stdout is not None
    return workshop.stdin, workshop.stdout
