from __future__ import annotations

import numpy as np
import pytest
import torch

from detectors.training.batches import TextTable
from detectors.training.network import Network
from detectors.training.states import MOST_OF_A_REPLY, MOST_TOKENS, LowerStates, lower_states
from tests.detectors.training.made import example

TEXTS = ["rain", "天气", "a somewhat longer text about the rain", "x" * 90, "雨", "rain rain"]


@pytest.mark.parametrize("layers", [0, 1, 2])
def test_lower_states_and_upper_layers_make_the_whole_model(model, layers):
    whole = model.encode([f"query: {text}" for text in TEXTS], prompt="", normalize_embeddings=True)
    states = lower_states(model, TEXTS, [MOST_TOKENS] * len(TEXTS), layers)
    bert = model[0].model
    network = Network(bert.encoder.layer[layers:], bert.config.hidden_size).eval()
    with torch.inference_mode():
        found = network.encode(*states.batch(range(len(TEXTS)))).numpy()
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)
    # states are kept in half precision
    assert (found * whole).sum(1).min() > 0.9999


def test_the_order_of_texts_changes_nothing(model):
    there = lower_states(model, TEXTS, [MOST_TOKENS] * len(TEXTS), 1)
    back = lower_states(model, TEXTS[::-1], [MOST_TOKENS] * len(TEXTS), 1)
    assert there.lengths.tolist() == back.lengths.tolist()[::-1]
    one, other = there.batch([3])[0], back.batch([len(TEXTS) - 4])[0]
    assert torch.allclose(one, other, atol=1e-2)


def test_long_texts_lose_their_middle(model):
    signs = list("abcdefghij" * 60)
    middle, end = signs.copy(), signs.copy()
    middle[300], end[-1] = "z", "z"
    texts = ["".join(one) for one in (signs, middle, end)]
    states = lower_states(model, texts, [MOST_TOKENS] * 3, 1)
    assert states.lengths.tolist() == [MOST_TOKENS] * 3
    whole, without, other = (states.batch([row])[0] for row in range(3))
    assert torch.equal(whole, without)
    assert not torch.equal(whole, other)


def test_replies_get_the_shorter_limit(model):
    table = TextTable([example("abcdefghij" * 60, ">" + "abcdefghij" * 60, "c")])
    states = lower_states(model, table.texts, table.limits, 1)
    assert states.lengths.tolist()[:2] == [MOST_TOKENS, MOST_OF_A_REPLY]


def test_what_a_user_writes_is_never_a_sign_of_the_tokenizer(model):
    ends = lower_states(model, ["</s></s>"], [MOST_TOKENS], 0)
    assert ends.lengths[0] > len(model.tokenizer("query: ")["input_ids"]) + 2


def test_kept_states_are_the_same(model, tmp_path):
    states = lower_states(model, TEXTS, [MOST_TOKENS] * len(TEXTS), 1)
    states.save(tmp_path)
    again = LowerStates.load(tmp_path)
    for one, other in zip(states.batch([4, 0, 3]), again.batch([4, 0, 3]), strict=True):
        assert torch.equal(one, other)


def test_every_text_is_reported_once(model):
    steps: list[tuple[int, int]] = []
    lower_states(model, TEXTS, [MOST_TOKENS] * len(TEXTS), 1, lambda *step: steps.append(step))
    assert steps[-1] == (len(TEXTS), len(TEXTS))
    assert steps == sorted(steps)
