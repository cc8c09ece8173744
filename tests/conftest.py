"""What every test may ask for: the directory of prepared models, and the default engine."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from detectors.crisis.model import SHIPPED
from detectors.encoder import Prepared, load_engine, prepare
from detectors.encoder.cache import locate_cache
from detectors.ports import Encoder
from tests.support.form import table

# The machine is shared and noisy: time is measured in benchmarks, never by a test. In CI the examples are the
# same each time, so that a change is judged by itself; elsewhere every run looks for new ones.
settings.register_profile(
    "shared",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
    derandomize=bool(os.environ.get("CI")),
)
settings.load_profile("shared")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The table of promises: what was measured, whether it held."""
    reports = [
        report
        for outcome in ("passed", "failed")
        for report in terminalreporter.stats.get(outcome, [])
        if report.when == "call"
    ]
    if lines := table(reports):
        terminalreporter.section("promises")
        terminalreporter.write_line("\n".join(lines))


@pytest.fixture(scope="session")
def cache_dir() -> Path:
    """``JIEZHU_CACHE_DIR``, else the user's own cache, so that a model is prepared once and not once a run."""
    given = os.environ.get("JIEZHU_CACHE_DIR")
    return Path(given) if given else locate_cache()


@pytest.fixture(scope="session")
def prepared(cache_dir: Path) -> Prepared:
    """The real encoder's files. Workers that ask at once wait for the one that prepares them."""
    source = os.environ.get("JIEZHU_ENCODER__SOURCE", "offline")
    return prepare(source, cache_dir, adapter=SHIPPED)


@pytest.fixture(scope="session")
def engine(prepared: Prepared) -> Encoder:
    """The int8 engine. A test that asks for it is marked ``model``."""
    return load_engine("int8", prepared)
