"""Detection off the event loop, in two threads that take turns at the engine; what cannot be scored stays by itself."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import structlog

from detectors.finding import Level, ReplySignal, UserSignal
from detectors.fold import Unscored
from detectors.ports import Encoder, ReplyScorer, UserScorer, Vectors
from detectors.turn import Role

Signal = UserSignal | ReplySignal
S = TypeVar("S", UserSignal, ReplySignal)

_log = structlog.get_logger(__name__)
_CONTROL = "hello"
PART = 16  # texts: small enough to overlap within a batch, large enough for one matrix product a part


class Scoring:
    """Inline model work stalls the loop for tens of seconds and costs the group membership (DESIGN §7).

    ``failures`` counts the batches in which a text could not be scored.
    """

    def __init__(self, users: UserScorer, replies: ReplyScorer) -> None:
        self.users: UserScorer = _Users(users, self._failed)
        self.replies: ReplyScorer = _Replies(replies, self._failed)
        self.failures = 0
        self._threads = ThreadPoolExecutor(2, "scoring")

    async def score(self, unscored: Sequence[Unscored]) -> list[Signal]:
        """Return a signal for each text, in order. One part is read for patterns while another is encoded."""
        loop = asyncio.get_running_loop()
        parts = [
            (role, side[start : start + PART])
            for role, side in _sides(unscored).items()
            for start in range(0, len(side), PART)
        ]
        found = await asyncio.gather(
            *(loop.run_in_executor(self._threads, self._side, role, part) for role, part in parts)
        )
        signals: dict[Role, list[Signal]] = {role: [] for role, _ in parts}
        for (role, _), some in zip(parts, found, strict=True):
            signals[role] += some
        return _in_order(unscored, signals)

    def score_now(self, unscored: Sequence[Unscored]) -> list[Signal]:
        """Do it here and now (replay, command line)."""
        found = {role: self._side(role, side) for role, side in _sides(unscored).items()}
        return _in_order(unscored, found)

    def _side(self, role: Role, side: Sequence[Unscored]) -> Sequence[Signal]:
        texts, langs = [item.text for item in side], [item.lang for item in side]
        if role is Role.USER:
            return self.users.score(texts, langs)
        return self.replies.score(texts, langs, [item.region for item in side])

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _failed(self) -> None:
        self.failures += 1


def _sides(unscored: Sequence[Unscored]) -> dict[Role, list[Unscored]]:
    """Users' texts and replies; a side without any is left out."""
    sides: dict[Role, list[Unscored]] = {}
    for item in unscored:
        sides.setdefault(item.role, []).append(item)
    return sides


def _in_order(unscored: Sequence[Unscored], found: Mapping[Role, Iterable[Signal]]) -> list[Signal]:
    rest = {role: iter(signals) for role, signals in found.items()}
    return [next(rest[item.role]) for item in unscored]


class OneAtATime:
    """An ``Encoder`` for both threads: it takes no more of the machine than its setting allows."""

    def __init__(self, encoder: Encoder) -> None:
        self.dimension = encoder.dimension
        self._encoder = encoder
        self._free = threading.Lock()

    def encode(self, texts: Sequence[str]) -> Vectors:
        with self._free:
            return self._encoder.encode(texts)


class _Users:
    """A turn that breaks the scorer is unscored: shown, never taken for safe."""

    def __init__(self, scorer: UserScorer, failed: Callable[[], None]) -> None:
        self._scorer = scorer
        self._failed = failed

    def score(self, texts: Sequence[str], langs: Sequence[str | None]) -> list[UserSignal]:
        def some(places: Sequence[int]) -> list[UserSignal]:
            return self._scorer.score([texts[i] for i in places], [langs[i] for i in places])

        return _each(
            len(texts),
            some,
            lambda: self._scorer.score([_CONTROL], [None]),
            UserSignal(Level.UNSCORED, 0.0, 0.0),
            self._failed,
        )


class _Replies:
    """A reply that breaks the judge is not handled (R31)."""

    def __init__(self, scorer: ReplyScorer, failed: Callable[[], None]) -> None:
        self._scorer = scorer
        self._failed = failed

    def score(
        self, texts: Sequence[str], langs: Sequence[str | None], regions: Sequence[str | None]
    ) -> list[ReplySignal]:
        def some(places: Sequence[int]) -> list[ReplySignal]:
            return self._scorer.score(
                [texts[i] for i in places], [langs[i] for i in places], [regions[i] for i in places]
            )

        return _each(
            len(texts),
            some,
            lambda: self._scorer.score([_CONTROL], [None], [None]),
            ReplySignal(supported=False),
            self._failed,
        )


def _each(
    count: int,
    some: Callable[[Sequence[int]], list[S]],
    control: Callable[[], object],
    instead: S,
    failed: Callable[[], None],
) -> list[S]:
    """All at once; if that fails, one by one, so that one text never stops the others.

    If none can be scored, and a harmless text neither, the scorer is broken and not the texts: that goes up,
    and the batch waits. Messages of exceptions are dropped, as they may hold the words.
    """
    try:
        return some(range(count))
    except Exception as error:  # noqa: BLE001 - see above
        _log.error("scorer_failed", error=type(error).__name__, texts=count)
    failed()
    found: list[S | None] = []
    for place in range(count):
        try:
            found += some([place])
        except Exception:  # noqa: BLE001 - see above
            found.append(None)
    if all(signal is None for signal in found):
        try:
            control()
        except Exception as error:  # noqa: BLE001 - see above
            raise RuntimeError(f"the scorer is broken ({type(error).__name__})") from None
    return [instead if signal is None else signal for signal in found]
