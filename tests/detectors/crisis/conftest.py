from __future__ import annotations

import pytest

from detectors.crisis import TrainedScorer
from detectors.ports import Encoder


@pytest.fixture(scope="session")
def scorer(engine: Encoder) -> TrainedScorer:
    return TrainedScorer(engine)
