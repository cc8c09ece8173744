"""Records of style become the sketch of an hour, and nothing in it leads back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from detectors.crisis.memory import Memory, pack
from detectors.crisis.model import LEVELS, load_model
from detectors.drift import packing
from detectors.drift.feature import FEATURES, Feature
from detectors.drift.stratum import State, Stratum
from detectors.drift.style import Style as Read
from monitor.drift.folding import BEFORE, CONVERSATIONS, Folding
from monitor.tally.cell import Style

LEVELS_OF = tuple(3 for _ in FEATURES)


def a_memory(seed: int = 0) -> str:
    trace = np.random.default_rng(seed).uniform(-1, 1, 48).astype(np.float32)
    return pack(Memory(trace, 0.0, np.zeros(len(LEVELS), dtype=np.float32)), load_model())


def a_style(mark: int, conversation: int = 1, **facts) -> Style:
    style = Style(
        state="none",
        level="none",
        distress=0.1,
        lang="en",
        style=Read(LEVELS_OF, (7, 9)).pack(),
        memory=a_memory(mark),
        phrases=("flag.template",),
        conversation=conversation,
        mark=mark,
    )
    return replace(style, **facts)


def test_each_reply_is_counted_in_the_state_of_whom_it_answers():
    packed = Folding()(
        None,
        [a_style(1), a_style(2, 2, level="plan_intent", lang="zh"), a_style(3, 3, distress=0.7, lang="sw")],
    )
    sketch = packing.unpack(packed)
    assert sketch.replies == sketch.conversations == 3
    assert {key: tally.replies for key, tally in sketch.strata.items()} == {
        Stratum(State.CALM, "en"): 1,
        Stratum(State.IMMINENT, "zh"): 1,
        Stratum(State.DISTRESSED, "other"): 1,
    }
    calm = sketch.strata[Stratum(State.CALM, "en")]
    assert calm.histograms[FEATURES.index(Feature.LENGTH), 3] == 1
    assert (calm.traced, calm.phrases.counts) == (1, {"flag.template": (1, 0)})


def test_replies_of_one_conversation_are_known_as_such_over_batches():
    folding = Folding()
    packed = folding(None, [a_style(1, 5), a_style(2, 6)])
    packed = folding(packed, [a_style(3, 5, earlier=1)])
    sketch = packing.unpack(packed)
    assert (sketch.replies, sketch.conversations, sketch.pairs) == (3, 2, 1)
    assert sum(pairs.pairs for pairs in sketch.linked.values()) == 1


def test_many_small_folds_come_to_the_bytes_of_one():
    styles = [a_style(n, n // 3, earlier=n % 3) for n in range(60)]
    folding, other = Folding(), Folding()
    other._secret = folding._secret
    packed = None
    for start in range(0, 60, 7):
        packed = folding(packed, styles[start : start + 7])
    assert packed == other(None, styles)


def test_what_was_added_up_in_vain_is_added_up_again_and_counted_once():
    """The row was not written: another had been elected. The same tallies come again."""
    folding, other = Folding(), Folding()
    other._secret = folding._secret
    first = folding(None, [a_style(1)])
    folding(first, [a_style(2, earlier=1), a_style(3, earlier=2)])
    again = folding(first, [a_style(2, earlier=1), a_style(3, earlier=2)])
    whole = other(other(None, [a_style(1)]), [a_style(2, earlier=1), a_style(3, earlier=2)])
    assert again == whole


def test_what_is_kept_cannot_be_led_back_to_a_conversation():
    styles = [a_style(n, 1_000 + n) for n in range(20)]
    one, other = packing.unpack(Folding()(None, styles)), packing.unpack(Folding()(None, styles))
    kept = [
        {name for tally in sketch.strata.values() for name in tally.sample.rows} for sketch in (one, other)
    ]
    assert len(kept[0]) == 20
    assert not kept[0] & ({style.conversation for style in styles} | kept[1])


@pytest.mark.parametrize("style", ["", "9abc", "1" + "z" * len(FEATURES)])
def test_a_style_of_another_reading_counts_for_nothing(style):
    assert packing.unpack(Folding()(None, [a_style(1, style=style), a_style(2, 2)])).replies == 1


def test_traces_of_another_model_are_left_out_and_the_rest_counts():
    older = replace(load_model(), mark=b"??")
    packed = Folding(older)(None, [a_style(1)])
    sketch = packing.unpack(Folding()(packed, [a_style(2, 2)]))
    assert (sketch.model, sketch.replies) == (b"??".hex(), 2)
    assert sum(tally.traced for tally in sketch.strata.values()) == 0


def test_an_hour_that_cannot_be_read_begins_anew():
    assert packing.unpack(Folding()(b"damaged", [a_style(1)])).replies == 1


def test_what_is_remembered_is_bounded():
    folding = Folding()
    folding(None, [a_style(n, n) for n in range(CONVERSATIONS + 50)])
    folding(None, [a_style(10_000 + n, 7) for n in range(BEFORE + 9)])
    assert len(folding._said) == CONVERSATIONS
    assert max(map(len, folding._said.values())) == BEFORE
