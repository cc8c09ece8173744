"""Scorers that say what a test tells them to, and keep count of what they were asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from detectors.finding import Level, ReplySignal, UserSignal
from tests.support.made_up_model import PASSES, WEIGHS, answered, asked

LOW, HIGH = -2.0, 2.0  # logits


class ScriptedUsers:
    """``weighs``: harmless by itself, grave for what follows; ``risky``; anything else is harmless."""

    def __init__(self, signals: Mapping[str, UserSignal] | None = None) -> None:
        self._signals = {
            "weighs": asked(WEIGHS, LOW),
            "risky": asked(PASSES, HIGH),
            "plan": asked(PASSES, HIGH, Level.PLAN_INTENT),
        } | dict(signals or {})
        self.calls: list[list[tuple[str, str | None]]] = []

    def score(self, texts: Sequence[str], langs: Sequence[str | None]) -> list[UserSignal]:
        self.calls.append(list(zip(texts, langs, strict=True)))
        return [self._signals.get(text, asked(PASSES, LOW)) for text in texts]

    @property
    def asked(self) -> list[tuple[str, str | None]]:
        return [one for call in self.calls for one in call]


class ScriptedReplies:
    """``weighs`` is grave for what follows, anything else passes."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str | None]] = []

    def score(
        self, texts: Sequence[str], langs: Sequence[str | None], regions: Sequence[str | None]
    ) -> list[ReplySignal]:
        self.asked += zip(texts, langs, strict=True)
        return [answered(WEIGHS if text == "weighs" else PASSES) for text in texts]
