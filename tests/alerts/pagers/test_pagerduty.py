import orjson
import pytest

from alerts.page import Kind
from alerts.pagers.pagerduty import PagerDutySettings, event
from tests.support.pages import a_page

SETTINGS = PagerDutySettings(routing_key="the-routing-key")


def said(page, settings=SETTINGS):
    return orjson.loads(event(page, settings))


def units(text):
    return len(text.encode("utf-16-le")) // 2


def test_a_page_triggers_with_all_that_a_person_needs():
    page = a_page()
    event = said(page)
    assert event["routing_key"] == "the-routing-key"
    assert event["event_action"] == "trigger"
    assert event["dedup_key"] == "i-1"
    assert event["client_url"] == page.link
    assert event["links"][0] == {"href": page.ack_link, "text": "Acknowledge"}
    payload = event["payload"]
    assert payload["severity"] == "critical"
    assert payload["summary"].startswith("Crisis not caught: possible suicide plan or intent")
    assert payload["timestamp"] == "2026-03-01T03:00:00+00:00"
    assert (payload["component"], payload["group"], payload["class"]) == (
        "assistant-7.2",
        "canary",
        "unhandled",
    )
    assert payload["custom_details"]["First thing to do"].startswith("Acknowledge")


def test_a_ticket_is_a_warning():
    assert said(a_page(kind=Kind.TICKET))["payload"]["severity"] == "warning"


@pytest.mark.parametrize("kind", [Kind.ACKNOWLEDGE, Kind.RESOLVE])
def test_an_update_is_the_key_and_the_action(kind):
    assert said(a_page(kind=kind)) == {
        "routing_key": "the-routing-key",
        "event_action": kind.value,
        "dedup_key": "i-1",
    }


def test_all_kinds_of_one_incident_share_one_key_however_long():
    key = "键" * 400
    keys = {said(a_page(kind=kind, dedup_key=key))["dedup_key"] for kind in Kind}
    assert len(keys) == 1
    assert len(keys.pop()) <= 255


def test_a_long_summary_with_an_emoji_at_the_cut_stays_whole():
    """R51: a summary beyond 1,024 characters costs the page."""
    for before in range(1010, 1030):
        summary = said(a_page(level="x" * before + "😀" * 20, release="r" * 900))["payload"]["summary"]
        assert units(summary) <= 1024
        assert "\ufffd" not in summary


def test_long_labels_are_cut_at_an_emoji():
    for before in range(500, 516):
        value = said(a_page(release="r" * before + "😀" * 9))["payload"]["component"]
        assert units(value) <= 512
        assert set(value) <= {"r", "😀", "…"}


def test_an_event_never_passes_the_limit():
    page = a_page(missing=tuple(f"criterion-{number}" * 40 for number in range(2000)))
    body = event(page, SETTINGS)
    assert len(body) <= 512_000
    assert orjson.loads(body)["payload"]["summary"]


def test_the_words_may_be_chinese():
    settings = PagerDutySettings(routing_key="k", lang="zh")
    assert said(a_page(), settings)["payload"]["summary"].startswith("危机未被接住")
    assert "先做什么" in said(a_page(), settings)["payload"]["custom_details"]
