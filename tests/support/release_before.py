"""The release before this one, out of the project's own history: its code, whole workers of it, and its tables.

``COMMIT`` is the one place that names it; move it when a release is made.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

import pytest

from monitor.demo.workers import Worker

COMMIT = "43968cc"  # the last one before the tables were changed for the first time
NEW_SETTINGS = ("JIEZHU_GROUPING__",)
ROOT = Path(__file__).parents[2]
PARTS = ("alerts", "detectors", "monitor", "tests/__init__.py", "tests/support")

_BEGIN = "import sys; sys.path.insert(0, {code!r})\n"
# As ``quick_worker``, in the words of that release, which has no other way to be given its detectors.
_RUN = """
import asyncio, os
from monitor import assembly
from monitor.app import App
from monitor.log import configure
from monitor.scoring import Scoring
from monitor.settings import load
from tests.support.scripted_scorers import ScriptedReplies, ScriptedUsers
settings = load(None, os.environ)
configure(settings.log.level, settings.log.format)
assembly.scoring = lambda *_: Scoring(ScriptedUsers(), ScriptedReplies())
asyncio.run(App(settings).run(lambda *_: None))
"""
_MIGRATE = """
from monitor.store.migration import migrate
migrate(sys.stdin.readline().strip())
"""


class ReleaseBefore:
    def __init__(self, code: Path) -> None:
        self.code = code

    def worker(self, name: str, environment: Mapping[str, str], log: Path) -> Worker:
        """A ``Maker``. What was no setting yet is left out: that release would refuse it."""
        known = {key: value for key, value in environment.items() if not key.startswith(NEW_SETTINGS)}
        return Worker(name, known, log, ("-c", self._program(_RUN)))

    def migrate(self, url: str) -> None:
        """Make its tables."""
        command = [sys.executable, "-c", self._program(_MIGRATE)]
        subprocess.run(command, input=f"{url}\n", text=True, check=True, capture_output=True)

    def _program(self, text: str) -> str:
        return _BEGIN.format(code=str(self.code)) + text


@pytest.fixture(scope="session")
def release_before(tmp_path_factory: pytest.TempPathFactory) -> ReleaseBefore:
    archive = subprocess.run(
        ["git", "-C", str(ROOT), "archive", COMMIT, *PARTS], capture_output=True, check=False
    )
    if archive.returncode != 0:
        pytest.skip(f"the history is not here: no commit {COMMIT}")
    code = tmp_path_factory.mktemp("release-before")
    with tarfile.open(fileobj=BytesIO(archive.stdout)) as packed:
        packed.extractall(code, filter="data")
    return ReleaseBefore(code)
