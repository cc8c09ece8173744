"""What judging a reply costs beyond its pass through the encoder: phrases, heads, relations, outcome and marks."""

from __future__ import annotations

import os

import pytest

from detectors.crisis import TrainedScorer
from detectors.reply.encoded import EncodedReplyScorer
from detectors.scales.answer import answers
from detectors.scales.scale_a import marks_a
from detectors.scales.scale_b import marks_b
from detectors.training.replies import read_replies
from tests.benchmarks.spent import Spent

pytestmark = [pytest.mark.bench, pytest.mark.model, pytest.mark.timeout(1800)]

REPLIES = 480
BATCH = 48
MOST = 0.20  # of the encoder's time


def test_what_judging_adds_to_the_encoder(engine):
    """The same replies through both, batch by batch and turn about: a slow moment of the machine slows both."""
    held = [one for one in read_replies() if one.held_out and one.text.strip()]
    rows = held[:: max(1, len(held) // REPLIES)][:REPLIES]
    scorer = EncodedReplyScorer(engine)
    users = TrainedScorer(engine).score([one.asked for one in rows], [one.lang for one in rows])
    bare, whole = Spent(), Spent()
    for number, start in enumerate(range(0, len(rows), BATCH)):
        batch = rows[start : start + BATCH]
        texts, langs = [one.text for one in batch], [one.lang for one in batch]
        for turn in range(2):
            if (turn + number) % 2 == 0:
                with bare:
                    engine.encode(texts)
            else:
                with whole:
                    signals = scorer.score(texts, langs, [None] * len(texts))
                    for user, signal in zip(users[start : start + BATCH], signals, strict=True):
                        (answer,) = answers([user, signal])
                        marks_a(answer)
                        marks_b(answer)
    added = whole.wall / bare.wall - 1
    print(
        f"\nencoder {1000 * bare.wall / len(rows):.2f} ms a reply, judged {1000 * whole.wall / len(rows):.2f} ms: "
        f"{100 * added:.1f} % more, {100 * (whole.cpu / bare.cpu - 1):.1f} % of CPU; load {os.getloadavg()[0]:.1f}"
    )
    assert added <= MOST
