from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from detectors.encoder.errors import SourceError, WeightsError
from detectors.encoder.source import Directory, Hub, Wheel, check_directory, identify_directory, parse_source
from tests.detectors.encoder.conftest import Workspace

# one worker prepares the tiny model for all of them
pytestmark = pytest.mark.xdist_group("tiny_encoder")


def test_settings_are_understood(tmp_path: Path) -> None:
    wheel = tmp_path / "a.whl"
    wheel.touch()
    assert parse_source("offline") == Wheel(None)
    assert parse_source(str(wheel)) == Wheel(wheel)
    assert parse_source(tmp_path) == Directory(tmp_path)
    assert parse_source(str(tmp_path)) == Directory(tmp_path)
    assert parse_source("intfloat/multilingual-e5-small") == Hub("intfloat/multilingual-e5-small", None)
    assert parse_source("owner/name@refs/pr/1") == Hub("owner/name", "refs/pr/1")


@pytest.mark.parametrize(
    "setting", ["", "/nowhere/at/all", "two words", "a/b/c", "Offline", Path("owner/name")]
)
def test_anything_else_is_refused(setting: str | Path) -> None:
    with pytest.raises(SourceError, match="JIEZHU_ENCODER__SOURCE"):
        parse_source(setting)


def test_a_wheel_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="is not there"):
        parse_source(tmp_path / "a.whl")


@pytest.fixture
def model(workspace: Workspace, tmp_path: Path) -> Path:
    return Path(shutil.copytree(workspace.prepared.reference, tmp_path / "model"))


@pytest.mark.parametrize("name", ["modules.json", "config.json", "model.safetensors", "tokenizer.json"])
def test_a_directory_without_a_part_is_refused(model: Path, name: str) -> None:
    check_directory(model)
    (model / name).unlink()
    with pytest.raises(WeightsError, match=name):
        check_directory(model)


def change(path: Path, key: str, value: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_bytes()), key: value}))


def test_another_kind_of_model_is_refused(model: Path) -> None:
    change(model / "config.json", "model_type", "gpt2")
    with pytest.raises(WeightsError, match="gpt2"):
        check_directory(model)


def test_another_pooling_is_refused(model: Path) -> None:
    change(model / "1_Pooling/config.json", "pooling_mode", "cls")
    with pytest.raises(WeightsError, match="mean pooling"):
        check_directory(model)


def test_a_config_that_is_no_json_is_refused(model: Path) -> None:
    (model / "config.json").write_text("{")
    with pytest.raises(WeightsError, match="cannot be read as JSON"):
        check_directory(model)


def test_identity_follows_the_content_not_the_place(workspace: Workspace, model: Path) -> None:
    before = identify_directory(model)
    assert before == identify_directory(workspace.prepared.reference)
    weights = model / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x01")
    assert identify_directory(model) != before
