from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from detectors.turn import Role, Track
from monitor.decode import Decoded, Reason, Rejected
from monitor.decode.native import NativeDecoder

NOW = datetime(2026, 3, 1, 3, 0, tzinfo=UTC)
EVENT: dict[str, Any] = {
    "event_id": "e-1",
    "conversation_id": "c-1",
    "role": "user",
    "text": "hello",
    "at": "2026-03-01T03:00:00+00:00",
}


def pseudonymise(kind: str, raw: str) -> str:
    return f"{kind}<{raw}>"


def decode(value: bytes | None, decoder: NativeDecoder | None = None) -> Decoded:
    return (decoder or NativeDecoder()).decode(value, now=NOW, pseudonymise=pseudonymise, sequence=7)


def read(**changes: Any) -> Decoded:
    return decode(json.dumps({**EVENT, **changes}).encode())


def refuse(value: bytes | None) -> Rejected:
    with pytest.raises(Rejected) as caught:
        decode(value)
    return caught.value


def raw(field: str, content: str) -> bytes:
    """An event with a field as it stands, be it JSON or not."""
    others = {name: value for name, value in EVENT.items() if name != field}
    return f'{json.dumps(others)[:-1]}, "{field}": {content}}}'.encode()


def test_reads_every_field() -> None:
    turn = read(
        user_ref="u-1", role="assistant", turn=4, message_id="m-1", final=True, release="r2", track="canary",
        app="a", lang="zh-Hans", region="CN", latency_ms=120, probe={"script": "s", "run": "x", "round": 2},
        assistant={"emotion": "calm", "strategy": "listen", "safety_triggered": False, "knowledge_hit": True},
        feedback={"helpful": 4}, cohort={"age": "20-29"}, voice={"pauses": 3},
    ).turn  # fmt: skip
    assert (turn.event, turn.conversation) == ("event<e-1>", "conversation<c-1>")
    assert (turn.user, turn.message, turn.digest) == ("user<u-1>", "message<m-1>", "digest<hello>")
    assert (turn.role, turn.track, turn.text, turn.at) == (Role.ASSISTANT, Track.CANARY, "hello", NOW)
    assert (turn.sequence, turn.turn, turn.final, turn.release, turn.app) == (7, 4, True, "r2", "a")
    assert (turn.lang, turn.region, turn.latency_ms) == ("zh-Hans", "CN", 120.0)
    assert turn.assistant == {
        "emotion": "calm", "strategy": "listen", "safety_triggered": False, "knowledge_hit": True
    }  # fmt: skip
    assert turn.probe == {"script": "s", "run": "x", "round": 2}


def test_the_least_event_has_defaults() -> None:
    decoded = read()
    turn = decoded.turn
    assert (turn.user, turn.turn, turn.message, turn.final, turn.app, turn.lang) == (None,) * 6
    assert (turn.release, turn.track) == ("unknown", Track.PRODUCTION)
    assert (decoded.unknown, decoded.repaired) == (0, 0)


def test_null_is_the_same_as_absent() -> None:
    optional = ("user_ref", "turn", "message_id", "final", "release", "track", "app", "lang", "region",
                "latency_ms", "assistant", "probe", "feedback", "cohort", "voice")  # fmt: skip
    assert read(**dict.fromkeys(optional)).turn == read().turn


def test_empty_text_is_a_turn() -> None:
    assert read(text="").turn.text == ""


