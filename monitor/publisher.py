"""The elected worker adds up what all workers have tallied, and publishes it. Beside everything else, in a thread.

Every worker runs one of these; at most one is elected (``monitor.tally.election``). Nothing waits for it: without it figures
grow old, and no page is late.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Protocol

import structlog
from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from alerts.ports import Clock
from monitor.adding import AT_ONCE, Aside, add_up
from monitor.errors import JiezhuError, StoreUnavailable
from monitor.figures import Rows, figures
from monitor.tally.cell import hour_of
from monitor.tally.election import SHOWN, Reason, Watched, decide
from monitor.tally.hours import FoldStyle
from monitor.tally.ports import Tallies

_log = structlog.get_logger(__name__)

LOOK = timedelta(seconds=3)
ROUNDS = 10  # transactions of adding up in one look
STALE = 5  # periods after which comparisons that do not come any more are not shown either


class MoreFigures(Protocol):
    """What else the elected worker publishes: comparisons of styles."""

    async def look(self, now: datetime, rows: Rows) -> Sequence[Metric]:
        """``rows`` are those of the window. Errors are the store's. CPU work goes to a thread."""
        ...


@dataclass(frozen=True, slots=True)
class Publishing:
    """``fold_style`` adds styles to an hour's sketch; without it none are kept.

    ``more`` comes with every publication, as soon as it is there: nothing waits for it. ``pace``: tallies are added up no
    more often, but always before a publication; packing the sketch of an hour costs as much as a dozen styles.
    """

    period: timedelta = timedelta(seconds=60)
    window: timedelta = timedelta(hours=24)
    pace: timedelta = timedelta(0)
    fold_style: FoldStyle | None = None
    more: MoreFigures | None = None


class Observer(Protocol):
    def tally_failed(self, count: int = 1) -> None:
        """So many tallies could not be made or added up."""
        ...

    def style_worked(self, seconds: float) -> None:
        """CPU seconds that styles took."""
        ...


class Publisher(Collector):
    """Give it to a registry: it shows its figures while it is elected, and that it is not while it is not.

    ``elapsed`` are seconds that nobody sets; by them it stops showing figures before anybody else may be elected, though
    nobody tells it so. ``name`` is of this process among the workers.
    """

    def __init__(
        self,
        tallies: Tallies,
        clock: Clock,
        elapsed: Callable[[], float],
        name: str,
        observer: Observer,
        publishing: Publishing | None = None,
        *,
        looked: Callable[[datetime], None] = lambda _: None,
        aside: Aside = asyncio.to_thread,
    ) -> None:
        self._tallies = tallies
        self._clock = clock
        self._elapsed = elapsed
        self._name = name
        self._observer = observer
        self._publishing = publishing or Publishing()
        self._looked = looked
        self._aside = aside
        self._watched = Watched()
        self._term: int | None = None
        self._until = 0.0
        self._shown: Sequence[Metric] = ()
        self._published: float | None = None
        self._more: Sequence[Metric] = ()
        self._compared = 0.0
        self._comparing: asyncio.Task[None] | None = None
        self._waiting = 0
        self._pace = self._publishing.pace.total_seconds()
        self._folded = -self._pace

    @property
    def elected(self) -> bool:
        return self._term is not None and self._elapsed() < self._until

    async def run(self) -> None:
        try:
            await self._turn()
        finally:
            if self._comparing is not None:
                self._comparing.cancel()

    async def _turn(self) -> None:
        while True:
            try:
                await self.look()
            except StoreUnavailable:
                pass  # it is looked for elsewhere, and the lease ends by itself
            except JiezhuError as error:
                _log.warning("not_published", exc_info=error)
            except Exception as error:  # noqa: BLE001 - figures are worth no worker
                _log.error("not_published", exc_info=error)
            self._looked(self._clock.now())
            await self._clock.sleep(LOOK)

    async def look(self) -> None:
        """Ask for the lease; whoever has it adds up what waits, and publishes when it is time."""
        await self._ask()
        if self.elected and (self._due() or self._elapsed() >= self._folded + self._pace):
            await self._fold()
        if self.elected and self._due():
            await self._publish()

    async def close(self) -> None:
        """Let somebody else be elected at once."""
        term, self._term = self._term, None
        lease = await self._tallies.lease()
        if lease is not None and lease.term == term and lease.holder == self._name:
            await self._tallies.elect(lease, replace(lease, holder=""))

    def collect(self) -> Iterable[Metric]:
        elected = self.elected
        yield _gauge("jiezhu_publisher", "1 on the worker that publishes the figures of all", float(elected))
        if not elected:
            return
        yield _gauge("jiezhu_tally_waiting", "Tallies that are not added up yet", self._waiting)
        if self._published is not None:
            age = self._elapsed() - self._published
            yield _gauge("jiezhu_published_age_seconds", "Since figures were published last", age)
            yield from self._shown
        if self._elapsed() - self._compared <= STALE * self._publishing.period.total_seconds():
            yield from self._more

    async def _ask(self) -> None:
        asked = self._elapsed()
        seen = await self._tallies.lease()
        unchanged = self._watched.saw(seen, asked, self._elapsed())
        decision = decide(seen, self._name, self._clock.now(), unchanged)
        if decision.ask is None or not await self._tallies.elect(seen, decision.ask):
            self._lost(decision.reason)
            return
        if decision.ask.term != self._term:
            _log.info(
                "publisher_elected", worker=self._name, term=decision.ask.term, reason=decision.reason.value
            )
            self._forget()
        self._term, self._until = decision.ask.term, asked + SHOWN.total_seconds()

    def _lost(self, reason: Reason) -> None:
        if self._term is not None:
            _log.warning("publisher_lost", worker=self._name, term=self._term, reason=reason.value)
        self._term = None
        self._forget()

    def _forget(self) -> None:
        self._shown, self._published, self._more = (), None, ()

    async def _fold(self) -> None:
        begun = self._folded = self._elapsed()
        for _ in range(ROUNDS):
            if self._term is None or self._elapsed() - begun > LOOK.total_seconds():
                break  # the lease goes first: it is asked for again before the rest is added up
            self._looked(self._clock.now())
            added = await add_up(self._tallies, self._term, self._publishing.fold_style, self._aside)
            if added is None:
                break
            if added.unread:
                _log.error("tally_unreadable", count=added.unread)
            if lost := added.unread + added.unstyled:
                self._observer.tally_failed(lost)
            self._observer.style_worked(added.style_seconds)
            if added.taken < AT_ONCE:
                break
        self._waiting = await self._tallies.waiting()

    def _due(self) -> bool:
        period = self._publishing.period.total_seconds()
        return self._published is None or self._elapsed() - self._published >= period

    async def _publish(self) -> None:
        now, window = self._clock.now(), self._publishing.window
        rows = await self._tallies.since(hour_of(now - window))
        self._shown = await self._aside(lambda: figures(rows, window))
        self._published = self._elapsed()
        more = self._publishing.more
        if more is not None and (self._comparing is None or self._comparing.done()):
            self._comparing = asyncio.create_task(self._compare(more, now, rows), name="comparing")

    async def _compare(self, more: MoreFigures, now: datetime, rows: Rows) -> None:
        term = self._term
        try:
            shown = await more.look(now, rows)
        except StoreUnavailable:
            return
        except Exception as error:  # noqa: BLE001 - figures are worth no worker
            _log.error("not_compared", exc_info=error)
            return
        if term is not None and term == self._term:  # else it is another's to show
            self._more, self._compared = shown, self._elapsed()


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(name, text, value=value)
