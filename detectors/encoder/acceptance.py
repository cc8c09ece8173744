"""Weights other than those the model was trained on are used only once an evaluation on them has kept its floors."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from detectors.encoder.adapter import read_adapter
from detectors.encoder.errors import EncoderError
from detectors.encoder.prepare import Prepared


def record(prepared: Prepared, cache: Path) -> None:
    """Remember that an evaluation on these weights kept every floor."""
    cache.mkdir(parents=True, exist_ok=True)
    _place(prepared, cache).write_text(json.dumps({"weights": prepared.weights}), encoding="utf-8")


def check(prepared: Prepared, cache: Path) -> None:
    """See that the model may be used on these weights: those it was trained on, or others that were evaluated.

    Raises ``EncoderError`` saying what to do.
    """
    if prepared.adapter is None or prepared.weights == read_adapter(prepared.adapter).base:
        return
    if not _place(prepared, cache).exists():
        raise EncoderError(
            "the model was not trained on these encoder weights: run jiezhu evaluate with the same "
            "JIEZHU_ENCODER__SOURCE, which accepts them if every floor is kept, or set it to offline"
        )


def _place(prepared: Prepared, cache: Path) -> Path:
    """One for these weights and this very model: heads and bank are part of what was evaluated."""
    model = hashlib.sha256(prepared.adapter.read_bytes() if prepared.adapter else b"").hexdigest()[:16]
    return cache / f"accepted-{prepared.identity}-{model}.json"