def test_unknown_fields_are_counted_and_harmless() -> None:
    decoded = decode(raw("trace", "[NaN, 123456789012345678901234567890, 1e999]"))
    assert decoded.unknown == 1
    assert decoded.turn == read().turn


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, Reason.NULL_BODY),
        (b"", Reason.NULL_BODY),
        (b"hello", Reason.NOT_JSON),
        (b"{", Reason.NOT_JSON),
        (b'{"text": "a\nb"}', Reason.NOT_JSON),
        (json.dumps(EVENT).encode() * 2, Reason.NOT_JSON),
        (b"\xff\xfe{\x00}\x00", Reason.NOT_UTF8),
        (b'{"text": "\xed\xa0\x80"}', Reason.NOT_UTF8),
        (b"[]", Reason.NOT_AN_OBJECT),
        (b"1", Reason.NOT_AN_OBJECT),
        (b"NaN", Reason.NOT_AN_OBJECT),
        (b'"text"', Reason.NOT_AN_OBJECT),
        (b"null", Reason.NOT_AN_OBJECT),
        (b"[" * 500_000, Reason.TOO_DEEP),
        (b'{"a":' * 100_000, Reason.TOO_DEEP),
        (raw("assistant", '{"x":' * 20 + "1" + "}" * 20), Reason.TOO_DEEP),
        (b" " * (1 << 20) + b"{}", Reason.TOO_LARGE),
        (raw("voice", "[" + "[]," * 5000 + "[]]"), Reason.TOO_LARGE),
        (b"{}", Reason.MISSING_FIELD),
        (raw("text", "1"), Reason.WRONG_TYPE),
        (raw("text", "null"), Reason.WRONG_TYPE),
        (raw("text", '["hello"]'), Reason.WRONG_TYPE),
        (raw("event_id", "1"), Reason.WRONG_TYPE),
        (raw("event_id", '""'), Reason.BAD_VALUE),
        (raw("conversation_id", '""'), Reason.BAD_VALUE),
        (raw("conversation_id", "{}"), Reason.WRONG_TYPE),
        (raw("role", '"bot"'), Reason.UNKNOWN_ROLE),
        (raw("role", '"User"'), Reason.UNKNOWN_ROLE),
        (raw("role", "1"), Reason.WRONG_TYPE),
        (raw("track", '"beta"'), Reason.UNKNOWN_TRACK),
        (raw("track", "true"), Reason.WRONG_TYPE),
        (raw("final", '"true"'), Reason.WRONG_TYPE),
        (raw("turn", "-1"), Reason.BAD_TURN),
        (raw("turn", "2147483648"), Reason.BAD_TURN),
        (raw("turn", '"1"'), Reason.WRONG_TYPE),
        (raw("turn", "1.5"), Reason.WRONG_TYPE),
        (raw("turn", "true"), Reason.WRONG_TYPE),
        (raw("turn", "9" * 30), Reason.INTEGER_TOO_LARGE),
        (raw("turn", "9" * 500_000), Reason.INTEGER_TOO_LARGE),
        (raw("turn", "9223372036854775808"), Reason.INTEGER_TOO_LARGE),
        (raw("latency_ms", "NaN"), Reason.NOT_FINITE),
        (raw("latency_ms", "-Infinity"), Reason.NOT_FINITE),
        (raw("latency_ms", "1e999"), Reason.NOT_FINITE),
        (raw("latency_ms", "-1"), Reason.BAD_VALUE),
        (raw("assistant", '{"emotion": [NaN]}'), Reason.NOT_FINITE),
        (raw("assistant", '{"safety_triggered": "no"}'), Reason.WRONG_TYPE),
        (raw("assistant", "[]"), Reason.WRONG_TYPE),
        (raw("at", "NaN"), Reason.NOT_FINITE),
        (raw("at", "true"), Reason.WRONG_TYPE),
        (raw("at", "null"), Reason.WRONG_TYPE),
        (raw("at", "1772334000"), Reason.TIME_IN_SECONDS),
        (raw("at", "1772334000.5"), Reason.TIME_IN_SECONDS),
        (raw("at", "1772334000000000"), Reason.TIME_IN_FUTURE),
        (raw("at", "9" * 25), Reason.INTEGER_TOO_LARGE),
        (raw("at", "-1"), Reason.TIME_IN_PAST),
        (raw("at", "0"), Reason.TIME_IN_PAST),
        (raw("at", '"2026-03-01T03:00:00"'), Reason.TIME_WITHOUT_ZONE),
        (raw("at", '"2026-03-03T03:00:00Z"'), Reason.TIME_IN_FUTURE),
        (raw("at", '"9999-12-31T23:59:60-23:59"'), Reason.BAD_TIME),
        (raw("at", '"1999-12-31T23:59:59Z"'), Reason.TIME_IN_PAST),
        (raw("at", '"0001-01-01T00:00:00+14:00"'), Reason.BAD_TIME),
        (raw("at", '"2026-02-30T00:00:00Z"'), Reason.BAD_TIME),
        (raw("at", '"2026-W09-7T03:00:00Z"'), Reason.BAD_TIME),
        (raw("at", '"1772334000000"'), Reason.BAD_TIME),
        (raw("at", '"yesterday"'), Reason.BAD_TIME),
        (raw("at", '""'), Reason.BAD_TIME),
        (raw("at", '"' + "2" * 100_000 + '"'), Reason.BAD_TIME),
    ],
    ids=lambda content: content[:40] if isinstance(content, bytes) else None,
)
def test_bad_input_has_a_reason(value: bytes | None, reason: Reason) -> None:
    assert refuse(value).reason is reason


