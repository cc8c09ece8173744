"""The list behind a group's signed link: everybody is in it with an owner, and one button takes them all."""

from __future__ import annotations

import re
from datetime import timedelta
from urllib.parse import urljoin, urlsplit

import httpx2
import pytest
from prometheus_client import CollectorRegistry

from alerts.group import Group
from alerts.incident import State
from alerts.signing import link
from monitor.errors import RowDamaged
from monitor.health import Health
from monitor.web import group as group_page
from monitor.web import incident as incident_page
from monitor.web.app import build
from tests.support.away_store import EVERYTHING, AwayStore
from tests.support.fake_clock import FakeClock
from tests.support.storms import GROUPING
from tests.support.worker import Worker, incident_of, reply, user

KEY = b"k" * 32
MANY = 130
CANARY = "canary words"
ROW = re.compile(r"<tr><td><a href=\"([^\"]+)\">(jz-[^<]+)</a></td><td>([^<]*)</td>.*?<td>([^<]*)</td></tr>")


@pytest.fixture
async def worker():
    worker = Worker(AwayStore(), FakeClock(), grouping=GROUPING)
    await worker.start()
    facts = {"release": '<b>"7"', "user_ref": "u-raw"}
    for number in range(MANY):
        name = f"c{number}"
        await worker.read(
            user(name, f"crisis|{CANARY}", 0, **facts), reply(name, f"sleep tip|{CANARY}", 1, **facts)
        )
    await worker.wait(10)
    yield worker
    await worker.stop()


@pytest.fixture
def group(worker):
    [found] = worker.store._grouped.groups()
    return found.key


@pytest.fixture
async def client(worker):
    app = build(
        CollectorRegistry(),
        lambda: Health(()),
        lambda: Health(()),
        lambda: "{}",
        [
            *group_page.routes([KEY], worker.store, worker.groups, worker.paging, worker.clock),
            *incident_page.routes([KEY], worker.store, worker.people, worker.clock),
        ],
    )
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        yield client


def signed(worker: Worker, key: str, action: str = "ack", life: timedelta = timedelta(days=1)) -> str:
    whole = link(KEY, "http://127.0.0.1", key, action, worker.clock.now() + life, "groups")
    parts = urlsplit(whole)
    return f"{parts.path}?{parts.query}"


def seen_from(page: str, href: str) -> str:
    """Where a browser goes that has opened ``page``."""
    return urljoin(page, href.replace("&amp;", "&"))


async def everything(client, first: str) -> list[tuple[str, str, str, str]]:
    """Follow the list from page to page."""
    found, where = [], first
    while True:
        text = (await client.get(where)).text
        found += ROW.findall(text)
        after = re.findall(r'<a href="([^"]*)">Page (\d+)</a>', text)
        current = int(re.findall(r"Page (\d+)", re.sub(r"<a.*?</a>", "", text))[-1])
        ahead = [href for href, number in after if int(number) == current + 1]
        if not ahead:
            return found
        where = first.split("?", maxsplit=1)[0] + ahead[0].replace("&amp;", "&")


async def test_everybody_is_listed_once_with_state_and_owner(client, worker, group):
    found = await everything(client, signed(worker, group))
    singles = {page.incident for page in worker.rung if not page.group}
    listed = [key for _, key, _, _ in found]
    assert len(listed) == len(set(listed)) == MANY - len(singles)
    assert set(listed) | singles == {incident_of(f"c{number}") for number in range(MANY)}
    assert {(state, owner) for _, _, state, owner in found} == {("paging", "first")}


async def test_opening_does_nothing_and_pressing_takes_everybody(client, worker, group):
    url = signed(worker, group)
    assert "<form method" in (await client.get(url)).text
    assert worker.store._grouped.group(group).ringing
    done = await client.post(url)
    assert (done.status_code, "Acknowledged" in done.text, "<form" in done.text) == (200, True, False)
    await worker.wait(3)
    assert {(state, owner) for _, _, state, owner in await everything(client, url)} == {
        ("acknowledged", "link")
    }
    assert "It was done before" in (await client.post(url)).text


async def test_one_can_be_taken_by_itself(client, worker, group):
    href, key, _, _ = (await everything(client, signed(worker, group)))[0]
    assert "/ack?" in href
    assert (await client.post(seen_from(signed(worker, group), href))).status_code == 200
    assert (await worker.store.incident(key)).state is State.ACKNOWLEDGED
    states = [state for _, _, state, _ in await everything(client, signed(worker, group))]
    assert states.count("acknowledged") == 1


async def test_links_of_the_list_stay_below_the_public_address(client, worker, group):
    """Which may be a path on somebody's host."""
    url = signed(worker, group)
    href, key, _, _ = (await everything(client, url))[0]
    whole = seen_from(f"https://ops.example.org/jiezhu{url}", href)
    assert whole.startswith(f"https://ops.example.org/jiezhu/incidents/{key}/ack?")


async def test_a_link_to_look_gives_none_to_act(client, worker, group):
    url = signed(worker, group, "show")
    assert (await client.post(url)).status_code == 405
    text = (await client.get(url)).text
    assert "<form" not in text
    assert "/ack?" not in text


async def test_it_shows_no_words_and_no_raw_ids(client, worker, group):
    text = (await client.get(signed(worker, group))).text
    assert CANARY not in text
    assert "u-raw" not in text
    assert '<b>"7"' not in text
    assert "&lt;b&gt;" in text


@pytest.mark.parametrize("page", ["0", "-1", "x", "９", "9" * 30, "1 OR 1"])
async def test_a_page_that_is_none_is_the_first(client, worker, group, page):
    first = await client.get(signed(worker, group))
    odd = await client.get(f"{signed(worker, group)}&page={page}")
    assert (odd.status_code, ROW.findall(odd.text)) == (200, ROW.findall(first.text))


async def test_of_a_group_that_cannot_be_read_it_says_where_its_incidents_are(worker, group):
    class Damaged(AwayStore):
        async def group(self, key: str) -> Group | None:
            raise RowDamaged("a stored group is damaged")

    routes = group_page.routes([KEY], Damaged(), worker.groups, worker.paging, worker.clock)
    health = Health(())
    app = build(CollectorRegistry(), lambda: health, lambda: health, lambda: "{}", routes)
    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app=app), base_url="http://127.0.0.1"
    ) as client:
        found = await client.get(signed(worker, group))
    assert found.status_code == 503
    assert "jiezhu incidents list" in found.text


async def test_a_link_that_is_not_ours_opens_nothing(client, worker, group):
    good = signed(worker, group)
    for bad in (good[:-1], signed(worker, group, life=timedelta(0)), good.replace("ack", "show")):
        assert (await client.get(bad)).status_code == 403
        assert (await client.post(bad)).status_code == 403
    assert (await client.get(f"/groups/{group}/resolve?expires=1&signature=x")).status_code == 404
    assert (await client.get(signed(worker, "jz-group-none"))).status_code == 404
    assert (await client.post(signed(worker, "jz-group-none"))).status_code == 404


async def test_a_database_that_is_away_says_so(client, worker, group):
    worker.store.away = EVERYTHING
    assert (await client.get(signed(worker, group))).status_code == 503
    assert (await client.post(signed(worker, group))).status_code == 503
