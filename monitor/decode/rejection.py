"""Why an event cannot be read: a closed list, so that it can be a metric label and a dead letter's reason."""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    NULL_BODY = "null_body"  # a tombstone or an empty record
    TOO_LARGE = "too_large"
    NOT_UTF8 = "not_utf8"
    NOT_JSON = "not_json"
    NOT_AN_OBJECT = "not_an_object"
    TOO_DEEP = "too_deep"
    MISSING_FIELD = "missing_field"
    WRONG_TYPE = "wrong_type"
    BAD_VALUE = "bad_value"  # right type, impossible value: an empty id, a negative latency
    UNKNOWN_ROLE = "unknown_role"
    UNKNOWN_TRACK = "unknown_track"
    BAD_TURN = "bad_turn"
    NOT_FINITE = "not_finite"  # NaN and infinities
    INTEGER_TOO_LARGE = "integer_too_large"  # does not fit 64 bits
    BAD_TIME = "bad_time"  # not RFC 3339, or a date that does not exist
    TIME_WITHOUT_ZONE = "time_without_zone"
    TIME_IN_SECONDS = "time_in_seconds"
    TIME_IN_FUTURE = "time_in_future"
    TIME_IN_PAST = "time_in_past"
    DECODER_FAILED = (
        "decoder_failed"  # the decoder itself broke on it: our fault, and still no reason to stop
    )


class Rejected(Exception):  # noqa: N818 - a verdict on the record, not a fault of the program
    """The record is a dead letter. ``field`` is a name from the schema, never a word of the record."""

    def __init__(self, reason: Reason, field: str | None = None) -> None:
        super().__init__(reason.value if field is None else f"{reason.value}: {field}")
        self.reason = reason
        self.field = field
