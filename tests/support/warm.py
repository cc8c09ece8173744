"""The encoder's cache with everything a worker needs in it, so that no worker has to prepare it."""

from __future__ import annotations

from pathlib import Path

import pytest
from filelock import FileLock

from monitor import assembly
from monitor.settings import load


@pytest.fixture(scope="session")
def warm_cache(cache_dir: Path) -> Path:
    """Filled once, by one process while the others wait; about a minute the first time, seconds afterwards."""
    cache_dir.mkdir(parents=True, exist_ok=True)
    with FileLock(cache_dir / ".warm.lock"):
        settings = load(None, {"JIEZHU_ENCODER__CACHE_DIR": str(cache_dir)})
        assembly.scoring(settings, lambda *_: None).close()
    return cache_dir
