from __future__ import annotations

import hashlib
from collections import Counter

import numpy as np
import pytest

from detectors.crisis.bank import load_bank, read_corpora
from detectors.crisis.fit import in_fitting_part
from detectors.crisis.policy import load_policy
from detectors.finding import CRISIS_LEVELS, Level


class HashEncoder:
    """Unit vectors from a hash of the text; counts what it was asked."""

    dimension = 16

    def __init__(self, salt: str = "") -> None:
        self.salt = salt
        self.asked = 0

    def encode(self, texts):
        self.asked += len(texts)
        rows = [
            np.frombuffer(hashlib.sha512((self.salt + text).encode()).digest()[:16], np.uint8)
            for text in texts
        ]
        out = np.array(rows, dtype=np.float32) - 127.5
        return out / np.linalg.norm(out, axis=1, keepdims=True)


def test_vectors_are_computed_once_for_an_encoder(tmp_path):
    first = HashEncoder()
    bank = load_bank(first, tmp_path)
    again = HashEncoder()
    kept = load_bank(again, tmp_path)
    assert first.asked > len(bank.exemplars)
    assert again.asked == 1  # the probe that tells encoders apart
    assert np.array_equal(bank.vectors, kept.vectors)


def test_another_encoder_has_vectors_of_its_own(tmp_path):
    load_bank(HashEncoder(), tmp_path)
    other = HashEncoder("other")
    load_bank(other, tmp_path)
    assert other.asked > 100


def test_a_damaged_cache_is_computed_again(tmp_path):
    bank = load_bank(HashEncoder(), tmp_path)
    kept = next(tmp_path.glob("bank-*.npy"))
    np.save(kept, np.zeros((3, 16), dtype=np.float32))
    assert load_bank(HashEncoder(), tmp_path).vectors.shape == bank.vectors.shape


def test_held_out_rows_are_no_exemplars(tmp_path):
    held = {row.text for row in read_corpora() if row.held_out}
    assert held.isdisjoint(row.text for row in load_bank(HashEncoder(), tmp_path).exemplars)


@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize("level", CRISIS_LEVELS)
def test_enough_exemplars_of_each_level(lang, level):
    rows = read_corpora()
    assert sum(row.lang == lang and row.level is level and not row.held_out for row in rows) >= 40


def test_enough_contrasts_over_the_kinds():
    kinds = Counter(row.kind for row in read_corpora() if row.level is Level.NONE and not row.held_out)
    assert sum(kinds.values()) >= 200
    assert len(kinds) >= 16
    assert min(kinds.values()) >= 20


def test_a_row_shows_no_text():
    row = read_corpora()[0]
    assert row.text not in repr(row)


def test_a_policy_that_forgets_a_level_is_refused(tmp_path):
    path = tmp_path / "policy.toml"
    path.write_text(
        "threshold = 0.5\nthreshold_other_language = 0.5\n[level_votes]\n[distress_floor]\nself_harm = 0.5\n[named_from]\n"
    )
    with pytest.raises(ValueError, match="passive_ideation is missing"):
        load_policy(path)


def test_three_fifths_are_fitted_on():
    share = sum(in_fitting_part(f"row-{i}") for i in range(2000)) / 2000
    assert 0.56 < share < 0.64
