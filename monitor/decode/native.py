"""Native JSON, version 1: bytes to a turn, or a named reason.

Fails open: what a turn can do without is repaired and counted (a half surrogate, a control sign in a label,
anything at all in a field that is not ours). Only what would make the turn wrong rejects it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

from pydantic import BaseModel, ValidationError

from detectors.turn import Role, Track, Turn
from monitor.decode.decoder import Decoded, Pseudonymise
from monitor.decode.event import FIELDS, Event
from monitor.decode.moment import read_moment
from monitor.decode.notes import notes_of
from monitor.decode.rejection import Reason, Rejected

MAX_BYTES = 1 << 20
MAX_DEPTH = 16
MAX_PARTS = 4096  # of all notes together; more would hold up the loop, and no note needs them
LABEL_LENGTH = 128  # a label or a note, not a text

_IDS = frozenset({"event_id", "conversation_id", "user_ref", "message_id"})
_HALVES = re.compile(
    "[\ud800-\udfff]"
)  # half a surrogate pair: cannot be encoded, so neither hashed nor stored
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")  # PostgreSQL stores no NUL
_CONTROLS = re.compile("[\0-\x1f\x7f\ud800-\udfff]")  # a metrics page takes no line break
_SAFE_INTEGER = 1 << 53
_INT64 = 1 << 63


class NativeDecoder:
    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes

    def decode(
        self, value: bytes | None, *, now: datetime, pseudonymise: Pseudonymise, sequence: int
    ) -> Decoded:
        fields = _parse(value, self._max_bytes)
        known = {name: content for name, content in fields.items() if name in FIELDS}
        repair = _Repair()
        event = _validate({name: repair.field(name, content) for name, content in known.items()})
        turn = Turn(
            event=pseudonymise("event", event.event_id),
            conversation=pseudonymise("conversation", event.conversation_id),
            role=Role(event.role),
            text=event.text,
            at=read_moment(event.at, now),
            sequence=sequence,
            digest=pseudonymise("digest", event.text),
            user=None if event.user_ref is None else pseudonymise("user", event.user_ref),
            turn=event.turn,
            message=None if event.message_id is None else pseudonymise("message", event.message_id),
            final=event.final,
            release=event.release or "unknown",
            track=event.track or Track.PRODUCTION,
            app=event.app,
            lang=event.lang or None,
            region=event.region or None,
            latency_ms=event.latency_ms,
            assistant=_labels(event.assistant),
            probe=_labels(event.probe),
            notes=notes_of(event),
        )
        return Decoded(turn, unknown=len(fields) - len(known), repaired=repair.count)


def _labels(part: BaseModel | None) -> dict[str, Any] | None:
    return None if part is None else part.model_dump(exclude_none=True)


def _parse(value: bytes | None, max_bytes: int) -> dict[str, Any]:
    if not value:
        raise Rejected(Reason.NULL_BODY)
    if len(value) > max_bytes:
        raise Rejected(Reason.TOO_LARGE)
    try:
        text = value.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Rejected(Reason.NOT_UTF8) from None
    try:
        parsed = json.loads(text, parse_int=_integer, parse_float=_real, parse_constant=_constant)
    except RecursionError:
        raise Rejected(Reason.TOO_DEEP) from None
    except ValueError:
        raise Rejected(Reason.NOT_JSON) from None
    if not isinstance(parsed, dict):
        raise Rejected(Reason.NOT_AN_OBJECT)
    return parsed


class _Impossible:
    """Stands for a number that no field can take. In a field that is not ours it does no harm."""

    def __init__(self, reason: Reason) -> None:
        self.reason = reason


_TOO_LARGE = _Impossible(Reason.INTEGER_TOO_LARGE)
_NOT_FINITE = _Impossible(Reason.NOT_FINITE)


def _integer(digits: str) -> int | _Impossible:
    if len(digits) > 20:  # before int(), whose time is quadratic
        return _TOO_LARGE
    number = int(digits)
    return number if -_INT64 <= number < _INT64 else _TOO_LARGE


def _real(digits: str) -> float | _Impossible:
    number = float(digits)
    if not math.isfinite(number):
        return _NOT_FINITE
    return int(number) if number.is_integer() and abs(number) < _SAFE_INTEGER else number  # to JSON, 3.0 is 3


def _constant(_name: str) -> _Impossible:
    return _NOT_FINITE


class _Repair:
    """Replaces what cannot be stored or hashed, counts it, and rejects impossible numbers and depths."""

    def __init__(self) -> None:
        self.count = 0
        self._parts = 0

    def field(self, name: str, content: Any) -> Any:
        if not isinstance(content, str):
            return self._note(name, content, MAX_DEPTH)
        if name == "text":
            return self._replace(_UNSTORABLE, "\ufffd", content)
        if name in _IDS:  # two ids must stay two
            return self._replace(_HALVES, lambda half: f"\\u{ord(half[0]):04x}", content)
        return self._label(content)

    def _replace(self, what: re.Pattern[str], by: str | Callable[[re.Match[str]], str], content: str) -> str:
        repaired, times = what.subn(by, content)
        self.count += times
        return repaired

    def _label(self, content: str) -> str:
        repaired = self._replace(_CONTROLS, "\ufffd", content)
        self.count += len(repaired) > LABEL_LENGTH
        return repaired[:LABEL_LENGTH]

    def _note(self, name: str, content: Any, depth: int) -> Any:
        if isinstance(content, str):
            return self._label(content)
        if isinstance(content, _Impossible):
            raise Rejected(content.reason, name)
        if isinstance(content, dict | list):
            if not depth:
                raise Rejected(Reason.TOO_DEEP, name)
            self._parts += 1 + len(content)
            if self._parts > MAX_PARTS:
                raise Rejected(Reason.TOO_LARGE, name)
            if isinstance(content, list):
                return [self._note(name, part, depth - 1) for part in content]
            return {self._label(key): self._note(name, part, depth - 1) for key, part in content.items()}
        return content


def _validate(fields: dict[str, Any]) -> Event:
    try:
        return Event.model_validate(fields)
    except ValidationError as invalid:
        fault = invalid.errors(include_url=False, include_context=False, include_input=False)[0]
        name = str(fault["loc"][0])
        raise Rejected(_reason(fault["type"], name, fields.get(name)), name) from None


def _reason(fault: str, name: str, content: Any) -> Reason:
    if fault == "missing":
        return Reason.MISSING_FIELD
    if fault == "enum" and isinstance(content, str):
        return Reason.UNKNOWN_ROLE if name == "role" else Reason.UNKNOWN_TRACK
    if fault in {"greater_than_equal", "less_than_equal"}:
        return Reason.BAD_TURN if name == "turn" else Reason.BAD_VALUE
    if fault == "string_too_short":
        return Reason.BAD_VALUE
    return Reason.WRONG_TYPE
