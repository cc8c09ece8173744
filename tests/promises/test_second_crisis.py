"""A second crisis is never hidden (R57): not by the first, not by who took it, not by a cool-down, not by a group."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest

from alerts.group import is_group
from alerts.incident import State
from alerts.policy import Policy, Step
from alerts.relay import Grouping
from alerts.storm import StormPolicy
from monitor.store.memory import MemoryStore
from tests.support.fake_clock import FakeClock
from tests.support.form import Form, Tell
from tests.support.ledger import Ledger, Owed
from tests.support.storms import GROUPING, LINKS
from tests.support.worker import Worker, hidden, incident_of, reply, user

pytestmark = pytest.mark.promise

AFTER = timedelta(minutes=5)
POLICY = Policy(steps=(Step(("first",), AFTER),))
SOON = timedelta(seconds=6)  # the grace, and a relay's second
NO_GROUPS = Grouping(StormPolicy(requests=1_000_000, singles=1_000_000), LINKS)
LATER = (40, 90, 600, 1790, 1810, 2400, 7200)  # seconds until the second crisis
FIRST = ("nobody", "acknowledged", "resolved", "its group was taken")
SECOND = ("again", "graver", "another session")


@dataclass(frozen=True)
class Story:
    """One person: what became of the first crisis, what comes next, and how much later."""

    name: str
    first: str
    second: str
    later: int

    @property
    def next_name(self) -> str:
        return f"{self.name} again" if self.second == "another session" else self.name

    @property
    def rings(self) -> bool:
        """Whether the second crisis is a new ring: all are, but more of the same that still rings or was just taken."""
        if self.second in ("graver", "another session") or self.first == "resolved":
            return True
        return self.first != "nobody" and timedelta(seconds=self.later) > POLICY.quiet


def stories(count: int, spans: Sequence[int], chance: random.Random) -> list[Story]:
    return [
        Story(f"p{number}", chance.choice(FIRST[:3]), chance.choice(SECOND), chance.choice(spans))
        for number in range(count)
    ]


async def test_each_second_crisis_rings_by_itself(form: Form, tell: Tell) -> None:
    """By the ledger: every key that is owed is heard in its time, and nobody is rung without need."""
    count, spans = form.pick((40, LATER[:5]), (1_000, LATER))
    clock = FakeClock()
    worker = Worker(MemoryStore(), clock, policy=POLICY, grouping=NO_GROUPS)
    await worker.start()
    ledger = Ledger()
    told = stories(count, spans, random.Random(18))
    await _miss(worker, [(one.name, "crisis") for one in told])
    await worker.wait(5)
    for one in told:
        if one.first == "acknowledged":
            await worker.people.acknowledge(incident_of(one.name), "anna")
        elif one.first == "resolved":
            await worker.people.resolve(incident_of(one.name), "anna", "true_miss")
    begun = clock.now()
    for later in spans:
        await worker.wait((begun + timedelta(seconds=later) - clock.now()).total_seconds())
        due = [one for one in told if one.later == later]
        for one in due:
            if one.rings:
                ledger.owe(Owed(one.name, clock.now(), clock.now() + SOON))
        await _miss(worker, [(one.next_name, _text(one)) for one in due])
        since = clock.now()
        await worker.wait(10)
        _hear(ledger, worker, due, since)
    await worker.stop()
    verdict = ledger.verdict()
    kinds = Counter((one.first, one.second) for one in told if one.rings)
    tell(18, "second crisis", f"{count} people, {len(kinds)} kinds of story: {verdict}")
    assert verdict.kept
    assert len(kinds) >= 7


async def test_no_group_hides_one(form: Form, tell: Tell) -> None:
    """In a storm: each is rung for by itself, or by a page of its group that leaves after it joined."""
    count, crowd, spans = form.pick((30, 40, LATER[:5]), (300, 1_000, LATER))
    clock = FakeClock()
    worker = Worker(MemoryStore(), clock, policy=POLICY, grouping=GROUPING)
    await worker.start()
    await _miss(worker, [(f"crowd {number}", "crisis") for number in range(crowd)])
    chance = random.Random(19)
    told = [
        Story(f"p{n}", chance.choice(FIRST), chance.choice(SECOND), chance.choice(spans))
        for n in range(count)
    ]
    await _miss(worker, [(one.name, "crisis") for one in told])
    await worker.wait(10)
    [group] = {row.told_by for row in worker.store.rows() if row.told_by}
    for one in told:
        if one.first == "acknowledged":
            await worker.people.acknowledge(incident_of(one.name), "anna")
        elif one.first == "resolved":
            await worker.people.resolve(incident_of(one.name), "anna", "true_miss")
    await worker.groups.acknowledge(group, "ben")
    begun = clock.now()
    owed: list[tuple[Story, datetime]] = []
    for later in spans:
        await worker.wait((begun + timedelta(seconds=later) - clock.now()).total_seconds())
        due = [one for one in told if one.later == later]
        owed += [(one, clock.now()) for one in due if await _is_owed(worker, one)]
        await _miss(worker, [(one.next_name, _text(one)) for one in due])
        await worker.wait(10)
    await worker.wait(AFTER.total_seconds() + 10)
    await worker.stop()
    rung = [(since, _rung_at(worker, one, since)) for one, since in owed]
    late = max((at - since for since, at in rung if at is not None), default=timedelta(0))
    lost = sum(at is None for _, at in rung)
    tell(
        18,
        "second crisis in a storm",
        f"{len(owed)} second crises among {crowd + count} people: {lost} hidden, "
        f"the last one was rung for after {late.total_seconds():.0f} s",
    )
    assert lost == 0
    assert len(owed) > count // 3
    assert late <= AFTER + SOON


async def _is_owed(worker: Worker, one: Story) -> bool:
    """A ring of its own is owed, but for more of the same that rings already or that somebody has in hand."""
    if one.second in ("graver", "another session"):
        return True
    first = await worker.store.incident(incident_of(one.name))
    assert first is not None
    quiet = worker.clock.now() - first.last_crisis_at > POLICY.quiet
    return first.state.over or (first.state is State.ACKNOWLEDGED and quiet)


def _text(one: Story) -> str:
    return "in_progress" if one.second == "graver" else "crisis"


async def _miss(worker: Worker, said: Sequence[tuple[str, str]]) -> None:
    now = (worker.clock.now() - FakeClock().now()).total_seconds()
    for first in range(0, len(said), 50):
        await worker.read(
            *(
                value
                for name, text in said[first : first + 50]
                for value in (user(name, text, now), reply(name, "sleep tip", now + 0.1))
            )
        )


def _hear(ledger: Ledger, worker: Worker, due: Sequence[Story], since: datetime) -> None:
    """New rings only: an escalation repeats under a key that is known."""
    known = {page.dedup_key for at, page in worker.first.rung if at < since}
    names = {hidden(one.next_name)[:20]: one.name for one in due}
    for at, page in worker.first.rung:
        name = names.get(page.incident.removeprefix("jz-").rpartition("-")[0])
        if at >= since and name and page.dedup_key not in known and page.kind.value == "page":
            ledger.hear(name, page.dedup_key, at)


def _rung_at(worker: Worker, one: Story, since: datetime) -> datetime | None:
    """When somebody was first rung for what this person said since then, by a page of its own or of a group."""
    prefix = f"jz-{hidden(one.next_name)[:20]}-"
    rows = [
        row
        for row in worker.store.rows()
        if row.page.incident.startswith(prefix)
        and not is_group(row.page.incident)
        and row.page.step == 0
        and row.created_at >= since
        and row.page.kind.value == "page"
    ]
    keys = {row.told_by or row.page.incident for row in rows}
    times = [
        at
        for at, page in worker.first.rung
        if at >= min((row.created_at for row in rows), default=at)
        and page.kind.value == "page"
        and page.incident in keys
    ]
    return min(times, default=None)


async def test_the_story_of_one_that_is_hidden_would_be_seen() -> None:
    """A person whose crisis was taken in no way is not counted as rung for."""
    worker = Worker(MemoryStore(), FakeClock(), policy=POLICY, grouping=GROUPING)
    await worker.start()
    await _miss(worker, [("somebody", "crisis")])
    await worker.wait(5)
    one = Story("nobody we know", "resolved", "again", 40)
    assert _rung_at(worker, one, FakeClock().now()) is None
    assert (await worker.store.incident(incident_of("somebody"))).state is State.PAGING
    await worker.stop()
