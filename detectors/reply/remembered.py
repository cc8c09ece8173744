"""Assistant messages as later turns are judged by them: a memory each, and no verdict."""

from __future__ import annotations

from collections.abc import Sequence

from detectors.crisis.memory import remember
from detectors.crisis.model import Model, load_model
from detectors.finding import ReplySignal
from detectors.ports import Encoder


class RememberedReplies:
    """A ``ReplyScorer`` for measuring what users' turns mean in context."""

    def __init__(self, encoder: Encoder, model: Model | None = None) -> None:
        self._encoder = encoder
        self._model = model or load_model()

    def score(
        self, texts: Sequence[str], langs: Sequence[str | None], regions: Sequence[str | None]
    ) -> list[ReplySignal]:
        """One signal for each message, in order."""
        del langs, regions
        if not texts:
            return []
        return [
            ReplySignal(memory=packed) for packed in remember(self._model, self._encoder.encode(list(texts)))
        ]
