"""Signed, expiring links: who holds one may do one thing to one incident for a limited time.

A link travels through chat and mail, where machines open links to preview them. So opening one must only
show a form; the deed is done by POST, with the same signature.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from datetime import UTC, datetime
from urllib.parse import quote, urlencode

_DOMAIN = b"jiezhu-link-v1"
_SHORTEST_KEY = 16


class LinkError(Exception):
    """A link that must not be followed. ``reason`` is a metric label."""

    reason = "link"


class LinkExpiredError(LinkError):
    reason = "link_expired"

    def __init__(self) -> None:
        super().__init__("this link has expired: open the incident from a newer page")


class LinkWrongError(LinkError):
    reason = "link_wrong"

    def __init__(self) -> None:
        super().__init__("this link was not signed by us for this incident and action: copy it whole")


def sign(key: bytes, incident: str, action: str, expires: datetime) -> str:
    """Return a URL-safe signature (64 hex digits). ``expires`` counts in whole seconds."""
    return _signature(key, incident, action, str(_seconds(expires)))


def link(
    key: bytes, base: str, incident: str, action: str, expires: datetime, path: str = "incidents"
) -> str:
    """Return ``{base}/{path}/{incident}/{action}?expires=…&signature=…``."""
    query = urlencode({"expires": _seconds(expires), "signature": sign(key, incident, action, expires)})
    return f"{base.rstrip('/')}/{path}/{quote(incident, safe='')}/{quote(action, safe='')}?{query}"


def verify(
    keys: Sequence[bytes], incident: str, action: str, expires: str, signature: str, now: datetime
) -> None:
    """Check what a request carries, as the strings it came in.

    ``keys`` holds the key in use and, while keys rotate, the ones before it. Raises ``LinkWrongError``, or
    ``LinkExpiredError`` only for a link that was ours. Compares in constant time.
    """
    given = signature.encode("utf-8", "surrogatepass")
    good = False
    for key in keys:
        good |= hmac.compare_digest(_signature(key, incident, action, expires).encode(), given)
    if not good:
        raise LinkWrongError
    if int(expires) <= now.timestamp():
        raise LinkExpiredError


def _signature(key: bytes, incident: str, action: str, expires: str) -> str:
    if len(key) < _SHORTEST_KEY:
        raise ValueError(f"a link key has at least {_SHORTEST_KEY} bytes: make one with a random generator")
    # Each part goes with its length, so that no two triples read the same.
    parts = [part.encode("utf-8", "surrogatepass") for part in (incident, action, expires)]
    message = b"".join(b"%d:%s," % (len(part), part) for part in (_DOMAIN, *parts))
    return hmac.new(key, message, hashlib.sha256).hexdigest()


def _seconds(at: datetime) -> int:
    return int(at.astimezone(UTC).timestamp())
