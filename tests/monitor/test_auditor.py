"""Whatever somebody deletes by hand is found, pages, is written down, and put back where that can be done."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import text

from alerts.gaps import Gap
from monitor.auditor import AuditLimits, Auditor
from monitor.changes import Paging
from monitor.errors import CaseConflict
from monitor.metrics import Metrics
from monitor.recorder import Recorder
from monitor.settings import load
from monitor.store.engine import migration_engine
from monitor.store.records import Records
from monitor.store.sql import SqlStore
from monitor.store.url import parse
from monitor.trouble import records_missing
from tests.support.fake_clock import FakeClock
from tests.support.stores import KEYRING
from tests.support.worker import Worker, incident_of, reply, user


class Site:
    """A worker's database, an auditor beside it, and somebody with a hand in the tables."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.clock = FakeClock()
        self.store = SqlStore(url, KEYRING)
        self.worker = Worker(self.store, self.clock)
        self.metrics = Metrics()
        self.auditor = self.an_auditor()

    def an_auditor(self) -> Auditor:
        settings = load(None, {"JIEZHU_PAGERS__CONSOLE": "true"})
        return Auditor(
            Records(self.store.database, KEYRING),
            self.paging,
            _Restless(self.clock),
            Recorder(self.metrics),
            call=lambda found, now: records_missing(settings, found, now),
            written=lambda: None,
            period=timedelta(minutes=1),
        )

    @property
    def paging(self) -> Paging:
        return self.worker.timers._paging

    async def miss(self, conversation: str) -> str:
        """A crisis that is not caught: its page is written, and not sent yet."""
        await self.worker.read(user(conversation, "crisis", 0), reply(conversation, "sleep tip", 1))
        self.clock.jump(timedelta(seconds=4))
        await self.worker.timers.fire(self.clock.now())
        return incident_of(conversation)

    async def look(self) -> list[str]:
        return [found.gap.value for found in await self.auditor.look()]

    def run(self, statement: str, **values: object) -> list[tuple]:
        engine = migration_engine(parse(self.url))
        with engine.begin() as connection:
            done = connection.execute(text(statement), values)
            rows = [tuple(row) for row in done] if done.returns_rows else []
        engine.dispose()
        return rows

    def calls(self) -> list[str]:
        """Pages about the records themselves."""
        return [row[0] for row in self.run("SELECT id FROM outbox WHERE incident LIKE 'jz-records-%'")]


class _Restless:
    """A clock on which nobody waits."""

    def __init__(self, clock: FakeClock) -> None:
        self._clock = clock

    def now(self):
        return self._clock.now()

    async def sleep(self, duration: timedelta) -> None:
        self._clock.jump(duration)


@pytest.fixture
async def site(url):
    site = Site(url)
    yield site
    await site.store.close()


async def test_records_that_fit_together_page_nobody(site):
    for number in range(3):
        await site.miss(f"c{number}")
    await site.worker.read(user("waits", "crisis", 5), user("well", "hello", 5))
    await site.worker.read(user("caught", "crisis", 6), reply("caught", "good", 7))
    await site.worker.people.acknowledge(incident_of("c0"), "li")
    await site.worker.people.resolve(incident_of("c1"), "li", None)
    for _ in range(18):  # deadlines, escalations, the end of a quiet episode
        site.clock.jump(timedelta(minutes=2))
        await site.worker.timers.fire(site.clock.now())
        assert await site.look() == []
    assert site.calls() == []


async def test_a_page_that_was_deleted_rings_after_all(site):
    key = await site.miss("c")
    site.run("DELETE FROM outbox")
    assert await site.look() == ["page_missing"]
    assert [note.page.reason for note in await site.store.claim(site.clock.now(), timedelta(9), 9)] == [
        "gap_found",
        "page_missing",
    ]
    assert len(site.calls()) == 1
    *_, step = await site.store.timeline(key)
    assert (step.reason, step.actor, step.state) == ("gap_found", "auditor", "paging")
    assert await site.look() == []
    site.run("DELETE FROM outbox WHERE incident = :key", key=key)
    assert await site.look() == ["page_missing"]


async def test_an_older_page_that_is_gone_is_told_of_once(site):
    key = await site.miss("c")
    site.clock.jump(timedelta(minutes=6))
    await site.worker.timers.fire(site.clock.now())
    site.run("DELETE FROM outbox WHERE id LIKE :first", first=f"{key}:page:0%")
    assert await site.look() == ["page_missing"]
    assert await site.look() == []
    assert len(site.calls()) == 1


async def test_a_page_that_no_relay_would_take_is_due_again(site):
    key = await site.miss("c")
    site.run("UPDATE outbox SET due_at = NULL")
    assert await site.look() == ["page_not_due"]
    claimed = await site.store.claim(site.clock.now(), timedelta(seconds=9), 9)
    assert key in {note.page.incident for note in claimed}
    assert await site.look() == []


async def test_a_deadline_that_was_deleted_falls_when_it_is_due(site):
    await site.worker.read(user("c", "crisis", 0))
    site.run("UPDATE cases SET wake_at = NULL")
    site.clock.jump(timedelta(minutes=2))
    assert await site.worker.timers.fire(site.clock.now()) == 0
    assert await site.look() == ["deadline_missing"]
    assert await site.worker.timers.fire(site.clock.now()) == 1
    assert (await site.store.incident(incident_of("c"))).state.value == "paging"
    assert await site.look() == []


