"""Scorers that answer by a marker: the part of a text before ``|`` is the name of its signal (see builders).

So a test can say anything after the marker, a canary for instance. ``BREAKS`` raises, with the text in the
message, as a careless library would.
"""

from __future__ import annotations

from collections.abc import Sequence

from detectors.finding import ReplySignal, UserSignal
from detectors.fold import Unscored
from monitor.canary_event import SAID
from monitor.scoring import Scoring, Signal
from tests.support.builders import REPLIES, USERS

BREAKS = "breaks"
# what the canary says is the product's, and not a marker
_CANARY = {words: "crisis" for _, words, _ in SAID} | {words: "sleep tip" for _, _, words in SAID}


def _marker(text: str) -> str:
    marker = _CANARY.get(text) or text.partition("|")[0]
    if marker == BREAKS:
        raise ValueError(f"cannot take {text!r}")
    return marker


class ScriptedUsers:
    """A ``UserScorer``."""

    def __init__(self, *, remember: bool = True) -> None:
        self.calls: list[list[str]] = []
        self._remember = remember
        self.broken = False

    def score(self, texts: Sequence[str], langs: Sequence[str | None]) -> list[UserSignal]:
        if self._remember:
            self.calls.append(list(texts))
        if self.broken:
            raise OSError("the engine is gone")
        return [USERS.get(_marker(text), USERS["hello"]) for text, _ in zip(texts, langs, strict=True)]


class ScriptedReplies:
    """A ``ReplyScorer``."""

    def __init__(self, *, remember: bool = True) -> None:
        self.calls: list[list[str]] = []
        self._remember = remember

    def score(
        self, texts: Sequence[str], langs: Sequence[str | None], regions: Sequence[str | None]
    ) -> list[ReplySignal]:
        if self._remember:
            self.calls.append(list(texts))
        given = zip(texts, langs, regions, strict=True)
        return [REPLIES.get(_marker(text), REPLIES["chat"]) for text, _, _ in given]


class ScriptedScoring(Scoring):
    """On the loop, without a thread, so that a fake clock sees everything that runs."""

    def __init__(self) -> None:
        self.user_scorer = ScriptedUsers()
        self.reply_scorer = ScriptedReplies()
        super().__init__(self.user_scorer, self.reply_scorer)

    async def score(self, unscored: Sequence[Unscored]) -> list[Signal]:
        return self.score_now(unscored) if unscored else []
