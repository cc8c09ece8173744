"""Whatever comes: a turn or a named reason, never anything else."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import jsonschema
from hypothesis import given
from hypothesis import strategies as st

from detectors.turn import Turn
from monitor.decode import Decoded, Rejected, attempt, find_decoder
from monitor.decode.event import FIELDS, published_schema

NOW = datetime(2026, 3, 1, 3, 0, tzinfo=UTC)
DECODER = find_decoder("native", 1 << 16)
VALIDATOR = jsonschema.Draft202012Validator(published_schema())

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)),
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text(), part, max_size=3),
    max_leaves=10,
)
good: dict[str, st.SearchStrategy[Any]] = {
    "event_id": st.text(min_size=1),
    "conversation_id": st.text(min_size=1),
    "role": st.sampled_from(["user", "assistant", "human_agent", "system"]),
    "text": st.text(),
    "at": st.sampled_from(["2026-03-01T03:00:00Z", 1772334000000]),
}


def outcome(value: bytes | None) -> Decoded | Rejected:
    """Without the net that ``attempt`` spreads."""
    try:
        result = DECODER.decode(
            value, now=NOW, pseudonymise=lambda kind, raw: kind + str(len(raw.encode())), sequence=0
        )
    except Rejected as rejected:
        return rejected
    storable(result.turn)
    return result


def storable(turn: Turn) -> None:
    for label in (turn.text, turn.release, turn.app, turn.lang, turn.region, turn.assistant, turn.probe):
        written = json.dumps(label, ensure_ascii=False, allow_nan=False)
        written.encode()
        assert "\\u0000" not in written


@given(st.binary())
def test_any_bytes(value: bytes) -> None:
    outcome(value)


@given(anything)
def test_any_json(value: Any) -> None:
    outcome(json.dumps(value).encode())


@given(st.dictionaries(st.sampled_from(sorted(FIELDS)), anything), st.fixed_dictionaries(good), st.data())
def test_any_content_of_any_field(noise: dict[str, Any], event: dict[str, Any], data: st.DataObject) -> None:
    kept = data.draw(st.sets(st.sampled_from(sorted(good))))
    outcome(
        json.dumps({**event, **{name: value for name, value in noise.items() if name not in kept}}).encode()
    )


@given(st.fixed_dictionaries(good), st.binary(max_size=3), st.integers(min_value=0), st.integers(0, 4))
def test_a_damaged_event(event: dict[str, Any], damage: bytes, where: int, gone: int) -> None:
    value = json.dumps(event).encode()
    place = where % len(value)
    outcome(value[:place] + damage + value[place + gone :])


@given(
    st.fixed_dictionaries(
        good,
        optional={
            "turn": st.integers(-1, 2**31),
            "final": st.booleans() | st.none(),
            "release": st.text() | st.none() | st.integers(),
            "track": st.sampled_from(["staging", "canary", "production", "other", None]),
            "latency_ms": st.floats(-1, 1e9) | st.integers(0, 10) | st.none(),
            "assistant": st.dictionaries(
                st.sampled_from(["emotion", "knowledge_hit", "x"]), st.text() | st.booleans()
            ),
            "probe": st.fixed_dictionaries({}, optional={"script": st.text(), "round": st.integers(-1, 5)}),
            "more": anything,
        },
    )
)
def test_the_published_schema_says_the_same(event: dict[str, Any]) -> None:
    value = json.dumps(event).encode()
    told = not isinstance(outcome(value), Rejected)
    assert told == VALIDATOR.is_valid(json.loads(value))


def test_a_decoder_that_breaks_makes_one_dead_letter() -> None:
    """R65. What it raised is dropped with all it holds."""

    class Broken:
        def decode(self, value: bytes | None, **_: Any) -> Decoded:
            raise ZeroDivisionError(value)

    result = attempt(Broken(), b"secret", now=NOW, pseudonymise=lambda kind, _: kind, sequence=0)
    assert isinstance(result, Rejected)
    assert str(result) == "decoder_failed"
    assert result.__context__ is None
