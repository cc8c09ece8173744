"""What is a canary and what only looks like one: nobody mutes a real crisis by the mark."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.canary import Canary, is_canary
from monitor.canary_event import SAID, SCRIPT, CanaryMark
from monitor.crypto.pseudonym import Pseudonymiser
from monitor.decode.event import published_schema
from monitor.decode.native import NativeDecoder
from monitor.reader import Reader
from monitor.sources.record import Record
from tests.support.fake_clock import EPOCH, FakeClock
from tests.support.worker import PSEUDONYMISER

MARK = CanaryMark(b"k" * 32, PSEUDONYMISER)
CANARY = Canary(int(EPOCH.timestamp()), 0)


def read(*values: bytes, mark: CanaryMark = MARK, partition: int = 0, hide=PSEUDONYMISER) -> set[str]:
    """The conversations that the records are read into."""
    reader = Reader(NativeDecoder(), hide, FakeClock(), mark.marked)
    place = ("turns", partition)
    return set(reader.read([Record(place, n, None, value) for n, value in enumerate(values)], {}).turns)


def changed(value: bytes, **changes: Any) -> bytes:
    event = {**json.loads(value), **changes}
    return json.dumps({name: content for name, content in event.items() if content is not None}).encode()


def values(canary: Canary = CANARY) -> list[bytes]:
    return [value for _, value in MARK.events(canary)]


def test_our_own_is_known_with_both_its_records():
    assert read(*values()) == {CANARY.conversation}


def test_every_worker_makes_the_same():
    assert values() == [v for _, v in CanaryMark(b"k" * 32, PSEUDONYMISER).events(CANARY)]


def test_it_keeps_to_the_published_schema_and_bears_the_mark_that_others_leave_out():
    for value in values():
        event = json.loads(value)
        jsonschema.validate(event, published_schema())
        assert event["probe"]["script"] == SCRIPT
        assert event["track"] == "staging"


def test_both_languages_have_their_turn():
    found = {json.loads(values(Canary(CANARY.at + 60 * n, 0))[0])["lang"] for n in range(20)}
    assert found == {lang for lang, _, _ in SAID}


@pytest.mark.parametrize(
    "changes",
    [
        {"text": "I want to kill myself"},
        {"text": SAID[0][2]},
        {"event_id": "another"},
        {"conversation_id": "a person's"},
        {"role": "assistant"},
        {"role": "human_agent"},
        {"at": "2026-03-01T03:00:01Z"},
        {"message_id": "streams", "final": False},
        {"probe": None},
        {"probe": {"script": SCRIPT}},
        {"probe": {"script": SCRIPT, "run": f"{CANARY.at + 60}-0"}},
        {"probe": {"script": SCRIPT, "run": f"{CANARY.at}-1"}},
        {"probe": {"script": SCRIPT, "run": "99999999999-0"}},
    ],
    ids=str,
)
def test_whatever_differs_is_an_ordinary_turn(changes):
    [key] = read(changed(values()[0], **changes))
    assert not is_canary(key)


@given(text=st.text(), run=st.text() | st.just(f"{CANARY.at}-0"))
def test_nobodys_words_become_a_canary_by_the_mark(text, run):
    if text == json.loads(values()[0])["text"]:
        return
    [key] = read(changed(values()[0], text=text, probe={"script": SCRIPT, "run": run}))
    assert not is_canary(key)


def test_a_canary_of_another_partition_is_none():
    assert not any(map(is_canary, read(*values(), partition=3)))


def test_a_monitor_with_another_key_does_not_know_it_and_one_with_the_same_does():
    other = Pseudonymiser(b"o" * 32)
    assert not any(map(is_canary, read(*values(), mark=CanaryMark(b"x" * 32, other), hide=other)))
    assert read(*values(), mark=CanaryMark(b"k" * 32, other), hide=other) == {CANARY.conversation}
