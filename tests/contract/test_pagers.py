"""Every pager that speaks HTTP, against one receiver that can misbehave in every way."""

from __future__ import annotations

import io
import logging
from datetime import timedelta
from email.utils import format_datetime

import httpx2
import pytest
from pydantic import SecretStr

from alerts.delivery import Answer, Attempt, RetryPolicy, State, answered, started
from alerts.page import Kind, Trouble
from alerts.pagers.alertmanager import Alertmanager, AlertmanagerSettings
from alerts.pagers.console import Console
from alerts.pagers.pagerduty import PagerDuty, PagerDutySettings
from alerts.pagers.webhook import Webhook, WebhookSettings
from alerts.ports import Pager
from tests.support.fake_clock import EPOCH, FakeClock
from tests.support.pages import a_notification, a_page
from tests.support.scripted_server import Cut, Drip, Garbage, Hang, HugeBody, Status, refused_url

SHORT = timedelta(milliseconds=200)
GENEROUS = timedelta(seconds=5)
YES = {"pagerduty": 202, "alertmanager": 200, "webhook": 204}
SECRETS = ("the-secret", "the-routing-key", "the-token", "hidden-path")


def make(service: str, url: str, limit: timedelta, clock: FakeClock) -> Pager:
    client = httpx2.AsyncClient(trust_env=False)
    url = f"{url}/hidden-path"
    if service == "pagerduty":
        pager: Pager = PagerDuty(
            PagerDutySettings(url=url, routing_key="the-routing-key", time_limit=limit), clock, client
        )
    elif service == "alertmanager":
        pager = Alertmanager(
            AlertmanagerSettings(url=url, token="the-token", time_limit=limit), clock, client
        )
    else:
        pager = Webhook(WebhookSettings(url=url, secret="the-secret", time_limit=limit), clock, client)
    return pager


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture(params=["pagerduty", "alertmanager", "webhook"])
def service(request):
    return request.param


@pytest.fixture
async def pagers(clock):
    """Makes pagers of one service over a client of their own, and closes them."""
    made = []

    def build(service, url, limit=GENEROUS):
        pager = make(service, url, limit, clock)
        made.append(pager)
        return pager

    yield build
    for pager in made:
        await pager.close()
        await pager._messenger._client.aclose()


async def ask(pagers, service, server, *steps, limit=GENEROUS) -> Attempt:
    server.script(*steps)
    return await pagers(service, server.url, limit).send(a_page())


async def test_the_services_own_yes_is_accepted(pagers, service, scripted_server):
    attempt = await ask(pagers, service, scripted_server, Status(YES[service]))
    assert attempt.answer is Answer.ACCEPTED
    assert len(scripted_server.requests) == 1
    assert scripted_server.requests[0].method == "POST"


@pytest.mark.parametrize("status", [200, 201, 202, 204])
async def test_a_webhook_may_say_yes_in_several_ways(pagers, scripted_server, status):
    assert (await ask(pagers, "webhook", scripted_server, Status(status))).answer is Answer.ACCEPTED


@pytest.mark.parametrize(("name", "status"), [("pagerduty", 200), ("alertmanager", 202), ("webhook", 206)])
async def test_a_yes_that_is_not_the_services_is_none(pagers, scripted_server, name, status):
    attempt = await ask(pagers, name, scripted_server, Status(status))
    assert attempt == Attempt(Answer.UNAVAILABLE, f"http_{status}")


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 413, 422])
async def test_a_refusal_is_final_for_the_channel(pagers, service, scripted_server, status):
    attempt = await ask(pagers, service, scripted_server, Status(status))
    assert attempt == Attempt(Answer.REJECTED, f"http_{status}")


@pytest.mark.parametrize("status", [408, 409, 425, 429])
async def test_not_now_is_asked_again(pagers, service, scripted_server, status):
    attempt = await ask(pagers, service, scripted_server, Status(status))
    assert attempt == Attempt(Answer.THROTTLED, f"http_{status}")


