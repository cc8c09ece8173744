"""The edge that forgets: whoever is to be erased, and whatever is old. Runs in every worker, and once for a command.

What still arrives of an erased subject is judged like anything else, for an erasure must not hide a crisis; it goes
in the next round. The record of somebody who is being rung for stays until a person has answered, and that of an alert
that stands open at a pager until the pager has heard that it is over; their words go at once, those of a message that
streams just then once it is whole or breaks off. Nothing of this is kept in memory: any worker goes on where another
stopped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import structlog

from alerts.case import Case
from alerts.holding import hold, unfinished
from alerts.policy import Policy
from alerts.ports import Clock
from monitor.errors import CaseConflict, StoreError
from monitor.observing import observing
from monitor.people import People
from monitor.store.deletion import Gone
from monitor.store.erasing import Erasing
from monitor.store.incidents import Place
from monitor.store.standing import Standing
from monitor.unreadable import instead_of

_log = structlog.get_logger(__name__)

ROUND = timedelta(seconds=10)
AGING = timedelta(hours=1)
TELLING = (
    200  # conversations that pagers are told about at once: more would outlive their turn (``RetryPolicy``)
)
ROUNDS = 1_000  # of one aging, each of bounded size


@dataclass(frozen=True, slots=True)
class Swept:
    """``held``: conversations that stay for now; ``waiting``: those a pager is being told about.

    ``busy``: those that somebody wrote meanwhile.
    """

    rows: Counter[str]
    held: int = 0
    waiting: int = 0
    busy: int = 0

    def __add__(self, other: Swept) -> Swept:
        return Swept(
            self.rows + other.rows,
            self.held + other.held,
            self.waiting + other.waiting,
            self.busy + other.busy,
        )


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
        undone: Callable[[timedelta], None] = lambda _: None,
        unreadable: Callable[[int], None] = lambda _: None,
        telling: int = TELLING,
    ) -> None:
        """``undone`` is told how old the oldest erasure is that is not done, ``unreadable`` how many such rows went."""
        self._erasing = erasing
        self._people = people
        self._policy = policy
        self._clock = clock
        self._keep = keep
        self._forget = forget
        self._undone = undone
        self._unreadable = unreadable
        self._telling = telling
        self._aged: datetime | None = None

    async def run(self) -> None:
        while True:
            try:
                await self.tell()  # first: it must be seen when sweeping fails
                await self.sweep()
                await self._age_now_and_then()
            except StoreError as error:  # away, or somebody was faster: the next round
                _log.warning("forgetting_put_off", error=type(error).__name__)
            except Exception as error:  # noqa: BLE001 - pages go on
                _log.error("forgetting_failed", exc_info=error)
            await self._clock.sleep(ROUND)

    async def tell(self) -> None:
        oldest = await self._erasing.oldest()
        self._undone(timedelta(0) if oldest is None else self._clock.now() - oldest)

    async def sweep(self) -> Swept:
        """Forget what is kept by now of everybody who is to be forgotten: those who stay hold up nobody."""
        stones = await self._erasing.stones(self._clock.now())
        swept = Swept(Counter())
        if not stones:
            return swept
        names = set(stones)
        after = ""
        while standing := await self._erasing.page(after):
            after = standing[-1].conversation
            names.update(one.conversation for one in standing)
            swept += await self._let_go(standing, "erasure", self._telling - swept.waiting)
        left = await self._erasing.left()
        self._forget(names - left)  # who stays is needed while the database is away
        await self._erasing.finish(self._clock.now())
        if swept.rows.total():
            _log.info("erased", rows=swept.rows.total(), held=swept.held)
        return replace(swept, busy=max(len(left) - swept.held - swept.waiting, 0))

    async def age(self) -> Counter[str]:
        """Forget what is older than records are kept."""
        rows: Counter[str] = Counter()
        passed = Swept(Counter())
        place: Place | None = None
        for _ in range(ROUNDS):
            now = self._clock.now()
            standing = await self._erasing.old(now - self._keep, now, passed.held + passed.waiting)
            swept = await self._let_go(standing, "retention", self._telling - passed.waiting)
            gone, place = await self._erasing.age(now - self._keep, place)
            aged = self._told(gone)
            rows += swept.rows + aged
            passed += swept
            if not standing and not aged.total() and place is None:
                break
        for _ in range(ROUNDS):
            rest = await self._erasing.age_rest(self._clock.now() - self._keep)
            rows += rest
            if not rest.total():
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

    async def _let_go(self, standing: list[Standing], by: str, room: int) -> Swept:
        """``room``: so many conversations may wait for their pagers."""
        now = self._clock.now()
        held: list[Standing] = [one for one in standing if not one.readable]
        if held:
            _log.error("erasing_rows_unreadable", conversations=len(held))
        ready: list[Standing] = []
        waiting: list[Standing] = []
        for one in standing:
            if not one.readable:
                continue
            if self._held(one, now):
                held.append(one)
            elif await self._settled(one, by, tell=len(waiting) < room):
                ready.append(one)
            else:
                waiting.append(one)
        if by == "erasure" and (held or waiting):
            await self._erasing.erase_words([*held, *waiting])
        rows = self._told(await self._erasing.erase(ready)) if ready else Counter[str]()
        return Swept(rows, len(held), len(waiting))

    def _held(self, one: Standing, now: datetime) -> bool:
        """A case that makes no sense waits for nothing but its time to wake, at which whoever it may concern is rung for."""
        case = one.case
        if case is None:
            return hold(None, one.incidents, now, self._policy) is not None
        try:
            return hold(_lost(one, case), one.incidents, now, self._policy) is not None
        except Exception as error:  # noqa: BLE001 - the others are to be forgotten, too
            try:
                anew = instead_of(case, error, now, self._policy)
                return hold(_lost(one, anew), one.incidents, now, self._policy) is not None
            except Exception as again:  # noqa: BLE001 - its incidents make none either: a person decides
                _log.error("forgetting_not_decided", exc_info=again)
                return True

    def _told(self, gone: Gone) -> Counter[str]:
        """What went without anybody having been able to read it is said, once."""
        if gone.unreadable:
            _log.error("unreadable_rows_forgotten", rows=gone.unreadable)
            with observing():
                self._unreadable(gone.unreadable)
        return gone.rows

    async def _settled(self, one: Standing, by: str, *, tell: bool) -> bool:
        """Closed at the pager, which has heard of it or was given up by the relay.

        Else a later crisis, whose first incident has the same key again, would be folded into an alert that stands open
        there, or be closed by what was still on its way.
        """
        still = unfinished(one.incidents)
        for incident in still if tell else ():
            try:
                await self._people.resolve(incident.key, by, None)
            except CaseConflict:  # one that is written all the time holds up nobody else
                return False
        return not still and not one.due


def _lost(one: Standing, case: Case) -> Case:
    """What stands for a case that was lost is rung for when its time comes; without one nothing is to come."""
    return replace(case, begun_anew=case.begun_anew and one.wakes)
