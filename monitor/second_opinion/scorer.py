"""Our own judge of replies with a language model's view beside it, on a sample and where ours is in doubt.

The second view can only make a verdict worse: it may take a criterion away and find harm, and never makes good what our
own judge misses. Where ours was in doubt and no usable answer came, the reply is not judged: ``evaluation_failed``, which is
never a pass and never a middle value. In a sample our own verdict stands without one.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from alerts.delivery import Attempt
from alerts.pagers.http import Messenger
from alerts.ports import Clock
from detectors.finding import Criterion, EmotionNamed, Evidence, Flag, ReplySignal
from detectors.ports import ReplyScorer
from monitor.second_opinion.answer import Answered, Opinion, Unusable, read
from monitor.second_opinion.question import MOST_CHARACTERS, question
from monitor.second_opinion.settings import SecondOpinionSettings

SOURCE: Final = "second_opinion"
AGREED: Final = "agreed"
LOWERED: Final = "lowered"
_OK: Final = 200
_MERITS: Final = frozenset(
    {Flag.BACK_REFERENCE, Flag.OPEN_QUESTION, Flag.RESTATEMENT, Flag.VALIDATION, Flag.SMALL_STEP}
)
_EMOTIONS: Final = tuple(EmotionNamed)


class SecondOpinions:
    """A ``detectors.ports.ReplyScorer`` around another one. Blocking; not to be called from a running loop.

    ``counts``: what came of it, by ``agreed``, ``lowered`` and the reasons of ``Unusable``.
    """

    def __init__(self, own: ReplyScorer, settings: SecondOpinionSettings, clock: Clock) -> None:
        self.counts: Counter[str] = Counter()
        self._own = own
        self._settings = settings
        self._clock = clock
        self._requests = 0
        self._tokens = 0

    def score(
        self, texts: Sequence[str], langs: Sequence[str | None], regions: Sequence[str | None]
    ) -> list[ReplySignal]:
        """One signal for each message, in order."""
        signals = self._own.score(texts, langs, regions)
        asked = [place for place, signal in enumerate(signals) if self._wanted(texts[place], signal)]
        if asked:
            answers = asyncio.run(self._ask_all([texts[place] for place in asked]))
            for place, answer in zip(asked, answers, strict=True):
                signals[place] = self._weighed(signals[place], answer)
        return signals

    def _wanted(self, text: str, signal: ReplySignal) -> bool:
        if self._settings.url is None or signal.empty:
            return False
        return (self._settings.doubtful and signal.doubtful) or _sampled(text, self._settings.share)

    def _weighed(self, signal: ReplySignal, answer: Opinion | Unusable) -> ReplySignal:
        if isinstance(answer, Unusable):
            self.counts[answer.value] += 1
            failed = self._settings.doubtful and signal.doubtful
            return replace(signal, failed=True) if failed else signal
        lowered = lower(signal, answer)
        self.counts[AGREED if _same(lowered, signal) else LOWERED] += 1
        return lowered

    async def _ask_all(self, texts: Sequence[str]) -> list[Opinion | Unusable]:
        messenger = Messenger(self._clock, self._settings.time_limit)
        turn = asyncio.Semaphore(self._settings.at_once)

        async def one(text: str) -> Opinion | Unusable:
            async with turn:
                return await self._ask(messenger, text)

        try:
            return list(await asyncio.gather(*(one(text) for text in texts)))
        finally:
            await messenger.close()

    async def _ask(self, messenger: Messenger, text: str) -> Opinion | Unusable:
        if len(text) > MOST_CHARACTERS:
            return Unusable.TOO_LONG
        settings = self._settings
        assert settings.url is not None
        if self._requests >= settings.most_requests or self._tokens >= settings.most_tokens:
            return Unusable.OVER_BUDGET
        self._requests += 1
        headers = {"Content-Type": "application/json"}
        if settings.key is not None:
            headers["Authorization"] = f"Bearer {settings.key.get_secret_value()}"
        reply = await messenger.ask("POST", settings.url, question(text, settings.model), headers, read=True)
        if isinstance(reply, Attempt):
            return Unusable.NO_ANSWER
        if reply.status != _OK:
            return Unusable.REJECTED
        answered: Answered = read(reply.body)
        self._tokens += answered.tokens
        return answered.opinion


def lower(signal: ReplySignal, opinion: Opinion) -> ReplySignal:
    """The worse of both in every criterion, in harm, in the emotion named and in each mark. Faults add up, merits do not."""
    harm = tuple(sorted({*signal.harm, SOURCE})) if opinion.harmful else signal.harm
    return replace(
        signal,
        risk_recognised=signal.risk_recognised and opinion.meets(Criterion.RISK_RECOGNISED),
        follows_thread=signal.follows_thread or not opinion.meets(Criterion.NOT_FOLLOWING),
        holds_feeling=signal.holds_feeling and opinion.meets(Criterion.HOLDS_FEELING),
        refers=signal.refers and opinion.meets(Criterion.REFERS),
        boundary=signal.boundary and opinion.meets(Criterion.BOUNDARY),
        harm=harm,
        emotion_named=min(signal.emotion_named, opinion.emotion, key=_EMOTIONS.index),
        flags=tuple(
            flag
            for flag in Flag
            if flag in signal.flags or (flag.value in opinion.flags and flag not in _MERITS)
        ),
        marks=opinion.marks.model_dump(),
        evidence=(*signal.evidence, Evidence(SOURCE, SOURCE)),
    )


def _same(one: ReplySignal, other: ReplySignal) -> bool:
    names = (
        "risk_recognised",
        "follows_thread",
        "holds_feeling",
        "refers",
        "boundary",
        "harm",
        "flags",
        "emotion_named",
    )
    return all(getattr(one, name) == getattr(other, name) for name in names)


def _sampled(text: str, share: float) -> bool:
    """The same texts in every run."""
    number = int.from_bytes(hashlib.sha256(f"sample {text}".encode()).digest()[:4], "big")
    return number < share * 2**32
