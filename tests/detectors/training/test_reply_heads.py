from __future__ import annotations

import numpy as np

from detectors.finding import Criterion
from detectors.reply.features import WIDTH
from detectors.reply.heads import NAMES
from detectors.training.replies import read_replies
from detectors.training.reply_heads import fit_heads, save
from tests.support.made_up_model import DIMENSION, HashedTexts


def test_heads_are_fitted_on_what_was_said_and_can_be_read_again(tmp_path):
    some = [one for one in read_replies() if not one.held_out][:300]
    stages: dict[str, int] = {}
    heads = fit_heads(
        some, HashedTexts(), "made up", lambda stage, done, _total, _losses: stages.update({stage: done})
    )
    assert heads.weights.shape == (len(NAMES), DIMENSION + WIDTH)
    assert stages == {"replies": sum(bool(one.text.strip()) for one in some), "reply heads": len(NAMES)}
    save(heads, tmp_path / "heads.npz")
    with np.load(tmp_path / "heads.npz", allow_pickle=False) as kept:
        assert np.array_equal(kept["weights"], heads.weights)
        assert str(kept["encoder"]) == "made up"


def test_a_head_follows_what_phrases_found():
    some = [one for one in read_replies() if not one.held_out][:300]
    heads = fit_heads(some, HashedTexts(), "made up", lambda *_: None)
    for place, name in enumerate(NAMES[:4]):
        assert name in set(Criterion)
        assert heads.weights[place, DIMENSION + place] > 0
