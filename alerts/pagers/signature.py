"""The signature of a webhook request, for us who sign and for receivers who check.

Headers of each request:

- ``X-Jiezhu-Timestamp``: seconds since 1970, when it was sent
- ``X-Jiezhu-Signature``: ``v1=`` and the HMAC-SHA256, in hex, over ``timestamp + "." + body`` with the
  shared secret; several may stand there, separated by commas, while secrets are exchanged
- ``Idempotency-Key``: one for each thing said (page, its repeats, acknowledgement, resolution); a request
  that is sent again because its answer was lost carries the same key

A receiver checks the signature over the body's bytes as they came, refuses a timestamp more than five minutes
off, and answers 2xx to a key that it has seen without ringing again.
"""

from __future__ import annotations

import hashlib
import hmac
from datetime import datetime, timedelta

TIMESTAMP = "X-Jiezhu-Timestamp"
SIGNATURE = "X-Jiezhu-Signature"
IDEMPOTENCY = "Idempotency-Key"
_TOLERANCE = timedelta(minutes=5)


class SignatureError(Exception):
    """A request that a receiver must not believe."""


class SignatureWrongError(SignatureError):
    def __init__(self) -> None:
        super().__init__("the signature does not fit timestamp and body: check the shared secret")


class SignatureStaleError(SignatureError):
    def __init__(self) -> None:
        super().__init__("the request is too old or from the future: it may be a replay; check the clocks")


def signature(secret: bytes, timestamp: int, body: bytes) -> str:
    """Return the value of ``X-Jiezhu-Signature``."""
    mac = hmac.new(secret, b"%d." % timestamp + body, hashlib.sha256)
    return f"v1={mac.hexdigest()}"


def check(
    secret: bytes,
    timestamp: str,
    signatures: str,
    body: bytes,
    now: datetime,
    tolerance: timedelta = _TOLERANCE,
) -> None:
    """Raise ``SignatureWrongError``, or ``SignatureStaleError`` for one that was ours at another time."""
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= len("9999999999")):
        raise SignatureWrongError
    expected = signature(secret, int(timestamp), body).encode()
    given = [item.strip().encode("utf-8", "surrogatepass") for item in signatures.split(",")]
    if not any([hmac.compare_digest(expected, item) for item in given]):  # noqa: C419  no early stop
        raise SignatureWrongError
    if abs(now.timestamp() - int(timestamp)) > tolerance.total_seconds():
        raise SignatureStaleError
