"""The time of an event: RFC 3339 with offset, or epoch milliseconds."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from monitor.decode.rejection import Reason, Rejected

EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
AHEAD = timedelta(days=1)  # further than any clock may be wrong, and any zone mistaken

_FORM = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ]([0-9]{2}:[0-9]{2}:)([0-9]{2})(\.[0-9]{1,18})?([Zz]|[+-][0-9]{2}:[0-9]{2})?"
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def read_moment(value: str | float, now: datetime) -> datetime:
    """UTC. Raises Rejected with one of the time reasons."""
    moment = _from_text(value) if isinstance(value, str) else _from_milliseconds(value, now)
    if moment > now + AHEAD:
        raise Rejected(Reason.TIME_IN_FUTURE, "at")
    if moment < EARLIEST:
        raise Rejected(Reason.TIME_IN_PAST, "at")
    return moment


def _from_text(value: str) -> datetime:
    found = _FORM.fullmatch(value.strip()) if len(value) <= 64 else None
    if found is None:
        raise Rejected(Reason.BAD_TIME, "at")
    day, minute, second, fraction, zone = found.groups()
    if zone is None:
        raise Rejected(Reason.TIME_WITHOUT_ZONE, "at")
    leap = second == "60"  # RFC 3339, 5.6: allowed, and followed by the next minute
    try:
        moment = datetime.fromisoformat(
            f"{day}T{minute}{'59' if leap else second}{(fraction or '')[:7]}{zone.upper()}"
        ).astimezone(UTC)
        return moment + timedelta(seconds=leap)
    except (ValueError, OverflowError):
        raise Rejected(Reason.BAD_TIME, "at") from None


def _from_milliseconds(value: float, now: datetime) -> datetime:
    latest = (now + AHEAD - _EPOCH) / timedelta(milliseconds=1)
    if value > latest:
        raise Rejected(Reason.TIME_IN_FUTURE, "at")  # also microseconds and nanoseconds
    if value < (EARLIEST - _EPOCH) / timedelta(milliseconds=1):
        seconds = (EARLIEST - _EPOCH).total_seconds() <= value <= latest / 1000
        raise Rejected(Reason.TIME_IN_SECONDS if seconds else Reason.TIME_IN_PAST, "at")
    return _EPOCH + timedelta(milliseconds=value)
