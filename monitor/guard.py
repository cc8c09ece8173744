"""Scoring that always answers: while the encoder hangs, raises or gives nonsense, explicit phrases decide (DESIGN §7).

What phrases alone decided is marked as degraded. A user turn in which they heard nothing is unscored, which is shown
and counted, and it stays so: its words are not kept (M7), so nobody can judge it anew once the encoder is back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import structlog

from alerts.ports import Clock
from detectors.crisis.phrases import ALONE, PhraseScorer
from detectors.encoder import BuildError, EncoderError, WeightsError
from detectors.finding import DEGRADED, Evidence, Level, ReplySignal, UserSignal
from detectors.fold import Unscored
from detectors.reply.scorer import PatternReplyScorer
from detectors.turn import Role
from monitor.background import in_background
from monitor.errors import ConfigurationError
from monitor.lanes import Lanes
from monitor.scoring import BROKEN_TURN, CONTROL, Part, Scoring, Signal

_log = structlog.get_logger(__name__)

_CONTROLS = tuple(Unscored("control", role, CONTROL, None, None) for role in (Role.USER, Role.ASSISTANT))
_HANGS, _BROKEN = "hangs", "broken"  # why an engine is of no use
_WHY = (Evidence(DEGRADED, ALONE),)


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds. ``still``: without any work done, before the engine counts as hanging; a text takes far less.

    ``load``: before reading begins without an engine. ``first`` and ``longest``: between attempts to get it back, doubled
    each time. ``tries``: of an engine that answered with errors, before a fresh one is loaded. ``hanging``: engines whose
    threads never came back that a process may hold; each keeps its memory, so then only a fresh process helps.
    """

    still: float = 10.0
    load: float = 300.0
    first: float = 2.0
    longest: float = 60.0
    tries: int = 2
    hanging: int = 2


