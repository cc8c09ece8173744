"""Weeks of made-up releases as workers would tally them, for whoever compares their styles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np

from alerts.ports import Clock
from detectors.crisis.memory import Memory, pack
from detectors.crisis.model import LEVELS, load_model
from detectors.drift.sketch import Reply
from detectors.drift.stratum import State
from monitor.drift.folding import Folding
from monitor.drift.looking import Comparisons
from monitor.publisher import Publisher, Publishing
from monitor.store.memory import MemoryStore
from monitor.store.memory_tallies import MemoryTallies
from monitor.store.work import Work
from monitor.tally.cell import Style, Tally, hour_of
from monitor.tally.styles import ALL, row_of
from tests.support.fake_clock import FakeClock, settle
from tests.support.styles import Release, draw, replies_of
from tests.support.tallies import a_publisher, at_once

MONDAY = datetime(2026, 3, 2, tzinfo=UTC)
KEEP = timedelta(days=35)
SELDOM = timedelta(days=99)  # p-values take long
BATCH = 50  # replies of one tally
_USERS = {
    State.CALM: ("none", 0.1),
    State.UNEASY: ("none", 0.3),
    State.DISTRESSED: ("none", 0.7),
    State.PASSIVE: ("passive_ideation", 0.7),
    State.ACTIVE: ("active_ideation", 0.8),
    State.IMMINENT: ("plan_intent", 0.9),
}
_NOTHING = np.zeros(len(LEVELS), dtype=np.float32)


def stream(release: Release, n: int, seed: int, *, traced: bool = False) -> list[Style]:
    """So many replies, each conversation's in a row, as records."""
    chance = np.random.default_rng(seed)
    return list(_records(replies_of(draw(release, n, chance, traced=traced), chance)))


def _records(replies: Sequence[Reply]) -> Iterator[Style]:
    earlier, last = 0, None
    for reply in replies:
        earlier = earlier + 1 if reply.conversation == last else 0
        last = reply.conversation
        level, distress = _USERS[reply.stratum.state]
        trace = np.frombuffer(reply.trace, dtype=np.int8).astype(np.float32) / 127
        yield Style(
            state="none",
            level=level,
            distress=distress,
            lang=reply.stratum.language,
            style=reply.style.pack(),
            memory=pack(Memory(trace, 0.0, _NOTHING), load_model()) if reply.trace else "",
            phrases=reply.phrases,
            earlier=earlier,
            conversation=reply.conversation,
            mark=reply.mark,
        )


class Weeks:
    """One publisher over a store in memory, on a clock that a test moves."""

    def __init__(self, start: datetime = MONDAY, deep: timedelta = SELDOM) -> None:
        self._deep = deep
        self.clock = FakeClock(start)
        self.store = MemoryStore()
        self.tallies = MemoryTallies(self.store)
        self.publisher = self.a_publisher("one")

    def a_publisher(self, name: str, clock: Clock | None = None) -> Publisher:
        more = Comparisons(self.tallies, self.store, KEEP, deep=self._deep, aside=at_once)
        publishing = Publishing(fold_style=Folding(), more=more)
        return a_publisher(self.tallies, clock or self.clock, name, publishing)

    async def say(
        self, track: str, release: str, styles: Sequence[Style], group: str = ALL, basis: str = "live"
    ) -> None:
        for start in range(0, len(styles), BATCH):
            some = styles[start : start + BATCH]
            tally = Tally(hour_of(self.clock.now()))
            where = row_of(track, release, basis, group)
            tally.styles += [(where, style) for style in some]
            tally.at(where._replace(lang="zh", state="none")).counts["turn:assistant"] = len(some)
            await self.store.commit(Work(tally=tally))

    async def look(self, publisher: Publisher | None = None) -> None:
        await (publisher or self.publisher).look()
        await settle()

    async def hours(self, count: int, **said: tuple[str, Sequence[Style]]) -> None:
        """Let hours go by. ``said``: by track, the release and all that it says in them, spread evenly."""
        for hour in range(count):
            for track, (release, styles) in said.items():
                part = slice(hour * len(styles) // count, (hour + 1) * len(styles) // count)
                await self.say(track, release, styles[part])
            self.clock.jump(timedelta(hours=1))
            await self.look()
