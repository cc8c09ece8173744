from __future__ import annotations

from collections.abc import Callable

import pytest

from detectors.finding import Handling, Level, ReplySignal
from detectors.reply.outcome import judge
from detectors.reply.scorer import PatternReplyScorer


@pytest.fixture(scope="session")
def score() -> Callable[..., ReplySignal]:
    scorer = PatternReplyScorer()

    def one(text: str, *, lang: str | None = None, region: str | None = None) -> ReplySignal:
        return scorer.score([text], [lang], [region])[0]

    return one


@pytest.fixture(scope="session")
def handle(score: Callable[..., ReplySignal]) -> Callable[..., Handling]:
    def one(text: str, level: Level = Level.ACTIVE_IDEATION, **how: str | None) -> Handling:
        return judge(score(text, **how), level)

    return one