class Guard:
    """``load`` makes the engine anew, blocking. ``failures`` counts the batches that were not wholly the engine's."""

    def __init__(
        self,
        load: Callable[[], Scoring],
        clock: Clock,
        *,
        sketch_key: bytes = b"",
        patience: Patience | None = None,
        up: Callable[[bool], None] = lambda _: None,
    ) -> None:
        self._load = load
        self._clock = clock
        self._patience = patience or Patience()
        self._up = up
        self._users = PhraseScorer(sketch_key)
        self._replies = PatternReplyScorer(sketch_key)
        self._phrases = Lanes(1, "phrases")
        self._engine: Scoring | None = None
        self._resting: Scoring | None = None  # failed, and may yet come round
        self._loading: asyncio.Task[Scoring] | None = None
        self._mending: asyncio.Task[None] | None = None
        self._left: list[Lanes] = []  # threads of engines that hung
        self.hanging_since: datetime | None = (
            None  # no engine since one hung: what a fresh process may put right
        )
        self.failures = 0

    @property
    def well(self) -> bool:
        return self._engine is not None

    async def start(self) -> None:
        """Load the engine. Raise what an operator has to put right; with anything else begin without it."""
        self._loading = self._begin_loading()
        try:
            done, _ = await asyncio.wait({self._loading}, timeout=self._patience.load)
            if done:
                fresh = self._loaded()
                if await self._answers(fresh):
                    self._use(fresh)
                    return
                self._resting = fresh if fresh.lanes not in self._left else None
                reason = "does_not_answer"
            else:
                reason = "loading_takes_long"
        except Exception as error:
            if _is_setup(error):
                raise
            # Out of memory, a damaged file: phrases are better than nobody.
            _log.error("encoder_not_loaded", **_told(error))
            reason = "not_loaded"
        self._lost(reason)

    async def score(self, unscored: Sequence[Unscored]) -> list[Signal]:
        """Return a signal for each text, in order; within ``Patience.still`` of the engine's last sign of life."""
        if not unscored:
            return []
        found: dict[int, Signal] = {}
        engine = self._engine
        if engine is not None:
            before = engine.failures
            found = await self._ask(engine, unscored)
            failed = engine.failures > before or len(found) < len(unscored)
        else:
            failed = True
            self._see_to_it()
        if failed:
            self.failures += 1
            left = [p for p in range(len(unscored)) if p not in found or found[p] is BROKEN_TURN]
            found.update(zip(left, await self._by_phrases([unscored[p] for p in left]), strict=True))
        return [found[place] for place in range(len(unscored))]

    async def close(self) -> None:
        for task in (self._mending, self._loading):
            if task is not None:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
        for engine in (self._engine, self._resting):
            if engine is not None:
                engine.close()
        self._phrases.close()

    async def _ask(self, engine: Scoring, unscored: Sequence[Unscored]) -> dict[int, Signal]:
        """What the engine could tell, by place. If that is not all, it is lost."""
        parts: list[Part] = []
        found: dict[int, Signal] = {}
        try:
            try:
                parts = engine.begin(unscored)
                reason = await self._await(engine, parts)
            except RuntimeError as error:  # no thread to be had
                _log.error("encoder_not_asked", error=type(error).__name__)
                reason = _BROKEN
            for part in parts:
                if part.signals.done() and part.signals.exception() is None:
                    found.update(zip(part.places, part.signals.result(), strict=True))
        finally:
            _leave(parts)
        if reason is not None and engine is self._engine:
            self._part_with(engine, hangs=reason == _HANGS)
            self._lost(reason)
        return found

    async def _await(self, engine: Scoring, parts: Sequence[Part]) -> str | None:
        """Wait for the parts; return why it was of no use, None if all are there."""
        pending: set[asyncio.Future[Sequence[Signal]]] = {part.signals for part in parts}
        while pending:
            left = self._patience.still - engine.pulse.still_for
            if left <= 0:
                return _HANGS
            done, pending = await asyncio.wait(pending, timeout=left, return_when=asyncio.FIRST_EXCEPTION)
            if any(one.exception() is not None for one in done):
                return _BROKEN
        return None

    async def _answers(self, engine: Scoring) -> bool:
        """Whether it scores a harmless text. One that hangs at it is given up."""
        parts = engine.begin(_CONTROLS)
        try:
            reason = await self._await(engine, parts)
        finally:
            _leave(parts)
        if reason == _HANGS:
            self._give_up(engine)
        return reason is None

    async def _by_phrases(self, unscored: Sequence[Unscored]) -> list[Signal]:
        """In a thread of their own, and with an end: what hung the engine may be in a text, and hang them, too."""
        try:
            work = self._phrases.submit(lambda: [self._phrase(item) for item in unscored])
        except RuntimeError as error:  # no thread to be had
            _log.error("phrases_failed", error=type(error).__name__, texts=len(unscored))
            return [_unjudged(item.role) for item in unscored]
        done, _ = await asyncio.wait({work}, timeout=self._patience.still)
        if done and work.exception() is None:
            return work.result()
        _log.error("phrases_failed", texts=len(unscored))
        if not done:
            work.cancel()
            self._phrases.close()
            self._phrases = Lanes(1, "phrases")
        return [_unjudged(item.role) for item in unscored]

    def _phrase(self, item: Unscored) -> Signal:
        try:
            if item.role is Role.USER:
                return self._users.score([item.text], [item.lang])[0]
            signal = self._replies.score([item.text], [item.lang], [item.region])[0]
            return signal if signal.empty else replace(signal, evidence=(*signal.evidence, *_WHY))
        except Exception as error:  # noqa: BLE001 - its message may hold the words
            _log.error("phrases_failed", error=type(error).__name__, texts=1)
            return _unjudged(item.role)

    def _part_with(self, engine: Scoring, *, hangs: bool) -> None:
        self._engine = None
        if hangs:
            self._give_up(engine)
        else:
            self._resting = engine

    def _give_up(self, engine: Scoring) -> None:
        """Its threads may never come back: they are left behind, and so is the memory they hold."""
        engine.close()
        self._left.append(engine.lanes)
        self.hanging_since = self.hanging_since or self._clock.now()

    def _hanging(self) -> int:
        """How many are still in there. A hang that passed (a disk that stood still) must not count for good."""
        self._left = [lanes for lanes in self._left if lanes.alive]
        return len(self._left)

    def _lost(self, reason: str) -> None:
        _log.error("encoder_failing", reason=reason, hanging=self._hanging())
        self._up(False)
        self._see_to_it()

    def _see_to_it(self) -> None:
        if self._engine is None and (self._mending is None or self._mending.done()):
            self._mending = asyncio.create_task(self._mend(), name="mending")

    def _use(self, engine: Scoring) -> None:
        self._engine = engine
        self.hanging_since = None
        self._up(True)

    async def _mend(self) -> None:
        """Try to get an engine back: the one that failed, then a fresh one, for as long as it takes."""
        wait, tries = self._patience.first, 0
        while self._engine is None:
            await asyncio.sleep(wait)
            wait = min(wait * 2, self._patience.longest)
            tries += 1
            try:
                engine = await (self._fresh() if self._resting is None else self._again(self._resting, tries))
            except Exception as error:  # noqa: BLE001 - no thread to be had, say: it must not be the last attempt
                _log.error("encoder_not_mended", **_told(error))
                continue
            if engine is not None:
                self._use(engine)
                _log.warning("encoder_back", tries=tries)

    async def _again(self, engine: Scoring, tries: int) -> Scoring | None:
        try:
            answers = await self._answers(engine)
        except Exception:
            self._rest_no_more(engine)  # what it was lost for may be a fresh one's gain
            raise
        if answers:
            self._resting = None
            return engine
        if tries >= self._patience.tries or engine.lanes in self._left:
            self._rest_no_more(engine)
        return None

    def _rest_no_more(self, engine: Scoring) -> None:
        engine.close()
        self._resting = None  # so that its memory is free before another is loaded

    async def _fresh(self) -> Scoring | None:
        if self._hanging() > self._patience.hanging:
            return None
        if self._loading is None:
            self._loading = self._begin_loading()
        done, _ = await asyncio.wait({self._loading}, timeout=self._patience.load)
        if not done:
            self.hanging_since = self.hanging_since or self._clock.now()
            return None
        try:
            engine = self._loaded()
        except Exception as error:  # noqa: BLE001 - it is tried again
            _log.error("encoder_not_loaded", **_told(error))
            return None
        answers = False
        try:
            answers = await self._answers(engine)
        finally:
            if not answers:
                engine.close()
        return engine if answers else None

    def _begin_loading(self) -> asyncio.Task[Scoring]:
        return asyncio.create_task(in_background(self._load), name="encoder")

    def _loaded(self) -> Scoring:
        loading, self._loading = self._loading, None
        if loading is None:
            raise RuntimeError("nothing was being loaded; begin loading first")
        return loading.result()


def _leave(parts: Sequence[Part]) -> None:
    """What has not begun is not begun any more, and nobody asks for what is under way."""
    for part in parts:
        if not part.signals.cancel() and not part.signals.cancelled():
            part.signals.exception()


def _is_setup(error: Exception) -> bool:
    """What an operator has to put right: a worker that cannot start says so and ends, as for any other setting."""
    if isinstance(error, (WeightsError, BuildError)):
        return False
    return isinstance(error, (ConfigurationError, EncoderError))


def _told(error: Exception) -> dict[str, str]:
    """Only the encoder's own messages: they are about files, and say what to do."""
    if isinstance(error, EncoderError):
        return {"error": type(error).__name__, "problem": str(error)}
    return {"error": type(error).__name__}


def _unjudged(role: Role) -> UserSignal | ReplySignal:
    if role is Role.USER:
        return UserSignal(Level.UNSCORED, 0.0, 0.0, evidence=_WHY)
    return ReplySignal(failed=True, evidence=_WHY)
