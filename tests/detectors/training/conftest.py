from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from detectors.encoder import packed
from detectors.encoder.rebuild import rebuild
from detectors.encoder.reference import load_model
from tests.detectors.encoder import tiny

POSITIONS = 300  # room for the longest text that is trained on


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of an encoder with two layers."""
    data = tiny.write_file(tiny.make_tensors(positions=POSITIONS), positions=POSITIONS)
    place = tmp_path_factory.mktemp("base")
    rebuild(packed.parse(data), place, lambda *_: None)
    return place


@pytest.fixture
def model(base: Path) -> Any:
    """Loaded anew for each test: training changes it in place."""
    torch.manual_seed(1)
    return load_model(base)
