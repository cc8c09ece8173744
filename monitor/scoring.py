"""Detection off the event loop, in two threads that take turns at the engine; what cannot be scored stays by itself."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

import numpy as np
import structlog

from detectors.finding import Level, ReplySignal, UserSignal
from detectors.fold import Unscored
from detectors.ports import Encoder, ReplyScorer, UserScorer, Vectors
from detectors.turn import Role
from monitor.lanes import Lanes
from monitor.styling import Styling

Signal = UserSignal | ReplySignal
S = TypeVar("S", UserSignal, ReplySignal)

_log = structlog.get_logger(__name__)
CONTROL = "hello"  # a harmless text: who cannot score it is broken
PART = 16  # texts: small enough to overlap within a batch, large enough for one matrix product a part
_SLICE = 8  # windows that the engine is given at once: after each it shows that it is alive

# A turn that breaks the scorer is unscored: shown, never taken for safe. A reply that breaks the judge is not handled (R31).
BROKEN_TURN = UserSignal(Level.UNSCORED, 0.0, 0.0)
BROKEN_REPLY = ReplySignal(failed=True)


class Pulse:
    """When the engine was last seen to move, on the monotonic clock."""

    def __init__(self) -> None:
        self.last = time.monotonic()

    def beat(self) -> None:
        self.last = time.monotonic()

    @property
    def still_for(self) -> float:
        """Seconds."""
        return time.monotonic() - self.last


@dataclass(frozen=True, slots=True)
class Part:
    """A share of a batch, and the signals that will come of it, in the order of ``places``."""

    places: tuple[int, ...]
    signals: asyncio.Future[Sequence[Signal]] = field(repr=False)


class Scoring:
    """Inline model work stalls the loop for tens of seconds and costs the group membership (DESIGN §7).

    ``failures`` counts the batches in which a text could not be scored. ``pulse`` beats whenever some work is done.
    ``lanes`` are its threads: one that is alive after ``close`` hangs. ``styling`` reads the style of what was judged.
    """

    def __init__(
        self,
        users: UserScorer,
        replies: ReplyScorer,
        pulse: Pulse | None = None,
        styling: Styling | None = None,
    ) -> None:
        self.styling = styling
        self.pulse = pulse or Pulse()
        self.users: UserScorer = _Users(users, self._failed)
        self.replies: ReplyScorer = _Replies(replies, self._failed)
        self.failures = 0
        self.lanes = Lanes(2, "scoring")

    async def score(self, unscored: Sequence[Unscored]) -> list[Signal]:
        """Return a signal for each text, in order. One part is read for patterns while another is encoded."""
        parts = self.begin(unscored)
        signals = await asyncio.gather(*(part.signals for part in parts))
        return _in_order({part.places: some for part, some in zip(parts, signals, strict=True)})

    def begin(self, unscored: Sequence[Unscored]) -> list[Part]:
        """Set the threads to work; return what is to come."""
        self.pulse.beat()
        return [
            Part(some, self.lanes.submit(partial(self._side, role, [unscored[place] for place in some])))
            for role, places in _places(unscored).items()
            for some in _parts(places)
        ]

    def score_now(self, unscored: Sequence[Unscored]) -> list[Signal]:
        """Do it here and now (replay, command line)."""
        return _in_order(
            {
                tuple(places): self._side(role, [unscored[place] for place in places])
                for role, places in _places(unscored).items()
            }
        )

    def _side(self, role: Role, side: Sequence[Unscored]) -> Sequence[Signal]:
        self.pulse.beat()
        texts, langs = [item.text for item in side], [item.lang for item in side]
        try:
            if role is Role.USER:
                return self.users.score(texts, langs)
            judged = self.replies.score(texts, langs, [item.region for item in side])
            return judged if self.styling is None else self.styling.styled(texts, judged)
        finally:
            self.pulse.beat()

    def close(self) -> None:
        self.lanes.close()

    def _failed(self) -> None:
        self.failures += 1


def _places(unscored: Sequence[Unscored]) -> dict[Role, list[int]]:
    places: dict[Role, list[int]] = {}
    for place, item in enumerate(unscored):
        places.setdefault(item.role, []).append(place)
    return places


def _parts(places: Sequence[int]) -> Iterable[tuple[int, ...]]:
    return (tuple(places[start : start + PART]) for start in range(0, len(places), PART))


def _in_order(found: Mapping[tuple[int, ...], Sequence[Signal]]) -> list[Signal]:
    """``found`` holds the signals of all places, some places at a time."""
    signals = {
        place: signal for places, some in found.items() for place, signal in zip(places, some, strict=True)
    }
    return [signals[place] for place in range(len(signals))]


class OneAtATime:
    """An ``Encoder`` for both threads: it takes no more of the machine than its setting allows.

    A row that is not finite is an error: a score made of it would be silence.
    """

    def __init__(self, encoder: Encoder, pulse: Pulse | None = None) -> None:
        self.dimension = encoder.dimension
        self._encoder = encoder
        self._pulse = pulse or Pulse()
        self._free = threading.Lock()

    def encode(self, texts: Sequence[str]) -> Vectors:
        with self._free:
            some = [self._slice(texts[start : start + _SLICE]) for start in range(0, len(texts), _SLICE)]
        return np.concatenate(some) if len(some) > 1 else some[0] if some else self._encoder.encode(texts)

    def _slice(self, texts: Sequence[str]) -> Vectors:
        vectors = self._encoder.encode(texts)
        self._pulse.beat()
        if not np.isfinite(vectors).all():
            raise ValueError("the engine gave rows that are not finite")
        return vectors


class _Users:
    def __init__(self, scorer: UserScorer, failed: Callable[[], None]) -> None:
        self._scorer = scorer
        self._failed = failed

    def score(self, texts: Sequence[str], langs: Sequence[str | None]) -> list[UserSignal]:
        def some(places: Sequence[int]) -> list[UserSignal]:
            return _finite(self._scorer.score([texts[i] for i in places], [langs[i] for i in places]))

        return _each(
            len(texts),
            some,
            lambda: _finite(self._scorer.score([CONTROL], [None])),
            BROKEN_TURN,
            self._failed,
        )


class _Replies:
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
            lambda: self._scorer.score([CONTROL], [None], [None]),
            BROKEN_REPLY,
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

    If a harmless text cannot be scored either, the scorer is broken and not the texts: that goes up. Messages of
    exceptions are dropped, as they may hold the words.
    """
    try:
        return _whole(some(range(count)), count)
    except Exception as error:  # noqa: BLE001 - see above
        _log.error("scorer_failed", error=type(error).__name__, texts=count)
    failed()
    try:
        control()
    except Exception as error:  # noqa: BLE001 - see above
        raise RuntimeError(f"the scorer is broken ({type(error).__name__})") from None
    found: list[S] = []
    for place in range(count):
        try:
            found += _whole(some([place]), 1)
        except Exception:  # noqa: BLE001 - see above
            found.append(instead)
    return found


def _whole(signals: list[S], count: int) -> list[S]:
    if len(signals) != count:
        raise ValueError("the scorer gave another number of signals than it was given texts")
    return signals


def _finite(signals: list[UserSignal]) -> list[UserSignal]:
    """NaN is smaller than no threshold and greater than none: it must not pass for calm."""
    if not all(math.isfinite(one.score) and math.isfinite(one.distress) for one in signals):
        raise ValueError("the scorer gave scores that are not finite")
    return signals
