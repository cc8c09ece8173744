"""Pseudonyms: keyed hashes that stand for raw ids and texts. Without the key nobody can make or check one."""

from __future__ import annotations

import hmac
from enum import StrEnum
from hashlib import sha256

from pydantic import SecretStr

from monitor.crypto.keyring import parse_secret

LENGTH = 32  # hex characters: 128 bits


class Kind(StrEnum):
    """What is hidden. The same string hidden as two kinds gives two pseudonyms that nobody can link."""

    CONVERSATION = "conversation"
    USER = "user"
    EVENT = "event"
    MESSAGE = "message"
    DIGEST = "digest"


class Pseudonymiser:
    """HMAC-SHA256 with a key of its own, which never seals (DESIGN §2)."""

    def __init__(self, secret: bytes) -> None:
        self._macs = {kind: hmac.new(secret, f"{kind.value}\0".encode(), sha256) for kind in Kind}
        self._purposes = hmac.new(secret, b"key\0", sha256)
        self._sketch_key = hmac.digest(secret, b"sketch\0", sha256)

    @classmethod
    def parse(cls, secret: str | SecretStr, setting: str = "pseudonym_key") -> Pseudonymiser:
        """Read 32 bytes in base64 or hex. ``setting`` is named when they are wrong."""
        return cls(parse_secret(secret, setting))

    @property
    def sketch_key(self) -> bytes:
        """For the sketches of words that are stored with a conversation (``detectors.text.gist``)."""
        return self._sketch_key

    def key(self, purpose: str) -> bytes:
        """32 bytes for something else. They are no pseudonym of anything that a producer could send."""
        mac = self._purposes.copy()
        mac.update(purpose.encode())
        return mac.digest()

    def __repr__(self) -> str:
        return "Pseudonymiser()"

    def pseudonym(self, kind: Kind, raw: str) -> str:
        mac = self._macs[kind].copy()
        mac.update(raw.encode("utf-8", "surrogatepass"))
        return mac.hexdigest()[:LENGTH]
