"""The ledger of a promise: what is owed, what a pager heard, and the verdict, which is set arithmetic.

A *page* is a distinct dedup key; a *request* is one HTTP call. A request repeated under the same key costs
nobody sleep; a crisis without a page may cost a life. That an unanswered page is sent anew as the next step is no
repeat: it is due.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class Owed:
    """``crisis`` (any name the test has for it) must be paged not before ``earliest`` and not after ``latest``.

    ``pages``: how many distinct keys it is due (one more for each rise in severity or new episode).
    """

    crisis: str
    earliest: datetime
    latest: datetime
    pages: int = 1


@dataclass(frozen=True, slots=True)
class Heard:
    """One request that reached a pager."""

    crisis: str
    key: str
    at: datetime
    step: int = 0


@dataclass(frozen=True, slots=True)
class Verdict:
    """Every set is of crises, and empty when the promise was kept; ``requests`` are those beyond the first of a key's step.

    ``duplicates`` had more keys than were due, ``unexpected`` were owed nothing. ``latest`` is the longest time
    from a crisis being due to its first page; None if there was none.
    """

    owed: int
    pages: int
    lost: frozenset[str]
    early: frozenset[str]
    late: frozenset[str]
    duplicates: frozenset[str]
    unexpected: frozenset[str]
    requests: int
    latest: timedelta | None

    @property
    def kept(self) -> bool:
        return not (self.lost | self.early | self.late | self.duplicates | self.unexpected)

    def __str__(self) -> str:
        counts = {
            "lost": self.lost,
            "duplicate": self.duplicates,
            "late": self.late,
            "early": self.early,
            "unexpected": self.unexpected,
        }
        told = ", ".join(
            f"{len(some)} {name}" for name, some in counts.items() if some or name in ("lost", "duplicate")
        )
        return f"{self.owed} owed, {self.pages} pages: {told}, {self.requests} extra requests"


@dataclass(slots=True)
class Ledger:
    owed: dict[str, Owed] = field(default_factory=dict)
    heard: list[Heard] = field(default_factory=list)

    def owe(self, owed: Owed) -> None:
        assert owed.crisis not in self.owed, "a crisis is written down once"
        self.owed[owed.crisis] = owed

    def hear(self, crisis: str, key: str, at: datetime, step: int = 0) -> None:
        self.heard.append(Heard(crisis, key, at, step))

    @property
    def missing(self) -> frozenset[str]:
        """Crises that are still short of pages: what a test waits for."""
        keys = self._keys()
        return frozenset(name for name, one in self.owed.items() if len(keys.get(name, ())) < one.pages)

    def verdict(self) -> Verdict:
        keys = self._keys()
        first: dict[str, datetime] = {}
        for one in self.heard:
            first[one.crisis] = min(first.get(one.crisis, one.at), one.at)
        paged = {name: at for name, at in first.items() if name in self.owed}
        waits = [at - self.owed[name].earliest for name, at in paged.items()]
        return Verdict(
            owed=len(self.owed),
            pages=sum(map(len, keys.values())),
            lost=self.missing,
            early=frozenset(name for name, at in paged.items() if at < self.owed[name].earliest),
            late=frozenset(name for name, at in paged.items() if at > self.owed[name].latest),
            duplicates=frozenset(name for name in paged if len(keys[name]) > self.owed[name].pages),
            unexpected=frozenset(first.keys() - self.owed.keys()),
            requests=sum(count - 1 for count in Counter((one.key, one.step) for one in self.heard).values()),
            latest=max(waits, default=None),
        )

    def _keys(self) -> dict[str, set[str]]:
        keys: dict[str, set[str]] = {}
        for one in self.heard:
            keys.setdefault(one.crisis, set()).add(one.key)
        return keys


def owe_all(ledger: Ledger, crises: Iterable[str], earliest: datetime, within: timedelta) -> None:
    """Write down many that are due at the same time."""
    for crisis in crises:
        ledger.owe(Owed(crisis, earliest, earliest + within))