@pytest.mark.parametrize(
    "hand",
    [
        "UPDATE cases SET wake_at = NULL",
        "DELETE FROM incidents",
        "DELETE FROM outbox WHERE incident = '{key}'",
    ],
)
async def test_what_goes_missing_again_calls_again(site, hand):
    key = await site.miss("c")
    for calls in (1, 2, 3):
        site.run(hand.format(key=key))
        assert len(await site.look()) == 1
        assert len(site.calls()) == calls
        assert await site.look() == []


async def test_two_that_find_the_same_at_once_make_one_call(site):
    await site.worker.read(user("c", "crisis", 0))
    site.run("UPDATE cases SET wake_at = NULL")
    other = site.an_auditor()
    mend = site.auditor._records.mend

    async def after_the_other(mending):
        assert [found.gap for found in await other.look()] == [Gap.DEADLINE_MISSING]
        await mend(mending)

    site.auditor._records.mend = after_the_other
    assert await site.look() == ["deadline_missing"]
    assert len(site.calls()) == 1


async def test_a_deadline_that_was_put_off_is_put_back(site):
    await site.worker.read(user("c", "crisis", 0))
    site.run("UPDATE cases SET wake_at = wake_at + 86400000000")
    assert await site.look() == ["deadline_late"]
    site.clock.jump(timedelta(minutes=2))
    assert await site.worker.timers.fire(site.clock.now()) == 1


async def test_a_deadline_that_nobody_decides_is_found(site):
    await site.worker.read(user("c", "crisis", 0))
    site.clock.jump(timedelta(minutes=10))
    assert await site.look() == ["deadline_overdue"]
    assert await site.look() == []


async def test_an_incident_that_was_deleted_is_back(site):
    key = await site.miss("c")
    before = await site.store.incident(key)
    site.run("DELETE FROM incidents")
    assert await site.look() == ["incident_missing"]
    assert await site.store.incident(key) == before
    assert await site.look() == []


async def test_one_that_was_changed_is_as_its_case_says(site):
    key = await site.miss("c")
    before = await site.store.incident(key)
    site.run("""UPDATE incidents SET body = replace(body, '"paging"', '"resolved"')""")
    assert set(await site.look()) == {"incident_differs", "trail_broken"}
    assert await site.store.incident(key) == before
    assert await site.look() == []


async def test_a_case_that_was_deleted_goes_on_ringing_and_can_be_acknowledged(site):
    key = await site.miss("c")
    site.run("DELETE FROM cases")
    assert await site.look() == ["case_missing"]
    site.clock.jump(timedelta(minutes=6))
    assert await site.worker.timers.fire(site.clock.now()) == 1
    assert (await site.store.incident(key)).step == 1
    assert (await site.worker.people.acknowledge(key, "li")).answer.value == "done"
    assert await site.look() == []


async def test_everything_of_it_but_the_findings_is_gone(site):
    await site.miss("c")
    for table in ("incidents", "cases", "audit", "outbox"):
        site.run(f"DELETE FROM {table}")
    assert set(await site.look()) == {"incident_missing", "case_missing"}
    assert await site.look() == []


async def test_a_trail_that_was_cut_is_found(site):
    await site.miss("c")
    site.run("DELETE FROM audit WHERE state = 'paging'")
    assert await site.look() == ["trail_broken"]
    assert await site.look() == []


async def test_what_cannot_be_read_is_found(site):
    key = await site.miss("c")
    await site.miss("d")
    site.run("UPDATE incidents SET body = 'x' WHERE key = :key", key=key)
    assert await site.look() == ["unreadable"]
    assert await site.look() == []


async def test_what_can_be_read_and_makes_no_sense_is_found_and_the_others_are_looked_at(site):
    """A time without a zone, say, which no release writes."""
    await site.miss("c")
    [(body,)] = site.run("SELECT body FROM cases")
    site.run("UPDATE cases SET body = :body", body=body.replace("+00:00", ""))
    await site.miss("d")
    site.run("DELETE FROM incidents WHERE key = :key", key=incident_of("d"))
    assert sorted(await site.look()) == ["incident_missing", "unreadable"]
    assert await site.look() == []


async def test_many_at_once_make_one_call_and_all_are_counted(site):
    for number in range(5):
        await site.miss(f"c{number}")
    site.run("DELETE FROM incidents")
    site.run("DELETE FROM outbox")
    assert len(await site.look()) == 10
    assert len(site.calls()) == 1
    counted = site.metrics.gaps.labels(Gap.PAGE_MISSING.value)._value.get()
    assert counted == 5


async def test_more_than_one_look_takes_is_walked_through(site):
    site.auditor._limits = AuditLimits(incidents=2, steps=3, most=2)
    for number in range(7):
        await site.miss(f"c{number}")
    site.run("UPDATE incidents SET over = :yes", yes=True)  # found by their trail alone
    site.run("DELETE FROM outbox WHERE incident = :key", key=incident_of("c6"))
    found = [gap for _ in range(12) for gap in await site.look()]
    assert found == ["page_missing"]


async def test_nobody_mends_what_was_written_meanwhile(site):
    """The version that was read is gone: nothing is written, and the next look sees how it stands."""
    await site.worker.read(user("c", "crisis", 0))
    site.run("UPDATE cases SET wake_at = NULL")
    mend = site.auditor._records.mend

    async def too_late(mending):
        site.run("UPDATE cases SET version = version + 1")
        await mend(mending)

    site.auditor._records.mend = too_late
    with pytest.raises(CaseConflict):
        await site.auditor.look()
    assert site.calls() == []
