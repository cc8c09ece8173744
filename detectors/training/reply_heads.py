"""The reply heads of an encoder: fitted on the judged replies that are not held out, within minutes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from detectors.encoder import load_engine, prepare
from detectors.encoder.adapter import read_adapter
from detectors.finding import EmotionNamed, Outcome
from detectors.ports import Encoder
from detectors.reply.features import features
from detectors.reply.fit import fit
from detectors.reply.heads import EMOTION, HARMFUL, NAMES, STRENGTH, Heads
from detectors.reply.scorer import PatternReplyScorer
from detectors.training.course import Progress
from detectors.training.example import ReplyLabels
from detectors.training.gather import spread
from detectors.training.replies import JudgedReply, read_replies

HEADS: Final = "heads.npz"  # in the directory of a finished training
_PART = 256  # replies at once


def settle_heads(
    model: Path,
    source: str | Path,
    cache: Path | None,
    target: Path,
    progress: Progress,
    limit: int | None = None,
) -> None:
    """Fit the heads of a trained model on our judged replies, as the int8 engine sees them, and write them.

    ``limit``: of how many replies, for a trial; evenly spread.
    """
    prepared = prepare(
        source, cache, lambda stage, done, total: progress(stage, done, total, {}), adapter=model
    )
    engine = load_engine("int8", prepared, lanes=2)
    replies = spread([one for one in read_replies() if not one.held_out], limit)
    save(fit_heads(replies, engine, name_of(model), progress), target)


def name_of(model: Path) -> str:
    """What the heads of a model are called, so that it shows when they are another's."""
    return f"int8 engine with the adapter {read_adapter(model).digest[:16]}"


def fit_heads(replies: Sequence[JudgedReply], encoder: Encoder, name: str, progress: Progress) -> Heads:
    """Fit on every reply given that says something. ``name`` tells the encoder; the heads mean nothing to another one."""
    spoken = [one for one in replies if one.text.strip()]
    vectors = []
    for start in range(0, len(spoken), _PART):
        part = spoken[start : start + _PART]
        vectors.append(encoder.encode([one.text for one in part]))
        progress("replies", start + len(part), len(spoken), {})
    signals = PatternReplyScorer().score(
        [one.text for one in spoken], [one.lang for one in spoken], [None] * len(spoken)
    )
    return fit(
        np.concatenate(vectors),
        [features(signal) for signal in signals],
        {head: [_truth(one.labels, head) for one in spoken] for head in NAMES},
        [one.family for one in spoken],
        name,
        lambda done, total: progress("reply heads", done, total, {}),
    )


def _truth(labels: ReplyLabels, head: str) -> bool | None:
    """What the first reader found; None for a flag on which the second one differs."""
    if head == HARMFUL:
        return labels.outcome is Outcome.HARMFUL
    if head == EMOTION:
        return labels.emotion_named is not EmotionNamed.NONE
    if head == STRENGTH:
        return labels.emotion_named is EmotionNamed.TYPE_AND_STRENGTH
    if head in labels.maybe:
        return None
    return head in labels.flags or head in labels.criteria


def save(heads: Heads, file: Path) -> None:
    """In the form that ``detectors.reply.heads.load`` reads."""
    np.savez(file, weights=heads.weights, bias=heads.bias, encoder=np.array(heads.encoder))
