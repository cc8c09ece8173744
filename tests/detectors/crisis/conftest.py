from __future__ import annotations

from pathlib import Path

import pytest

from detectors.crisis import ExemplarScorer, load_scorer
from detectors.ports import Encoder


@pytest.fixture(scope="session")
def scorer(engine: Encoder, cache_dir: Path) -> ExemplarScorer:
    return load_scorer(engine, cache_dir / "bank")