async def test_retry_after_in_seconds(pagers, service, scripted_server):
    attempt = await ask(pagers, service, scripted_server, Status(429, {"Retry-After": "7"}))
    assert attempt == Attempt(Answer.THROTTLED, "http_429", timedelta(seconds=7))


async def test_retry_after_as_a_date(pagers, service, scripted_server):
    date = format_datetime(EPOCH + timedelta(seconds=90), usegmt=True)
    attempt = await ask(pagers, service, scripted_server, Status(503, {"Retry-After": date}))
    assert attempt == Attempt(Answer.UNAVAILABLE, "http_503", timedelta(seconds=90))


@pytest.mark.parametrize(
    ("value", "wait"),
    [
        ("soon", None),
        ("", None),
        ("-3", None),
        ("1.5", None),
        ("٣", None),
        ("9" * 400, timedelta(days=1)),
        ("Fri, 01 Jan 1999 00:00:00 GMT", timedelta(0)),
        ("Fri, 99 Foo 1999 00:00:00 GMT", None),
    ],
)
async def test_an_odd_retry_after_breaks_nothing(value, wait):
    from alerts.pagers.http import retry_after

    assert retry_after(value, EPOCH) == wait


@pytest.mark.parametrize("status", [500, 502, 503, 504])
async def test_a_broken_receiver_is_asked_again(pagers, service, scripted_server, status):
    attempt = await ask(pagers, service, scripted_server, Status(status))
    assert attempt == Attempt(Answer.UNAVAILABLE, f"http_{status}")


async def test_redirects_are_not_followed(pagers, service, scripted_server):
    elsewhere = Status(307, {"Location": f"{scripted_server.url}/elsewhere"})
    attempt = await ask(pagers, service, scripted_server, elsewhere)
    assert attempt == Attempt(Answer.REJECTED, "http_307")
    assert len(scripted_server.requests) == 1


async def test_nobody_there_is_unavailable(pagers, service):
    async with refused_url() as url:
        attempt = await pagers(service, url).send(a_page())
    assert attempt == Attempt(Answer.UNAVAILABLE, "no_connection")


@pytest.mark.parametrize("step", [Hang(), Drip()])
async def test_no_answer_in_time_may_have_been_a_yes(pagers, service, scripted_server, step):
    scripted_server.script(then=step)
    limit = SHORT
    while not scripted_server.requests:  # a busy machine may not even connect in so short a time
        attempt = await pagers(service, scripted_server.url, limit).send(a_page())
        limit = min(limit * 2, GENEROUS)
    assert attempt == Attempt(Answer.LOST, "timeout")


@pytest.mark.parametrize("step", [Cut(), Garbage()])
async def test_a_lost_answer_may_have_been_a_yes(pagers, service, scripted_server, step):
    attempt = await ask(pagers, service, scripted_server, step)
    assert attempt == Attempt(Answer.LOST, "connection_lost")
    assert len(scripted_server.requests) == 1


async def test_a_body_without_end_does_not_hold_up_the_yes(pagers, service, scripted_server):
    attempt = await ask(pagers, service, scripted_server, HugeBody(YES[service]))
    assert attempt.answer is Answer.ACCEPTED


async def test_a_receiver_that_flaps_gets_one_page_by_its_key(pagers, service, scripted_server, clock):
    """R53: 500 for two minutes, then yes; what it keeps by key is one page."""
    policy = RetryPolicy()
    pager = pagers(service, scripted_server.url)
    page, delivery = a_page(), a_notification(route=(service,)).delivery
    scripted_server.script(*[Status(500)] * 3, Cut(), then=Status(500))
    while delivery.state is not State.ACCEPTED:
        if clock.now() - EPOCH > timedelta(minutes=2):
            scripted_server.script(then=Status(YES[service]))
        delivery = started(delivery, clock.now())
        delivery = answered(delivery, await pager.send(page), clock.now(), policy)
        if delivery.next_at is not None:
            await clock.advance_to(delivery.next_at)
    assert delivery.attempts == len(scripted_server.requests) > 5
    assert len({key_of(service, request.json()) for request in scripted_server.requests}) == 1
    assert clock.now() - EPOCH < timedelta(minutes=3)


