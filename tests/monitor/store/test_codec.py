import base64
import dataclasses
import json
import math
import typing
from dataclasses import replace
from enum import StrEnum

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from alerts.case import Case
from alerts.delivery import Delivery
from alerts.group import Group
from alerts.incident import Incident, State
from alerts.page import Kind, Page, Trouble
from detectors.finding import Flag, Level, Outcome
from detectors.turn import Role
from monitor.errors import StoreError
from monitor.store import codec
from tests.support.cases import a_case, a_full_case, a_long_case, a_streaming_case, an_incident
from tests.support.pages import a_page
from tests.support.shapes import shapes_in, values_of

EVERY = {
    Case: codec.CASES,
    Incident: codec.INCIDENTS,
    Page: codec.PAGES,
    Delivery: codec.DELIVERIES,
    Group: codec.GROUPS,
}


@pytest.mark.parametrize("shape", EVERY)
def test_everything_comes_back_as_it_was(shape):
    @settings(
        max_examples=60,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(values_of(shape))
    def check(value):
        assert EVERY[shape].decode(EVERY[shape].encode(value)) == value

    check()


@pytest.mark.parametrize("shape", sorted(shapes_in(Case), key=lambda shape: shape.__name__))
def test_every_part_of_a_case_comes_back_as_it_was(shape):
    part = codec.Codec(shape, {})

    @settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(values_of(shape))
    def check(value):
        assert part.decode(part.encode(value)) == value

    check()


def test_a_score_that_is_no_number_stays_one():
    assert math.isnan(codec.INCIDENTS.decode(codec.INCIDENTS.encode(an_incident(score=math.nan))).score)


@pytest.mark.parametrize("version", [1, 2])
def test_fields_of_the_next_release_are_passed_over(version):
    case = a_long_case("c-1", 6)
    envelope = json.loads(codec.CASES.encode(case))
    for entry in envelope["body"]["conversation"]["entries"]:
        for signal in ("user_signal", "reply_signal"):
            if entry[signal]:
                entry[signal] = {**entry[signal], "unheard_of": 1}
        entry["unheard_of"] = {"a": 1}
    envelope |= {"v": version, "unheard_of": 1}
    envelope["body"] |= {"unheard_of": 1}
    assert codec.CASES.decode(json.dumps(envelope)) == case


def test_a_case_written_before_signals_had_memories_has_none():
    case = a_long_case("c-1", 4)
    envelope = json.loads(codec.CASES.encode(case))
    for entry in envelope["body"]["conversation"]["entries"]:
        del (entry["user_signal"] or entry["reply_signal"])["memory"]
    assert codec.CASES.decode(json.dumps(envelope)) == case


def test_a_case_written_before_pieces_grew_together_has_them_one_by_one():
    case = a_streaming_case("c-1", "and", "more")
    envelope = json.loads(codec.CASES.encode(case))
    [entry] = envelope["body"]["conversation"]["entries"]
    del entry["cut"]
    for piece in entry["pieces"]:
        del piece["last"], piece["others"]
    assert codec.CASES.decode(json.dumps(envelope)) == case


def test_a_memory_comes_back_to_the_byte():
    packed = base64.b85encode(bytes(range(256))).decode()
    entries = a_long_case("c-1", 2).conversation.entries
    asked, answered = entries[0].user_signal, entries[1].reply_signal
    case = a_case(
        "c-1",
        entries=(
            replace(entries[0], user_signal=replace(asked, memory=packed)),
            replace(entries[1], reply_signal=replace(answered, memory=packed)),
        ),
    )
    found = codec.CASES.decode(codec.CASES.encode(case)).conversation.entries
    assert found[0].user_signal.memory == found[1].reply_signal.memory == packed


def test_words_of_the_next_release_are_read_as_the_most_careful_known():
    envelope = json.loads(codec.CASES.encode(a_full_case()))
    envelope["body"]["incident"] |= {"state": "dreaming", "level": "new", "outcome": "new"}
    envelope["body"]["known"]["e-1"]["outcome"] = "new"
    found = codec.CASES.decode(json.dumps(envelope))
    assert found.incident.state is State.PAGING
    assert found.incident.level is Level.UNSCORED
    assert found.incident.outcome is found.known["e-1"].outcome is Outcome.UNHANDLED


def test_unknown_words_in_a_list_are_left_out():
    envelope = json.loads(codec.CASES.encode(a_long_case("c-1", 4)))
    entries = envelope["body"]["conversation"]["entries"]
    entries[1]["reply_signal"]["flags"] = ["new", "echo", "newer", "template", "newest"]
    entries[0]["user_signal"]["emotions"] = [f"new-{n}" for n in range(12)]
    entries[3]["role"] = "angel"
    found = codec.CASES.decode(json.dumps(envelope)).conversation.entries
    assert found[1].reply_signal.flags == (Flag.ECHO, Flag.TEMPLATE)
    assert found[0].user_signal.emotions == ()
    assert found[3].role is Role.SYSTEM


def test_an_unknown_kind_of_notification_rings():
    envelope = json.loads(codec.PAGES.encode(a_page(kind=Kind.TICKET)))
    envelope["body"]["kind"] = "new"
    assert codec.PAGES.decode(json.dumps(envelope)).kind is Kind.PAGE


def test_an_unknown_fault_of_our_own_is_told_of_as_one():
    text = codec.PAGES.encode(a_page(trouble=Trouble.LINE_STOPPED)).replace("line_stopped", "new")
    assert codec.PAGES.decode(text).trouble is Trouble.OTHER


@pytest.mark.parametrize("shape", EVERY)
def test_every_word_has_a_careful_one(shape):
    """Or the next release's could not be read. Of a list, and as a key, words may be left out."""
    for part in shapes_in(shape):
        if not dataclasses.is_dataclass(part):
            continue
        for name, hint in typing.get_type_hints(part).items():
            words = {hint, *(typing.get_args(hint) if type(None) in typing.get_args(hint) else ())}
            if any(isinstance(word, type) and issubclass(word, StrEnum) for word in words):
                assert name in EVERY[shape].careful, (part, name)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{}",
        '{"v":1}',
        '{"v":1,"body":null}',
        '{"v":"1","body":{}}',
        '{"v":1,"body":{"conversation":{}}}',
        '{"v":1,"body":{"conversation":{"key":"canary"},"version":"canary"}}',
        codec.CASES.encode(a_case()).replace('"v":1', '"v":3'),
        codec.CASES.encode(a_case())[:-5],
    ],
)
def test_what_cannot_be_read_says_so_without_showing_it(text):
    with pytest.raises(StoreError) as caught:
        codec.CASES.decode(text)
    assert "canary" not in str(caught.value)
    assert "canary" not in repr(caught.value.__cause__)


@given(st.recursive(st.none() | st.text(), lambda inner: st.dictionaries(st.text(), inner)))
def test_details_come_back_as_they_were(detail):
    assert codec.loads(codec.dumps(detail)) == detail
