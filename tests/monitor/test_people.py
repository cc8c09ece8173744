"""What people do to incidents, whatever else happens to the case meanwhile."""

from __future__ import annotations

from datetime import timedelta

import pytest

from alerts.incident import State
from alerts.page import Kind
from alerts.policy import Policy, Step
from detectors.finding import Outcome
from monitor.errors import CaseConflict
from monitor.people import Answer
from tests.support.away_store import AwayStore
from tests.support.fake_clock import FakeClock
from tests.support.fake_pager import BROKEN
from tests.support.worker import Worker, incident_of, reply, user


@pytest.fixture
async def worker():
    worker = Worker(AwayStore(), FakeClock())
    await worker.start()
    await worker.read(user("c", "crisis", 0), reply("c", "sleep tip", 1))
    await worker.wait(4)
    yield worker
    await worker.stop()


async def test_acknowledged(worker):
    deed = await worker.people.acknowledge(incident_of("c"), "anna")
    assert (deed.answer, deed.incident.state, deed.incident.acknowledged_by) == (
        Answer.DONE,
        State.ACKNOWLEDGED,
        "anna",
    )
    last = (await worker.store.timeline(incident_of("c")))[-1]
    assert (last.reason, last.actor) == ("acknowledged", "anna")


async def test_the_pager_is_told(worker):
    await worker.people.acknowledge(incident_of("c"), "anna")
    await worker.wait(1)
    assert Kind.ACKNOWLEDGE in {page.kind for _, page in worker.first.rung}


async def test_the_pager_that_has_the_page_is_told_though_it_is_nobodys_own():
    """The first channel was down, and the page fell over to one that belongs to no step."""
    worker = Worker(AwayStore(), FakeClock(), policy=Policy(steps=(Step(("first",)),)))
    worker.first.then = BROKEN
    await worker.start()
    await worker.read(user("c", "crisis", 0), reply("c", "sleep tip", 1))
    await worker.wait(30)
    assert [page.kind for page in worker.second.got] == [Kind.PAGE]
    worker.first.mend()
    await worker.people.acknowledge(incident_of("c"), "anna")
    await worker.wait(1)
    await worker.people.resolve(incident_of("c"), "anna", None)
    await worker.wait(1)
    await worker.stop()
    told = [Kind.ACKNOWLEDGE, Kind.RESOLVE]
    assert [page.kind for page in worker.first.got] == told
    assert [page.kind for page in worker.second.got] == [Kind.PAGE, *told]
    assert {page.dedup_key for page in worker.second.got} == {incident_of("c")}


async def test_nobody_is_unknown(worker):
    assert (await worker.people.acknowledge("jz-nothing-1", "anna")).answer is Answer.UNKNOWN


async def test_done_before(worker):
    await worker.people.acknowledge(incident_of("c"), "anna")
    commits = worker.store.asked["commit"]
    deed = await worker.people.acknowledge(incident_of("c"), "ben")
    assert (deed.answer, deed.incident.acknowledged_by) == (Answer.ALREADY, "anna")
    assert worker.store.asked["commit"] == commits


async def test_what_is_resolved_cannot_be_acknowledged(worker):
    await worker.people.resolve(incident_of("c"), "anna", "true_miss")
    deed = await worker.people.acknowledge(incident_of("c"), "ben")
    assert (deed.answer, deed.incident.state, deed.incident.verdict) == (
        Answer.ALREADY,
        State.RESOLVED,
        "true_miss",
    )


async def test_what_a_link_has_closed_is_reviewed_afterwards(worker):
    await worker.people.resolve(incident_of("c"), "anna", None)
    deed = await worker.people.review(incident_of("c"), "ben", "false_alarm")
    assert (deed.answer, deed.incident.state) == (Answer.DONE, State.RESOLVED)
    assert (await worker.store.incident(incident_of("c"))).verdict == "false_alarm"
    last = (await worker.store.timeline(incident_of("c")))[-1]
    assert (last.reason, last.actor) == ("reviewed", "ben")
    again = await worker.people.review(incident_of("c"), "carla", "true_miss")
    assert (again.answer, again.incident.verdict) == (Answer.ALREADY, "false_alarm")


async def test_an_older_incident_is_reviewed_while_a_newer_one_rings(worker):
    await worker.people.resolve(incident_of("c"), "anna", None)
    await worker.read(user("c", "crisis", 10), reply("c", "sleep tip", 11))
    await worker.wait(10)
    await worker.people.review(incident_of("c"), "anna", "true_miss")
    assert (await worker.store.incident(incident_of("c"))).verdict == "true_miss"
    newer = await worker.store.incident(incident_of("c", 2))
    assert (newer.state, newer.verdict) == (State.PAGING, None)


async def test_an_open_one_is_closed_first(worker):
    deed = await worker.people.review(incident_of("c"), "anna", "true_miss")
    assert (deed.answer, deed.incident.state, deed.incident.verdict) == (Answer.ALREADY, State.PAGING, None)


async def test_an_older_incident_of_the_conversation(worker):
    """A second crisis rings under a key of its own; the first is still somebody's to close."""
    await worker.people.acknowledge(incident_of("c"), "anna")
    await worker.wait(40 * 60)
    await worker.read(user("c", "crisis", 2400), reply("c", "sleep tip", 2401))
    await worker.wait(10)
    deed = await worker.people.resolve(incident_of("c"), "anna", None)
    assert (deed.answer, deed.incident.key) == (Answer.DONE, incident_of("c"))
    assert (await worker.store.incident(incident_of("c"))).state is State.RESOLVED
    assert (await worker.store.incident(incident_of("c", 2))).state is State.PAGING


async def test_a_deed_for_an_older_incident_that_is_over_tells_of_that_incident(worker):
    await worker.people.resolve(incident_of("c"), "anna", None)
    await worker.read(user("c", "crisis", 10), reply("c", "sleep tip", 11))
    await worker.wait(10)
    deed = await worker.people.acknowledge(incident_of("c"), "ben")
    assert (deed.answer, deed.incident.key) == (Answer.ALREADY, incident_of("c"))


async def test_a_batch_that_is_faster_makes_the_deed_anew(worker):
    worker.store.before_commit = lambda: worker.read(user("c", "crisis", 5))
    deed = await worker.people.acknowledge(incident_of("c"), "anna")
    assert (deed.answer, deed.incident.crisis_turns) == (Answer.DONE, 2)


async def test_a_deed_lets_no_deadline_fall(worker):
    """Whether a reply is on its way, the source knows and a person's click does not."""
    await worker.read(user("c", "crisis", 5))
    worker.caught_up = False
    worker.clock.jump(timedelta(minutes=10))
    await worker.people.acknowledge(incident_of("c"), "anna")
    incident = await worker.store.incident(incident_of("c"))
    assert (incident.state, incident.outcome) == (State.ACKNOWLEDGED, Outcome.UNHANDLED)


async def test_gives_up_on_a_case_that_never_stands_still(worker):
    async def refuse(_work):
        raise CaseConflict(frozenset())

    worker.store.commit = refuse
    with pytest.raises(CaseConflict):
        await worker.people.acknowledge(incident_of("c"), "anna")
