"""What keeps pages from people elsewhere: a counter, long names, the hour, a hole in the rota, a default that is off."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import orjson
import pytest
from structlog.testing import capture_logs

from alerts.delivery import Attempt
from alerts.incident import State
from alerts.page import Kind, Page
from alerts.pagers.pagerduty import PagerDutySettings, event
from alerts.policy import Policy, Step
from monitor import assembly
from monitor.settings import environment_names, load
from monitor.store.memory import MemoryStore
from tests.support.fake_clock import EPOCH, FakeClock
from tests.support.fake_pager import NO, FakePager
from tests.support.storms import GROUPING
from tests.support.worker import Worker, incident_of, reply, user

LIMIT = 1024  # UTF-16 units of a summary; of more PagerDuty says 400
ROTA = Policy(steps=(Step(("first",)), Step(("second",), timedelta(minutes=10))))
SPRING = datetime(2026, 3, 29, 1, 0, tzinfo=UTC)  # in Berlin the clock goes from two to three
AUTUMN = datetime(2026, 11, 1, 6, 0, tzinfo=UTC)  # in New York it goes from two to one


async def a_worker(start: datetime = EPOCH, **given) -> Worker:
    worker = Worker(MemoryStore(), FakeClock(start), **given)
    await worker.start()
    return worker


def seconds(pager: FakePager, since: datetime) -> list[int]:
    """When this channel was asked."""
    return [round((at - since).total_seconds()) for at, page in pager.rung if page.kind is Kind.PAGE]


async def test_the_first_miss_of_a_fresh_process_rings_though_its_counters_are_broken():
    """R45. Pages come from rows; no counter stands between. So does the next one, which only time decides."""
    worker = await a_worker()
    vars(worker.metrics).clear()
    with capture_logs() as logged:
        await worker.read(user("c", "crisis", 0), reply("c", "sleep tip", 1))
        await worker.wait(5)
        assert [page.incident for page in worker.rung] == [incident_of("c")]
        await worker.read(user("d", "crisis", 5))
        await worker.wait(61)
        await worker.stop()
    assert [page.incident for page in worker.rung] == [incident_of("c"), incident_of("d")]
    assert "observer_failed" in {entry["event"] for entry in logged}


class Strict(FakePager):
    """Refuses what PagerDuty refuses."""

    async def send(self, page: Page) -> Attempt:
        summary = orjson.loads(event(page, PagerDutySettings(routing_key="k")))["payload"]["summary"]
        if len(summary.encode("utf-16-le")) // 2 > LIMIT or "\ufffd" in summary:
            self.then = NO
        return await super().send(page)


@pytest.mark.parametrize("before", [63, 127, 128, 1_020, 5_000])
@pytest.mark.parametrize("label", ["release", "region", "app"])
async def test_a_name_of_any_length_costs_no_page(label, before):
    """R51. From the event to the pager: one request, which is taken, and none is left to the next channel."""
    clock = FakeClock()
    strict, other = Strict("strict", clock), FakePager("other", clock)
    worker = Worker(MemoryStore(), clock, pagers=[strict, other], policy=Policy(steps=(Step(("strict",)),)))
    await worker.start()
    named = {label: "长" * before + "😀" * 5_000}
    await worker.read(user("c", "crisis", 0, **named), reply("c", "sleep tip", 1, **named))
    await worker.wait(5)
    await worker.stop()
    assert [page.incident for page in strict.got] == [incident_of("c")]
    assert (len(strict.rung), other.rung) == (1, [])


@pytest.mark.parametrize(
    "said",
    ["2026-03-01T22:30:00+08:00", "2026-03-01T14:30:00Z", "2026-03-01T09:30:00-05:00", 1_772_375_400_000],
)
async def test_late_in_the_evening_of_shanghai_it_rings_as_ever(said):
    """R55. However the app writes its hours: nothing here knows a time of the day at which nobody is called."""
    begun = datetime(2026, 3, 1, 14, 30, tzinfo=UTC)
    worker = await a_worker(begun)
    await worker.read(user("c", "crisis", 0, at=said))
    await worker.wait(61)
    await worker.stop()
    assert seconds(worker.first, begun) == [60]


async def test_so_it_does_at_all_hours_of_a_week():
    """R55."""
    for hour in range(0, 7 * 24, 11):
        begun = datetime(2026, 3, 1, tzinfo=UTC) + timedelta(hours=hour)
        worker = await a_worker(begun)
        await worker.read(user("c", "crisis", 0, at=begun.isoformat()))
        await worker.wait(61)
        await worker.stop()
        assert seconds(worker.first, begun) == [60], f"at {begun:%A %H:%M}"


async def test_a_channel_without_anybody_on_call_is_passed_over():
    """R59. It refuses; each call goes to the next one at once."""
    worker = await a_worker(SPRING, policy=Policy(steps=(Step(("first",)),)))
    worker.first.then = NO
    await worker.read(
        user("c", "crisis", 0, at=SPRING.isoformat()), reply("c", "sleep tip", 1, at=SPRING.isoformat())
    )
    await worker.wait(1800)
    await worker.stop()
    rung = seconds(worker.second, SPRING)
    assert rung[:3] == [2, 302, 602]
    assert len(rung) == 6
    assert worker.first.got == []


@pytest.mark.parametrize("change", [SPRING, AUTUMN])
@pytest.mark.parametrize("before", [3, 200, 3_599])
async def test_where_nobody_answers_while_clocks_are_set_the_next_one_is_called_in_time(change, before):
    """R59. The pager says yes, and its rota has a hole: five minutes are five minutes in that hour, too."""
    begun = change - timedelta(seconds=before)
    worker = await a_worker(begun, policy=ROTA)
    await worker.read(user("c", "crisis", 0, at=begun.isoformat()))
    await worker.wait(1_500)
    assert seconds(worker.first, begun) == [60, 960]
    assert seconds(worker.second, begun) == [360, 1260]
    await worker.stop()


async def test_a_reply_across_the_hour_that_is_left_out_came_in_time():
    """R59. Said at 01:59:50 and answered at 03:00:02, as local clocks have it: twelve seconds later."""
    worker = await a_worker(SPRING - timedelta(seconds=10))
    await worker.read(user("c", "crisis", 0, at="2026-03-29T01:59:50+01:00"))
    await worker.wait(12)
    await worker.read(reply("c", "good", 0, at="2026-03-29T03:00:02+02:00"))
    await worker.wait(600)
    await worker.stop()
    assert worker.rung == []


async def test_five_hundred_within_a_minute_and_nobody_is_switched_off():
    """R61. Few pages, everybody listed; whoever is dropped next rings by herself, of that release, too."""
    worker = await a_worker(policy=Policy(steps=(Step(("first",)),)), grouping=GROUPING)
    names = [f"person {number}" for number in range(500)]
    for second in range(60):
        said = [
            (user(name, "crisis", second), reply(name, "sleep tip", second)) for name in names[second::60]
        ]
        await worker.read(*(one for both in said for one in both))
        await worker.wait(1)
    await worker.wait(30)
    singles = {page.incident for page in worker.rung if not page.group}
    [group] = {page.incident for page in worker.rung if page.group}
    listed = {one.key for one in await worker.store.members(group, limit=1_000)}
    assert singles | listed == {incident_of(name) for name in names}
    assert len(worker.rung) <= 20
    for late, release in (("later", "unknown"), ("of another", "another"), ("last", "unknown")):
        await worker.wait(120)
        before, now = len(worker.rung), (worker.clock.now() - EPOCH).total_seconds()
        await worker.read(
            user(late, "crisis", now, release=release), reply(late, "sleep tip", now, release=release)
        )
        await worker.wait(5)
        assert incident_of(late) in {page.incident for page in worker.rung[before:]}
    await worker.stop()


async def test_with_nothing_set_but_a_channel_it_calls_and_calls_again(tmp_path, capsys):
    """R67. Calling is what the first start does; there is nothing to switch on."""
    settings = load(None, {"JIEZHU_PAGERS__CONSOLE": "true", "JIEZHU_STATE_DIR": str(tmp_path)})
    clock = FakeClock()
    worker = Worker(
        MemoryStore(),
        clock,
        policy=assembly.policy(settings),
        pagers=assembly.pagers(settings, clock),
        grouping=assembly.grouping(settings, GROUPING.links),
    )
    await worker.start()
    await worker.read(user("c", "crisis", 0))
    await worker.wait(70)
    first = capsys.readouterr().err.splitlines()
    await worker.wait(300)
    again = capsys.readouterr().err.splitlines()
    await worker.stop()
    assert (await worker.store.incident(incident_of("c"))).state is State.PAGING
    assert [line.startswith("Crisis not caught") for line in first] == [True]
    assert len(again) == 1


def test_no_setting_switches_calling_off():
    """R67. What can be switched are the made-up crisis, and figures of releases."""
    switches = {name for name in environment_names() if name.endswith(("ENABLED", "DISABLED", "OFF", "ON"))}
    assert switches == {"JIEZHU_CANARY__ENABLED", "JIEZHU_PUBLISHING__ENABLED"}
