from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from detectors.encoder.cache import Cache
from detectors.encoder.prepare import Prepared, prepare_source
from detectors.encoder.source import Wheel
from tests.detectors.encoder import tiny


@dataclass
class Workspace:
    """A tiny model, prepared from a wheel that a stand-in for pip delivered."""

    cache: Cache
    prepared: Prepared
    source: Wheel
    left: list[str]
    """What preparing left in the cache, before any test."""
    stages: list[tuple[str, int, int]] = field(default_factory=list)


@pytest.fixture(scope="session")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    root = tmp_path_factory.mktemp("tiny")
    data = tiny.write_file(tiny.make_tensors())
    wheel = tiny.write_wheel(root, data)
    python = tiny.write_python(root / "python", f'cp "{wheel}" "$dest"')
    source = Wheel(None, tiny.digest(data), python)
    cache, stages = Cache(root / "cache"), []
    prepared = prepare_source(source, cache, lambda *step: stages.append(step))
    left = sorted(path.name for path in cache.root.iterdir() if path.is_dir())
    return Workspace(cache, prepared, source, left, stages)


@pytest.fixture
def empty_cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")
