"""What the pipeline and the timers ask of others: reading, scoring, hearing of what was written, and going on without the database."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Protocol

from alerts.case import Advanced
from detectors.fold import Unscored
from monitor.batch import BatchResult, Read
from monitor.reading import Reading
from monitor.scoring import Signal
from monitor.sources.record import Record
from monitor.store.work import Partition, Store, Work


class Reader(Protocol):
    """Decodes a batch (steps 2 and 3)."""

    def read(self, batch: Sequence[Record], positions: Mapping[Partition, int]) -> Read:
        """Records below their partition's position were processed before and are left out."""
        ...


Through = Callable[[Store, Read, Reading], Awaitable[BatchResult]]


class Lifeboat(Protocol):
    """Takes over while the database is away."""

    @property
    def aboard(self) -> bool:
        """True while the database is away: cases are decided there, and what was told there is not in the database."""
        ...

    def keep(self, written: Iterable[tuple[Advanced, Partition]]) -> None:
        """What the database has taken. Else somebody who was called just before it is lost is called again."""
        ...

    async def take_over(self, work: Work) -> None:
        """The database would not take this, though it had answered every question before."""
        ...

    async def take(self, read: Read, through: Through, *, readable: bool | None = None) -> None:
        """Decide and page without the database; nothing is committed. ``readable``: it takes no writes only."""
        ...


class Scorer(Protocol):
    """Judges texts (step 4). ``failures`` counts the batches in which some could not be judged as they should."""

    failures: int

    async def score(self, unscored: Sequence[Unscored]) -> Sequence[Signal]:
        """One signal for each, in order."""
        ...


class Observer(Protocol):
    def batch(self, result: BatchResult) -> None:
        """Called once for each batch that is safely written."""
        ...

    def stage(self, name: str, seconds: float) -> None:
        """``name``: read, load, fold, detect, decide or write. Called for attempts that fail, too."""
        ...

    def scorer_failed(self) -> None:
        """Some text of a batch could not be scored. It counts as unscored, and its neighbours go on."""
        ...

    def fenced(self) -> None:
        """A batch was void: somebody else had written on its partition, or writes its cases."""
        ...
