"""The edge that forgets: whoever is to be erased, and whatever is old. Runs in every worker, and once for a command.

What still arrives of an erased subject is judged like anything else, for an erasure must not hide a crisis; it goes
in the next round. The record of somebody who is being rung for stays until a person has answered; its words go at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from alerts.holding import hold, unfinished
from alerts.policy import Policy
from alerts.ports import Clock
from monitor.errors import StoreError
from monitor.people import People
from monitor.store.erasing import AT_ONCE, Erasing, Standing

_log = structlog.get_logger(__name__)

ROUND = timedelta(seconds=10)
AGING = timedelta(hours=1)
TOLD = timedelta(seconds=20)  # a pager has so long to hear that it is over, then it is forgotten all the same
ROUNDS = 1_000  # of one aging, each of bounded size


@dataclass(frozen=True, slots=True)
class Swept:
    """``held``: conversations that stay for now; ``waiting``: those a pager is being told about."""

    rows: Counter[str]
    held: int = 0
    waiting: int = 0
    words: int = 0

    @property
    def done(self) -> bool:
        return not self.held and not self.waiting


class Forgetting:
    """``forget`` is told pseudonyms, so that nothing of them stays in memory. ``keep``: how long records are kept."""

    def __init__(
        self,
        erasing: Erasing,
        people: People,
        policy: Policy,
        clock: Clock,
        *,
        keep: timedelta,
        forget: Callable[[Collection[str]], None] = lambda _: None,
    ) -> None:
        self._erasing = erasing
        self._people = people
        self._policy = policy
        self._clock = clock
        self._keep = keep
        self._forget = forget
        self._waiting: dict[str, datetime] = {}
        self._aged: datetime | None = None

    async def run(self) -> None:
        while True:
            try:
                await self.sweep()
                await self._age_now_and_then()
            except StoreError as error:  # away, or somebody was faster: the next round
                _log.warning("forgetting_put_off", error=type(error).__name__)
            except Exception as error:  # noqa: BLE001 - pages go on
                _log.error("forgetting_failed", exc_info=error)
            await self._clock.sleep(ROUND)

    async def sweep(self) -> Swept:
        """Forget what is kept by now of everybody who is to be forgotten."""
        stones = await self._erasing.stones(self._clock.now())
        if not stones:
            return Swept(Counter())
        standing = await self._erasing.of(stones)
        swept = await self._let_go(standing, "erasure")
        left = await self._erasing.of(stones)
        names = {*stones, *(one.conversation for one in standing)}
        self._forget(
            names - {one.conversation for one in left}
        )  # who stays is needed while the database is away
        undone = {one.erasure for one in left}
        await self._erasing.finish(set(stones.values()) - undone, self._clock.now())
        if swept.rows.total():
            _log.info("erased", rows=swept.rows.total(), held=swept.held)
        return swept

    async def age(self) -> Counter[str]:
        """Forget what is older than records are kept."""
        rows: Counter[str] = Counter()
        stay = 0
        for _ in range(ROUNDS):
            now = self._clock.now()
            standing = await self._erasing.old(now - self._keep, now, stay)
            swept = await self._let_go(standing, "retention")
            aged = await self._erasing.age(now - self._keep)
            rows += swept.rows + aged
            stay += swept.held + swept.waiting
            if not standing and not aged.total():
                break
        return rows

    async def _age_now_and_then(self) -> None:
        now = self._clock.now()
        if self._aged is not None and now - self._aged < AGING:
            return
        rows = await self.age()
        self._aged = now
        if rows.total():
            _log.info("aged_out", rows=rows.total())

    async def _let_go(self, standing: list[Standing], by: str) -> Swept:
        now = self._clock.now()
        held, ready, waiting = [], [], []
        for one in standing:
            if hold(one.case, one.incidents, now, self._policy) is not None:
                held.append(one)
            elif await self._settled(one, by, now):
                ready.append(one)
            else:
                waiting.append(one)
        words = (await self._erasing.erase_words(held)) if held and by == "erasure" else Counter[str]()
        rows = await self._erasing.erase(ready[:AT_ONCE]) if ready else Counter[str]()
        for one in ready:
            self._waiting.pop(one.conversation, None)
        return Swept(rows, len(held), len(waiting), words.total())

    async def _settled(self, one: Standing, by: str, now: datetime) -> bool:
        """Closed at the pager: else a later crisis would be folded into an alert that stands open there."""
        since = self._waiting.setdefault(one.conversation, now)
        late = now - since >= TOLD
        if late:
            return True
        still = unfinished(one.incidents)
        for incident in still:
            await self._people.resolve(incident.key, by, None)
        return not still and not one.due
