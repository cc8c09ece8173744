"""A whole run, small: from rows and an encoder to files that the product works with."""

from __future__ import annotations

import math
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from detectors.context import contextual
from detectors.crisis.calibration import load_calibration
from detectors.crisis.model import load_model
from detectors.crisis.reader import Reader
from detectors.crisis.scorer import TrainedScorer
from detectors.encoder import load_engine, prepare
from detectors.encoder.reference import load_model as load_base
from detectors.finding import CRISIS_LEVELS
from detectors.reply.remembered import RememberedReplies
from detectors.training.course import Course
from detectors.training.network import Network
from detectors.training.run import CALIBRATION, MODEL, Plan, run
from detectors.training.sources import CORPORA
from detectors.training.start import blend, go_on_from
from detectors.training.states import lower_states

pytestmark = pytest.mark.xdist_group("training")  # one run serves the tests of this file

SLICE = {
    "en_levels": 110,
    "en_context": 100,
}  # lines; both sides of each in what is learnt and what calibrates
Step = tuple[str, int, int]


@dataclass
class Trained:
    plan: Plan
    file: Path
    steps: list[Step]


@pytest.fixture(scope="module")
def trained(base, tmp_path_factory) -> Trained:
    root = tmp_path_factory.mktemp("run")
    (root / "corpora").mkdir()
    for name, count in SLICE.items():
        lines = (CORPORA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()[:count]
        (root / "corpora" / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    plan = Plan(
        (),
        root / "work",
        root / "finished",
        Course(epochs=1, rate=0.01, seed=4),
        base,
        root / "cache",
        limit=64,
        frozen=1,
        corpora=root / "corpora",
    )
    threads = torch.get_num_threads()
    steps: list[Step] = []
    file = run(plan, lambda stage, done, total, _: steps.append((stage, done, total)))
    torch.set_num_threads(threads)
    return Trained(plan, file, steps)


def test_model_and_calibration_are_written(trained):
    assert trained.file == trained.plan.target / MODEL
    model = load_model(trained.file)
    assert model.languages == {"en"}
    assert len(model.families) == len(model.bank) > 20
    assert 0 < model.risky.sum() < len(model.risky)
    calibration = load_calibration(trained.plan.target / CALIBRATION)
    assert set(calibration.thresholds) == set(CRISIS_LEVELS)
    assert all(
        0.05 <= line.slope <= 5 for line in [*calibration.alone.values(), *calibration.context.values()]
    )


def test_the_person_waiting_sees_every_stage(trained):
    stages = list(dict.fromkeys(stage for stage, _, _ in trained.steps))
    own = ["lower layers", "train", "vectors", "train in context", "calibrate", "calibrate in context"]
    assert [stage for stage in stages if stage in own] == own
    ends = {stage: (done, total) for stage, done, total in trained.steps}
    assert all(done == total for done, total in ends.values())


def test_scorer_and_reader_work_on_the_result(trained):
    plan = trained.plan
    prepared = prepare(plan.source, plan.cache, adapter=trained.file)
    engine = load_engine("int8", prepared)
    model = load_model(trained.file)
    calibration = load_calibration(plan.target / CALIBRATION)
    texts = ["the rain has stopped", "i do not want to go on living", "fine. just tired"]
    first, second, third = TrainedScorer(engine, model, calibration).score(texts, ["en"] * 3)
    (reply,) = RememberedReplies(engine, model).score(["thank you for telling me"], ["en"], [None])
    assert first.memory != second.memory
    assert all(0 <= one.score <= 1 and one.language == "en" for one in (first, second, third))
    assert all(any(reason.source in model.families for reason in one.evidence) for one in (first, second))
    whole = contextual([second, reply, third], Reader(model, calibration))
    assert len(whole) == 2
    assert whole[0] == second
    assert math.isfinite(whole[1].score)


def test_run_again_it_finishes_at_once_with_the_same_bytes(trained):
    plan = replace(trained.plan, target=trained.plan.target.with_name("again"))
    steps: list[Step] = []
    threads = torch.get_num_threads()
    run(plan, lambda stage, done, total, _: steps.append((stage, done, total)))
    torch.set_num_threads(threads)
    assert [step for step in steps if step[0] in {"lower layers", "quantise"}] == []
    assert len([step for step in steps if step[0] == "train"]) == 1
    for name in (MODEL, CALIBRATION):
        assert (plan.target / name).read_bytes() == (trained.plan.target / name).read_bytes()


def test_other_rows_in_the_same_place_are_refused(trained, tmp_path):
    work = tmp_path / "work"
    shutil.copytree(trained.plan.work, work)
    with pytest.raises(ValueError, match="name an empty one"):
        run(replace(trained.plan, work=work, limit=40), lambda *_: None)


def test_the_trained_layer_has_moved(trained, base):
    prepared = prepare(trained.plan.source, trained.plan.cache, adapter=trained.file)
    text = ["the rain has stopped"]
    tuned = load_engine("fp32", prepared).encode(text)
    plain = load_engine("fp32", replace(prepared, adapter=None)).encode(text)
    shipped = load_engine("int8", prepared).encode(text)
    assert not np.allclose(tuned, plain, atol=1e-3)
    assert (tuned * shipped).sum() > max(0.97, (plain * shipped).sum())


def test_going_on_from_a_model_begins_where_it_ended(trained, base):
    bert = load_base(prepare(base, trained.plan.cache).reference)[0].model
    network = Network(bert.encoder.layer[1:], bert.config.hidden_size)
    plain = {name: one.detach().clone() for name, one in network.named_parameters()}
    begun = go_on_from(trained.file, bert, network, frozen=1)
    assert set(begun) == set(plain)
    moved = {name for name, one in network.named_parameters() if not torch.equal(one, plain[name])}
    assert {name.partition(".")[0] for name in moved} == {"upper", "heads"}
    prepared = prepare(base, trained.plan.cache, adapter=trained.file)
    tuned = load_engine("fp32", prepared).encode(["rain"])
    states = lower_states(load_base(prepared.reference), ["rain"], [64], 1)
    with torch.inference_mode():
        vector = network.eval().encode(*states.batch([0])).numpy()
    assert np.allclose(vector, tuned, atol=2e-3)


def test_what_went_on_is_brought_half_way_back_but_for_heads_that_are_new():
    network = Network(nn.ModuleList([nn.Linear(2, 2)]), 2)
    begun = {name: torch.zeros_like(one) for name, one in network.named_parameters() if "crisis" not in name}
    trained = {name: one.detach().clone() for name, one in network.named_parameters()}
    blend(network, begun)
    for name, one in network.named_parameters():
        assert torch.allclose(one, trained[name] * (0.5 if name in begun else 1)), name
    blend(network, trained, way=0.0)
    assert all(torch.equal(one, trained[name]) for name, one in network.named_parameters())


def test_going_on_with_fewer_layers_than_have_learnt_is_refused(trained, base):
    bert = load_base(prepare(base, trained.plan.cache).reference)[0].model
    with pytest.raises(ValueError, match="start from the base"):
        go_on_from(trained.file, bert, Network(bert.encoder.layer[2:], bert.config.hidden_size), frozen=2)