def key_of(service, said):
    """By what the receiver knows a page again."""
    return str(sorted(said[0]["labels"].items())) if service == "alertmanager" else said["dedup_key"]


async def test_secrets_show_nowhere(pagers, service, scripted_server, caplog):
    with caplog.at_level(logging.DEBUG):
        pager = pagers(service, scripted_server.url, SHORT)
        scripted_server.script(Status(400, body=b"the-secret"), Cut(), Hang(), Status(YES[service]))
        attempts = [await pager.send(a_page()) for _ in range(4)]
    told = repr(attempts) + repr(pager) + repr(vars(pager).get("_settings")) + caplog.text
    for secret in SECRETS:
        assert secret not in told
    assert scripted_server.url not in told


@pytest.mark.parametrize("kind", list(Kind))
async def test_every_kind_of_notification_is_sent(pagers, service, scripted_server, kind):
    firing = b'[{"labels": {"incident": "i-1", "level": "x"}, "startsAt": "2026-03-01T03:00:00Z"}]'
    if service == "alertmanager" and kind in (Kind.ACKNOWLEDGE, Kind.RESOLVE):
        scripted_server.script(Status(200, body=firing), Status(200))
    else:
        scripted_server.script(Status(YES[service]))
    attempt = await pagers(service, scripted_server.url).send(a_page(kind=kind))
    assert attempt.answer is Answer.ACCEPTED


@pytest.mark.parametrize("trouble", list(Trouble))
async def test_a_page_about_the_monitor_itself_is_sent(pagers, service, scripted_server, trouble):
    page = a_page(trouble=trouble, level="", outcome="", release="", track="", reason="why")
    scripted_server.script(Status(YES[service]))
    assert (await pagers(service, scripted_server.url).send(page)).answer is Answer.ACCEPTED


async def test_hostile_labels_do_not_lose_the_page(pagers, service, scripted_server):
    """R51. Whatever service it is."""
    scripted_server.script(Status(YES[service]))
    page = a_page(
        release="\ud800\n😀" * 5000,
        track="\x00",
        region="\u202e" * 50,
        dedup_key="键\ud800" * 300,
        score=float("nan"),
    )
    assert (await pagers(service, scripted_server.url).send(page)).answer is Answer.ACCEPTED
    body = scripted_server.requests[0].body
    assert len(body) < 100_000
    body.decode("utf-8")


@pytest.mark.parametrize("kind", list(Kind))
async def test_the_console_writes_one_line(kind):
    stream = io.StringIO()
    attempt = await Console(stream=stream).send(a_page(kind=kind, release="7\n8"))
    assert attempt.answer is Answer.ACCEPTED
    assert stream.getvalue().count("\n") == 1
    assert "https://jiezhu.example/incidents/i-1" in stream.getvalue()


async def test_a_console_whose_stream_is_closed_says_so():
    stream = io.StringIO()
    stream.close()
    assert await Console(stream=stream).send(a_page()) == Attempt(Answer.UNAVAILABLE, "stream_closed")


async def test_a_pager_makes_its_own_client(clock, service, scripted_server):
    scripted_server.script(Status(YES[service]))
    url = SecretStr(scripted_server.url)
    pager: Pager
    if service == "pagerduty":
        pager = PagerDuty(PagerDutySettings(url=url, routing_key="k"), clock)
    elif service == "alertmanager":
        pager = Alertmanager(AlertmanagerSettings(url=url), clock)
    else:
        pager = Webhook(WebhookSettings(url=url, secret="s"), clock)
    assert (await pager.send(a_page())).answer is Answer.ACCEPTED
    await pager.close()
    assert (await pager.send(a_page())).answer is Answer.UNAVAILABLE  # closed, but it does not raise
