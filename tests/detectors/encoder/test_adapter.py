"""Differences merged into a base: where they fit, what they are called by, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from detectors.encoder import WeightsError, load_engine
from detectors.encoder.adapter import BLOCK, pack, read_adapter, unpack
from detectors.encoder.cache import Cache
from detectors.encoder.prepare import prepare_source
from tests.detectors.encoder import tiny

TARGET = "encoder.layer.1.output.dense.weight"
SHAPE = (tiny.HIDDEN, tiny.FEED_FORWARD)


def write(file: Path, *, size: float = 0.1, target: str = TARGET, base: str | None = "base") -> Path:
    values = np.random.default_rng(3).normal(0, size, SHAPE).astype(np.float32)
    packed, scale = pack(values)
    tensors = {f"delta.{target}": packed, f"scale.{target}": scale, "heads.other.bias": np.zeros(1)}
    save_file(tensors, file, metadata={"base": base} if base else None)
    return file


def test_packing_keeps_a_value_within_half_a_step():
    values = np.random.default_rng(1).normal(size=(5, 4 * BLOCK)).astype(np.float32)
    values[2] = 0
    packed, scale = pack(values)
    assert packed.nbytes * 2 == values.size
    steps = np.repeat(scale.astype(np.float32), BLOCK, axis=1)
    assert (np.abs(unpack(packed, scale) - values) <= steps * 0.51 + 1e-6).all()


def test_the_first_of_two_is_the_low_nibble():
    values = np.zeros((1, BLOCK), dtype=np.float32)
    values[0, :2] = 7, -3
    packed, scale = pack(values)
    assert packed[0, 0] == 15 | (5 << 4)
    assert unpack(packed, scale)[0, :3].tolist() == [7, -3, 0]


def test_the_digest_is_of_the_differences_alone(tmp_path):
    one = read_adapter(write(tmp_path / "a.safetensors"))
    same = read_adapter(write(tmp_path / "b.safetensors", base="another"))
    other = read_adapter(write(tmp_path / "c.safetensors", size=0.2))
    assert one.digest == same.digest != other.digest
    assert (one.base, same.base) == ("base", "another")


def test_merged_rows_differ_from_the_base_and_both_engines_agree(workspace, tmp_path):
    adapter = write(tmp_path / "a.safetensors", size=0.5)
    merged = prepare_source(workspace.source, workspace.cache, adapter=adapter)
    assert merged.identity != workspace.prepared.identity
    assert merged.reference == workspace.prepared.reference
    texts = ["rain", "天气"]
    base = load_engine("int8", workspace.prepared).encode(texts)
    int8 = load_engine("int8", merged).encode(texts)
    fp32 = load_engine("fp32", merged).encode(texts)
    assert (base * int8).sum(1).max() < 0.99
    assert (int8 * fp32).sum(1).min() > 0.97


def test_the_same_adapter_is_merged_once(workspace, tmp_path):
    adapter = write(tmp_path / "a.safetensors", size=0.4)
    first = prepare_source(workspace.source, workspace.cache, adapter=adapter)
    stages: list[str] = []
    again = prepare_source(workspace.source, workspace.cache, lambda stage, *_: stages.append(stage), adapter)
    assert again == first
    assert stages == []


def test_an_adapter_of_another_shape_is_refused(workspace, tmp_path):
    adapter = write(tmp_path / "a.safetensors", target="encoder.layer.7.output.dense.weight")
    with pytest.raises(WeightsError, match=r"does not fit the encoder at encoder\.layer\.7"):
        prepare_source(workspace.source, Cache(tmp_path / "cache"), adapter=adapter)


@pytest.mark.parametrize("kind", ["missing", "damaged", "without a base"])
def test_what_is_no_adapter_is_refused(tmp_path, kind):
    file = tmp_path / "a.safetensors"
    if kind == "damaged":
        file.write_bytes(b"\x00" * 100)
    elif kind == "without a base":
        write(file, base=None)
    with pytest.raises(WeightsError, match="no adapter of ours"):
        read_adapter(file)
