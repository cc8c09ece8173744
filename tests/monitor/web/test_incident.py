"""The page behind a signed link: opening it does nothing, pressing the button does."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import urlsplit

import httpx2
import pytest
from prometheus_client import CollectorRegistry

from alerts.incident import State
from alerts.signing import link
from monitor.errors import StoreError
from monitor.health import Health
from monitor.web import incident as incident_page
from monitor.web.app import build
from tests.support.away_store import EVERYTHING, AwayStore
from tests.support.fake_clock import FakeClock
from tests.support.worker import Worker, incident_of, reply, user

KEY = b"k" * 32
DAY = timedelta(days=1)
CANARY = "canary words"


@pytest.fixture
async def worker():
    worker = Worker(AwayStore(), FakeClock())
    await worker.read(
        user("c-raw", f"crisis|{CANARY}", 0, user_ref="u-raw", event_id="e-raw", release='<b>"7"'),
        reply("c-raw", f"sleep tip|{CANARY}", 1, release='<b>"7"'),
    )
    worker.clock.jump(timedelta(seconds=4))
    await worker.timers.fire(worker.clock.now())
    return worker


@pytest.fixture
async def client(worker):
    app = build(
        CollectorRegistry(),
        lambda: Health(()),
        lambda: Health(("database_away",)),
        lambda: "{}",
        incident_page.routes([KEY], worker.store, worker.people, worker.clock),
    )
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        yield client


def signed(worker: Worker, action: str = "ack", key: str | None = None, life: timedelta = DAY) -> str:
    whole = link(KEY, "http://127.0.0.1", key or incident_of("c-raw"), action, worker.clock.now() + life)
    parts = urlsplit(whole)
    return f"{parts.path}?{parts.query}"


async def state(worker: Worker) -> State:
    return (await worker.store.incident(incident_of("c-raw"))).state


async def test_opening_shows_and_does_nothing(client, worker):
    shown = await client.get(signed(worker))
    assert shown.status_code == 200
    assert "<form method" in shown.text
    assert await state(worker) is State.PAGING


async def test_head_does_nothing(client, worker):
    assert (await client.head(signed(worker))).status_code == 200
    assert await state(worker) is State.PAGING


async def test_pressing_acknowledges(client, worker):
    done = await client.post(signed(worker))
    assert done.status_code == 200
    assert "Acknowledged" in done.text
    assert "<form" not in done.text
    assert await state(worker) is State.ACKNOWLEDGED


async def test_pressing_resolves(client, worker):
    assert (await client.post(signed(worker, "resolve"))).status_code == 200
    assert await state(worker) is State.RESOLVED


async def test_pressing_twice_says_so(client, worker):
    await client.post(signed(worker))
    assert "It was done before" in (await client.post(signed(worker))).text


async def test_showing_has_no_button_and_takes_no_post(client, worker):
    assert "<form" not in (await client.get(signed(worker, "show"))).text
    assert (await client.post(signed(worker, "show"))).status_code == 405
    assert await state(worker) is State.PAGING


@pytest.mark.parametrize(
    "change",
    [
        lambda url: url.replace("signature=", "signature=0"),
        lambda url: url.partition("&signature")[0],
        lambda url: url.partition("?")[0],
        lambda url: url.replace("/ack?", "/resolve?"),
        lambda url: url.replace(incident_of("c-raw"), incident_of("d")),
        lambda url: url.replace("expires=", "expires=9"),
        lambda url: url.replace("signature=", "signature=%F0%9F%98%80"),
    ],
    ids=["wrong", "unsigned", "bare", "other action", "other incident", "other time", "no ascii"],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_link_that_is_not_ours_opens_nothing(client, worker, change, method):
    refused = await client.request(method, change(signed(worker)))
    assert refused.status_code == 403
    assert incident_of("c-raw") not in refused.text
    assert await state(worker) is State.PAGING


async def test_an_expired_link_opens_nothing(client, worker):
    url = signed(worker, life=timedelta(hours=1))
    worker.clock.jump(timedelta(hours=1, seconds=1))
    refused = await client.post(url)
    assert refused.status_code == 403
    assert "expired" in refused.text
    assert await state(worker) is State.PAGING


async def test_an_unknown_incident(client, worker):
    for method in ("GET", "POST"):
        assert (await client.request(method, signed(worker, key="jz-nothing-1"))).status_code == 404


async def test_an_unknown_action(client, worker):
    assert (await client.get(signed(worker, "erase"))).status_code == 404


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_the_database_is_away(client, worker, method):
    worker.store.away = EVERYTHING
    away = await client.request(method, signed(worker))
    assert away.status_code == 503
    assert "Try again" in away.text


async def test_the_database_refuses(client, worker):
    async def refuse(_work):
        raise StoreError(CANARY)

    worker.store.commit = refuse
    refused = await client.post(signed(worker))
    assert refused.status_code == 503
    assert CANARY not in refused.text


async def test_every_answer_forbids_frames_scripts_and_keeping(client, worker):
    urls = [signed(worker), signed(worker).partition("?")[0], signed(worker, key="x"), signed(worker, "y")]
    for url in urls:
        headers = (await client.get(url)).headers
        assert headers["cache-control"] == "no-store"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]


async def test_no_word_and_no_raw_id_is_shown(client, worker):
    answers = [
        await client.get(signed(worker, "show")),
        await client.post(signed(worker)),
        await client.get(signed(worker, key="x")),
        await client.get("/"),
    ]
    for answer in answers:
        for secret in (CANARY, "c-raw", "u-raw", "e-raw"):
            assert secret not in answer.text


async def test_a_release_is_text_not_markup(client, worker):
    shown = (await client.get(signed(worker, "show"))).text
    assert "<b>" not in shown
    assert "&lt;b&gt;" in shown


async def test_health_answers_by_its_status(client):
    assert (await client.get("/livez")).status_code == 200
    failing = await client.get("/readyz")
    assert (failing.status_code, failing.json()) == (
        503,
        {"status": "failing", "reasons": ["database_away"]},
    )
