"""The pager fails in every way that pagers do (R53): the page arrives soon after it mends, or over the next channel."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import httpx2
import pytest

from alerts.delivery import Attempt, Delivery, State
from alerts.page import Kind, Page
from alerts.pagers.pagerduty import PagerDuty, PagerDutySettings
from alerts.pagers.webhook import Webhook, WebhookSettings
from alerts.ports import Notification, Pager
from alerts.relay import Grouping, Relay
from alerts.storm import Reason, StormPolicy
from monitor.clock import SystemClock
from monitor.demo.pager import FakePager, Received
from monitor.store.sql import SqlStore
from monitor.store.work import Work
from tests.support.certificates import make_certificate, serving, trusting
from tests.support.form import Form, Tell
from tests.support.scripted_server import Cut, Drip, Garbage, Hang, ScriptedServer, Status, Step, refused_url
from tests.support.stores import KEYRING
from tests.support.storms import GROUPING, LINKS, a_row
from tests.support.until import until

pytestmark = [pytest.mark.promise, pytest.mark.xdist_group("patience")]

YES = Status(202)
NEXT_CHANNEL = timedelta(seconds=30)
NO_LIMIT = Grouping(StormPolicy(requests=1_000_000, singles=1_000_000), LINKS)
ANSWER = 1.5  # seconds that a slow pager takes: longer than a relay rests
# A page, a rise and an update of the same incident, one after the other.
SAID = (
    ("", Kind.PAGE, "active_ideation"),
    ("r9", Kind.PAGE, "in_progress"),
    ("", Kind.ACKNOWLEDGE, "active_ideation"),
)
RETRY_AFTER = timedelta(seconds=3)
MENDS: dict[str, Step] = {
    "500": Status(500),
    "hang": Hang(),
    "429": Status(429, {"Retry-After": str(RETRY_AFTER.seconds)}),
    "answer-lost": Cut(),
    "slow-answer": Drip(),
    "garbage": Garbage(),
}
NEVER_MENDS: dict[str, Step] = MENDS | {
    "400": Status(400),
    "403": Status(403),
    "429-for-an-hour": Status(429, {"Retry-After": "3600"}),
}


@dataclass(frozen=True)
class Asked:
    at: datetime
    attempt: Attempt
    delivery: Delivery


@dataclass
class Ear:
    """A RelayObserver that remembers what each channel answered."""

    clock: SystemClock
    asked: dict[str, list[Asked]] = field(default_factory=dict)
    reasons: Counter[Reason] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def sent(
        self, page: Page, pager: str, attempt: Attempt, delivery: Delivery, seconds_since_detected: float
    ) -> None:
        del page, seconds_since_detected
        self.asked.setdefault(pager, []).append(Asked(self.clock.now(), attempt, delivery))

    def accepted(self, pager: str) -> bool:
        return any(one.delivery.state is State.ACCEPTED for one in self.asked.get(pager, ()))

    def dropped(self, page: Page, delivery: Delivery) -> None:
        self.failures.append(f"{page.kind.value} {delivery.reason}")

    def admitted(self, page: Page, reason: Reason) -> None:
        del page
        self.reasons[reason] += 1

    def went_round(self, now: datetime) -> None:
        pass

    def outbox_failed(self, operation: str) -> None:
        self.failures.append(operation)


@contextlib.asynccontextmanager
async def relaying(
    url: str, pagers: Sequence[Pager], relays: int = 1, grouping: Grouping = GROUPING
) -> AsyncIterator[tuple[SqlStore, Ear]]:
    """Relays of as many workers, over one database."""
    clock = SystemClock()
    ear = Ear(clock)
    stores = [SqlStore(url, KEYRING, timedelta(seconds=10)) for _ in range(relays)]
    running = [Relay(store, pagers, clock, ear, grouping=grouping) for store in stores]
    tasks = []
    for relay in running:
        tasks.append(asyncio.create_task(relay.run()))
        await asyncio.sleep(0.5 * (relay is not running[-1]))  # they look at different times, as workers do
    try:
        yield stores[0], ear
        assert ear.failures == []
        assert not ear.reasons[Reason.CARRIED], "a pager in trouble makes no groups"
    finally:
        for relay in running:
            relay.stop()
        await asyncio.gather(*tasks)
        for closes in (*pagers, *stores):
            await closes.close()


def pagerduty(name: str, url: str, limit: float, client: httpx2.AsyncClient | None = None) -> PagerDuty:
    settings = PagerDutySettings(
        name=name, routing_key="routing-key", url=url, time_limit=timedelta(seconds=limit)
    )
    return PagerDuty(settings, SystemClock(), client)


async def test_the_page_arrives_within_twice_the_back_off_after_the_pager_mends(
    sqlite_url: str, tmp_path: Path, form: Form, tell: Tell
) -> None:
    outage, limit = form.pick((7.0, 2.0), (90.0, 8.0))
    wrong, right = make_certificate(tmp_path, "wrong"), make_certificate(tmp_path, "right")
    async with contextlib.AsyncExitStack() as stack:
        servers = {name: await stack.enter_async_context(ScriptedServer()) for name in MENDS}
        for name, step in MENDS.items():
            servers[name].script(then=step)
        servers["tls"] = await stack.enter_async_context(ScriptedServer(serving(wrong)))
        servers["tls"].script(then=YES)
        trusts = httpx2.AsyncClient(verify=trusting(right), trust_env=False)
        stack.push_async_callback(trusts.aclose)
        pagers = [
            pagerduty(name, server.url, limit, trusts if name == "tls" else None)
            for name, server in servers.items()
        ]
        store, ear = await stack.enter_async_context(relaying(sqlite_url, pagers))
        begun = ear.clock.now()
        await store.commit(Work(notifications=[_alone(n, begun, name) for n, name in enumerate(servers)]))
        await asyncio.sleep(outage)
        for server in servers.values():
            server.script(then=YES)
        servers["tls"].present(right)
        mended = ear.clock.now()
        await until(lambda: all(ear.accepted(name) for name in servers), 120, 0.05)
        late = {name: _late(ear.asked[name], mended, limit) for name in servers}
        keys = {
            name: {request.json()["dedup_key"] for request in server.requests}
            for name, server in servers.items()
        }
        worst = max(late.values())
        tell(
            5,
            "the pager mends",
            f"after {outage:g} s of each of {', '.join(servers)}: every page arrived, "
            f"at the latest after {worst:.2f} of the back-off that stood",
        )
        assert worst <= 2
        assert all(len(found) == 1 for found in keys.values()), "repeats under another key"
        gaps = [b.at - a.at for a, b in itertools.pairwise(ear.asked["429"])]
        assert all(gap >= RETRY_AFTER for gap in gaps), "asked again before Retry-After"


def _alone(number: int, now: datetime, channel: str) -> Notification:
    """A page that has nowhere else to go."""
    row = a_row(number, now, target=channel)
    return Notification(row.id, row.page, Delivery((channel,)), now)


def _late(asked: Sequence[Asked], mended: datetime, limit: float) -> float:
    """How long after it mended the pager had the page, in back-offs.

    A request that was on its way then counts as outage, at most for its time limit.
    """
    failed = [one for one in asked if one.delivery.next_at is not None]
    if not failed:
        return 0.0
    last = failed[-1]
    assert last.at <= mended + timedelta(seconds=limit + 1), "it failed again after it mended"
    assert last.delivery.next_at is not None
    wait = last.delivery.next_at - last.at
    return (asked[-1].at - max(mended, last.at)) / max(wait, timedelta(seconds=0.5))


async def test_a_pager_that_never_mends_is_left_for_the_next_within_30_seconds(
    sqlite_url: str, tmp_path: Path, form: Form, tell: Tell
) -> None:
    each = form.pick(1, 5)
    wrong = make_certificate(tmp_path, "wrong")
    async with contextlib.AsyncExitStack() as stack:
        urls = {"dns": "https://pager.invalid"}
        for name, step in NEVER_MENDS.items():
            server = await stack.enter_async_context(ScriptedServer())
            server.script(then=step)
            urls[name] = server.url
        urls["refused"] = await stack.enter_async_context(refused_url())
        tls = await stack.enter_async_context(ScriptedServer(serving(wrong)))
        urls["tls"] = tls.url
        good = await stack.enter_async_context(ScriptedServer())
        good.script(then=YES)
        pagers = [
            *(pagerduty(name, url, 8) for name, url in urls.items()),
            pagerduty("other", good.url, 8),
        ]
        store, ear = await stack.enter_async_context(relaying(sqlite_url, pagers))
        begun = ear.clock.now()
        names = [name for name in urls for _ in range(each)]
        rows = [a_row(number, begun, target=name, release=name) for number, name in enumerate(names)]
        await store.commit(Work(notifications=rows))
        await until(lambda: len(ear.asked.get("other", ())) >= len(rows), 60, 0.05)
        after = [one.at - begun for one in ear.asked["other"]]
        heard = {request.json()["dedup_key"] for request in good.requests}
        tell(
            5,
            "the pager never mends",
            f"{len(urls)} ways to fail: the next channel had the page after {max(after).total_seconds():.1f} s "
            f"at the latest, {len(rows) - len(heard)} lost",
        )
        assert heard == {row.page.dedup_key for row in rows}
        assert max(after) <= NEXT_CHANNEL
        assert not tls.requests, "somebody spoke to a pager that nobody trusts"


async def test_no_two_requests_of_one_incident_are_on_their_way_at_once(
    url: str, form: Form, tell: Tell
) -> None:
    incidents = form.pick(10, 200)
    on_the_way: Counter[str] = Counter()
    most: Counter[str] = Counter()
    heard: list[tuple[str, str]] = []
    crossed = 0

    async def hear(received: Received) -> None:
        nonlocal crossed
        incident = str(received.content["incident"])
        on_the_way[incident] += 1
        most[incident] = max(most[incident], on_the_way[incident])
        crossed = max(crossed, on_the_way.total())
        await asyncio.sleep(ANSWER)
        on_the_way[incident] -= 1
        heard.append((incident, str(received.content["kind"])))

    clock = SystemClock()
    pager = FakePager(b"secret", clock, hear)
    pager.start()
    webhook = Webhook(WebhookSettings(name="anna", url=pager.url, secret="secret"), clock)
    async with relaying(url, [webhook], relays=2, grouping=NO_LIMIT) as (store, ear):
        due = set()
        for alert, kind, level in SAID:
            now = ear.clock.now()
            rows = [
                a_row(number, now, alert=alert, kind=kind, release=f"r{number}", level=level)
                for number in range(incidents)
            ]
            due |= {(row.page.incident, row.page.kind.value) for row in rows}
            await store.commit(Work(notifications=[_to(row) for row in rows]))
            await asyncio.sleep(
                ANSWER / 3
            )  # the other worker looks next, while the first waits for its answer
        await until(lambda: set(heard) >= due and len(heard) >= incidents * 3, form.pick(60, 1800), 0.1)
        held = ear.reasons[Reason.HELD]
    await pager.stop()
    tell(
        5,
        f"one request of an incident at a time ({'postgres' if url.startswith('postgres') else 'sqlite'})",
        f"{len(heard)} requests of {incidents} incidents by two workers, up to {crossed} at once, "
        f"at most {max(most.values())} of one incident; held {held} times",
    )
    assert max(most.values()) == 1
    assert crossed > 1, "nothing was at once, so nothing was tried"


def _to(row: Notification) -> Notification:
    return Notification(row.id, row.page, Delivery(("anna",)), row.created_at)
