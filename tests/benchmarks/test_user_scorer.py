"""What scoring costs beyond the encoder, as a share of an encoder pass."""

from __future__ import annotations

import time

import numpy as np
import pytest

from detectors.crisis import ExemplarScorer
from detectors.crisis.bank import load_bank
from detectors.evaluation import evaluate, held_out_rows

pytestmark = [pytest.mark.bench, pytest.mark.model]


class Silent:
    """Costs nothing and says nothing."""

    dimension = 384

    def encode(self, texts):
        return np.zeros((len(texts), self.dimension), dtype=np.float32)


def test_cost_beyond_the_encoder(engine, cache_dir):
    bank = load_bank(engine, cache_dir / "bank")
    texts = [row.text for row in held_out_rows()][:200]
    bare = ExemplarScorer(Silent(), bank)
    bare.score(texts[:5], [None] * 5)
    began = time.process_time()
    for text in texts:
        bare.score([text], [None])
    beyond = (time.process_time() - began) / len(texts)
    began = time.process_time()
    for text in texts:
        engine.encode([text])
    one_pass = (time.process_time() - began) / len(texts)
    print(
        f"\nbeyond the encoder {beyond * 1000:.1f} ms a text, one pass {one_pass * 1000:.1f} ms: {beyond / one_pass:.0%}"
    )
    assert beyond < one_pass


def test_held_out_families(engine, cache_dir):
    measured = evaluate(ExemplarScorer(engine, load_bank(engine, cache_dir / "bank")), held_out_rows())
    for name in ("all", "zh", "en"):
        one = measured[name]
        print(
            f"\n{name}: recall {one.recall.value:.3f} false alarms {one.false_alarms.value:.3f} "
            f"AUROC {one.auroc:.3f} level {one.exact_level.value:.3f}"
        )
    assert measured["all"].auroc > 0.75
