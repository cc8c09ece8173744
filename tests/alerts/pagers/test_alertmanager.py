from datetime import datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import httpx2
import orjson
import pytest

from alerts.delivery import Answer, Attempt
from alerts.page import Kind
from alerts.pagers.alertmanager import Alertmanager, AlertmanagerSettings, alert
from tests.support.fake_clock import EPOCH, FakeClock
from tests.support.pages import a_page
from tests.support.scripted_server import ScriptedServer, Status

SETTINGS = AlertmanagerSettings(url="http://127.0.0.1:1")
FIRING = [
    {
        "labels": {"incident": "i-1", "level": "plan_intent"},
        "startsAt": "2026-03-01T03:00:00.000Z",
        "status": {},
    },
    {
        "labels": {"incident": "i-1", "level": "in_progress"},
        "startsAt": "2026-03-01T03:00:09.000Z",
        "status": {},
    },
]


@pytest.fixture
async def server():
    async with ScriptedServer() as server:
        yield server


@pytest.fixture
async def pager(server):
    client = httpx2.AsyncClient(trust_env=False)
    settings = AlertmanagerSettings(url=f"{server.url}/prefix/", token="the-token")
    yield Alertmanager(settings, FakeClock(EPOCH + timedelta(minutes=1)), client)
    await client.aclose()


def test_labels_are_the_identity():
    assert alert(a_page(), SETTINGS, EPOCH)["labels"] == {
        "alertname": "JiezhuCrisis",
        "severity": "critical",
        "incident": "i-1",
        "dedup_key": "i-1",
        "level": "plan_intent",
        "release": "assistant-7.2",
        "track": "canary",
    }
    assert alert(a_page(kind=Kind.TICKET), SETTINGS, EPOCH)["labels"]["severity"] == "warning"
    assert alert(a_page(test=True), SETTINGS, EPOCH)["labels"]["test"] == "true"


def test_a_repeat_is_the_same_alert_held_on_longer():
    first = alert(a_page(), SETTINGS, EPOCH)
    again = alert(a_page(step=2, alike=9), SETTINGS, EPOCH + timedelta(minutes=10))
    assert (again["labels"], again["startsAt"]) == (first["labels"], first["startsAt"])
    assert datetime.fromisoformat(again["endsAt"]) - datetime.fromisoformat(first["endsAt"]) == timedelta(
        minutes=10
    )


def test_a_page_outlives_the_time_after_which_it_would_pass_for_resolved():
    said = alert(a_page(), SETTINGS, EPOCH)
    assert datetime.fromisoformat(said["endsAt"]) == EPOCH + timedelta(hours=24)


def test_a_test_ends_by_itself():
    said = alert(a_page(test=True), SETTINGS, EPOCH)
    assert datetime.fromisoformat(said["endsAt"]) == EPOCH + timedelta(minutes=5)


def test_an_alert_never_starts_after_now():
    """A producer's clock may run ahead; an alert that ends before it starts is refused."""
    said = alert(a_page(since=EPOCH + timedelta(days=3)), SETTINGS, EPOCH)
    assert datetime.fromisoformat(said["startsAt"]) == EPOCH


def test_annotations_have_names_that_alertmanager_takes():
    said = alert(a_page(), SETTINGS, EPOCH)
    assert all(name.isidentifier() for name in said["annotations"])
    assert said["annotations"]["runbook_url"] == "https://jiezhu.example/runbook"
    assert said["generatorURL"] == "https://jiezhu.example/incidents/i-1"


async def test_a_resolution_ends_every_alert_of_the_incident_now(pager, server):
    server.script(Status(200, body=orjson.dumps(FIRING)), Status(200))
    attempt = await pager.send(a_page(kind=Kind.RESOLVE, level="in_progress", track="production"))
    assert attempt.answer is Answer.ACCEPTED
    asked, ended = server.requests
    assert asked.method == "GET"
    assert urlsplit(asked.target).path == "/prefix/api/v2/alerts"
    assert parse_qs(urlsplit(asked.target).query)["filter"] == ['incident="i-1"']
    assert asked.headers["authorization"] == "Bearer the-token"
    assert [one["labels"] for one in ended.json()] == [one["labels"] for one in FIRING]
    assert {one["endsAt"] for one in ended.json()} == {"2026-03-01T03:01:00+00:00"}


async def test_an_acknowledgement_keeps_the_alert_and_shows(pager, server):
    server.script(Status(200, body=orjson.dumps(FIRING[:1])), Status(200))
    await pager.send(a_page(kind=Kind.ACKNOWLEDGE))
    [said] = server.requests[1].json()
    assert said["annotations"]["acknowledged"] == "true"
    assert datetime.fromisoformat(said["endsAt"]) > EPOCH + timedelta(hours=20)


async def test_nothing_to_resolve_is_done(pager, server):
    server.script(Status(200, body=b"[]"))
    assert await pager.send(a_page(kind=Kind.RESOLVE)) == Attempt(Answer.ACCEPTED, "nothing_firing")


@pytest.mark.parametrize(
    ("step", "attempt"),
    [
        (Status(500), Attempt(Answer.UNAVAILABLE, "http_500")),
        (Status(200, body=b"{nonsense"), Attempt(Answer.UNAVAILABLE, "answer_unreadable")),
        (Status(200, body=b'[{"labels": {}}]'), Attempt(Answer.UNAVAILABLE, "answer_unreadable")),
        (Status(200, body=b"[" + b" " * (1 << 21) + b"]"), Attempt(Answer.LOST, "connection_lost")),
    ],
)
async def test_a_question_that_fails_is_asked_again(pager, server, step, attempt):
    server.script(step)
    assert await pager.send(a_page(kind=Kind.RESOLVE)) == attempt
    assert len(server.requests) == 1


async def test_a_quote_in_a_key_cannot_reach_other_incidents(pager, server):
    server.script(Status(200, body=b"[]"))
    await pager.send(a_page(kind=Kind.RESOLVE, incident='a"\\,b=~".*'))
    [matcher] = parse_qs(urlsplit(server.requests[0].target).query)["filter"]
    assert matcher == 'incident="a\\"\\\\,b=~\\".*"'
