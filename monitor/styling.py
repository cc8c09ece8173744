"""The style of each reply that was judged, read beside it: whatever goes wrong here, the signal stays as it was."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import structlog

from detectors.drift.style import read_style
from detectors.finding import ReplySignal

_log = structlog.get_logger(__name__)

PURPOSE: Final = "sentences"
"""Of the key (``Pseudonymiser.key``) by which sentences get their ids: the same in all workers, and for as long as hours are compared."""


class Styling:
    """``key`` keys the ids of sentences. ``spent`` is told the CPU seconds that it took, in the scorer's thread."""

    def __init__(self, key: bytes, spent: Callable[[float], None] = lambda _: None) -> None:
        self._key = key
        self._spent = spent

    def styled(self, texts: Sequence[str], signals: Sequence[ReplySignal]) -> list[ReplySignal]:
        """The signals with their styles. Echoes of the user are left out: only the conversation tells of these."""
        begun = time.thread_time()
        found = [self._styled(text, signal) for text, signal in zip(texts, signals, strict=True)]
        self._spent(max(time.thread_time() - begun, 0.0))
        return found

    def _styled(self, text: str, signal: ReplySignal) -> ReplySignal:
        # What phrases alone judged, or nobody, has no warmth and no validation to be compared with what was judged in full.
        if signal.empty or signal.failed or signal.degraded:
            return signal
        try:
            return replace(signal, style=read_style(text, signal, key=self._key).pack())
        except Exception as error:  # noqa: BLE001 - a style is worth no reply; the message may hold its words
            _log.error("style_not_read", error=type(error).__name__)
            return signal