@pytest.mark.parametrize("field", sorted(EVENT))
def test_a_missing_field_is_named(field: str) -> None:
    others = {name: value for name, value in EVENT.items() if name != field}
    rejected = refuse(json.dumps(others).encode())
    assert (rejected.reason, rejected.field) == (Reason.MISSING_FIELD, field)


@pytest.mark.parametrize(
    ("at", "moment"),
    [
        ("2026-03-01T11:00:00+08:00", NOW),
        ("2026-03-01 03:00:00Z", NOW),
        ("2026-03-01t03:00:00z", NOW),
        ("2026-03-01T03:00:00.123456789Z", NOW + timedelta(microseconds=123456)),
        ("2026-03-01T02:59:60Z", NOW),
        (1772334000000, NOW),
        (1772334000000.25, NOW + timedelta(microseconds=250)),
        ("2026-03-02T03:00:00Z", NOW + timedelta(days=1)),
    ],
)
def test_times(at: str | float, moment: datetime) -> None:
    assert read(at=at).turn.at == moment


def test_half_surrogates_are_replaced_and_counted() -> None:
    decoded = read(text="a\ud83db\ude00", event_id="e\ud800", app="x\udfff")
    assert (decoded.turn.text, decoded.turn.app) == ("a\ufffdb\ufffd", "x\ufffd")
    assert decoded.repaired == 4
    assert decoded.turn.event == r"event<e\ud800>"
    assert read(event_id="e\ud801").turn.event != decoded.turn.event
    assert read(text="\ud83d\ude00").turn.text == "\U0001f600"  # a whole pair, as JSON writes it


def test_labels_cannot_break_a_database_or_a_metrics_page() -> None:
    decoded = read(release='r\n1\0"', assistant={"emotion": "e\0"}, text="a\0b\n", app="x" * 500)
    turn = decoded.turn
    assert (turn.release, turn.text) == ('r\ufffd1\ufffd"', "a\ufffdb\n")
    assert turn.assistant == {"emotion": "e\ufffd"}
    assert len(turn.app or "") == 128
    assert decoded.repaired == 5


def test_byte_order_mark_and_repeated_keys() -> None:
    value = b"\xef\xbb\xbf" + json.dumps(EVENT).encode()[:-1] + b', "text": "last", "role": "system"}'
    turn = decode(value).turn
    assert (turn.text, turn.role) == ("last", Role.SYSTEM)


def test_a_whole_number_written_with_a_point_is_whole() -> None:
    assert decode(raw("turn", "3.0")).turn.turn == 3


def test_a_megabyte_of_text_is_read() -> None:
    assert len(read(text="好" * 170_000).turn.text) == 170_000


def test_the_limit_is_a_setting() -> None:
    value = json.dumps(EVENT).encode()
    assert decode(value, NativeDecoder(len(value))).turn.text == "hello"
    with pytest.raises(Rejected, match="too_large"):
        decode(value, NativeDecoder(len(value) - 1))


def test_nothing_of_the_event_is_told() -> None:
    canary = "kanarienvogel"
    for field in [*EVENT, "track", "turn", "assistant", "probe", "latency_ms"]:
        for content in (f'"{canary}"', f'["{canary}"]', f'{{"{canary}": "{canary}"}}'):
            try:
                told = repr(decode(raw(field, content)))
            except Rejected as rejected:
                told = f"{rejected} {rejected!r} {rejected.__cause__!r}"
            assert canary not in told.replace(f"<{canary}>", "")
