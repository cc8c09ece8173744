"""Sealing with AES-256-GCM. A sealed blob names its key and opens only at the place it was sealed for.

Layout: version (1 byte), length of the key's id (1 byte), the id, nonce (12 bytes), ciphertext with its tag.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from pydantic import SecretStr

from monitor.errors import ConfigurationError, KeyMissing

KEY_BYTES = 32
_VERSION = 1
_NONCE_BYTES = 12  # NIST SP 800-38D; random, so a key seals at most 2^32 blobs: rotate before
_ID = re.compile(r"[A-Za-z0-9_.-]{1,32}")
_HEX = re.compile(r"[0-9a-fA-F]{64}")


@dataclass(frozen=True, slots=True)
class Key:
    """``secret`` is 32 bytes and shows in no ``repr``."""

    id: str
    secret: bytes = field(repr=False)


class Keyring:
    """Several keys by id. The first seals; all of them open."""

    def __init__(self, keys: Sequence[Key]) -> None:
        if not keys:
            raise ConfigurationError("keys", "no key to seal with; give at least one as ID:SECRET")
        self._ciphers = {key.id: AESGCM(key.secret) for key in keys}
        self._newest = keys[0].id

    @classmethod
    def parse(cls, text: str | SecretStr, setting: str = "keys") -> Keyring:
        """Read ``ID:SECRET,ID:SECRET…``, the newest first. ``setting`` is named when it is wrong."""
        pairs = [pair.strip() for pair in _plain(text).split(",") if pair.strip()]
        keys = []
        for pair in pairs:
            key_id, _, secret = pair.partition(":")
            if not _ID.fullmatch(key_id) or not secret:
                raise ConfigurationError(setting, "each key must read ID:SECRET, the id of up to 32 letters")
            keys.append(Key(key_id, parse_secret(secret, setting)))
        if not keys:
            raise ConfigurationError(setting, "no key given; make one with: openssl rand -base64 32")
        if len({key.id for key in keys}) < len(keys):
            raise ConfigurationError(setting, "two keys have the same id; give each its own")
        return cls(keys)

    def __repr__(self) -> str:
        return f"Keyring({', '.join(self._ciphers)})"

    @property
    def newest(self) -> str:
        """Id of the key that seals."""
        return self._newest

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(self._ciphers)

    def seal(self, plain: bytes, place: str) -> bytes:
        """``place`` says where the blob belongs; it must be given again to open it."""
        header = _header(self._newest)
        nonce = os.urandom(_NONCE_BYTES)
        return header + nonce + self._ciphers[self._newest].encrypt(nonce, plain, header + place.encode())

    def open(self, sealed: bytes, place: str) -> bytes:
        """Raise KeyMissing if the blob's key is not here, or if the blob does not belong to ``place``."""
        key_id = key_of(sealed)
        cipher = self._ciphers.get(key_id)
        if cipher is None:
            raise KeyMissing(f"sealed with key {key_id!r}, which is not in the keyring; add it to the keys")
        header = _header(key_id)
        nonce, body = sealed[len(header) :][:_NONCE_BYTES], sealed[len(header) + _NONCE_BYTES :]
        try:
            return cipher.decrypt(nonce, body, header + place.encode())
        except (InvalidTag, ValueError):
            raise KeyMissing(
                f"does not open with key {key_id!r}: the key's secret was changed or the row was tampered with"
            ) from None


def key_of(sealed: bytes) -> str:
    """Id of the key that a blob was sealed with. Raises KeyMissing if it is no sealed blob."""
    length = sealed[1] if len(sealed) > 1 else 0
    key_id = sealed[2 : 2 + length].decode("ascii", "replace")
    if not length or sealed[0] != _VERSION or not _ID.fullmatch(key_id):
        raise KeyMissing("not a sealed text of a version that is known here; upgrade, or restore the row")
    return key_id


def parse_secret(text: str | SecretStr, setting: str) -> bytes:
    """Read 32 bytes, written in hex or base64."""
    plain = _plain(text).strip()
    if _HEX.fullmatch(plain):
        return bytes.fromhex(plain)
    try:
        secret = base64.b64decode(plain.replace("-", "+").replace("_", "/"), validate=True)
    except (binascii.Error, ValueError):
        secret = b""
    if len(secret) != KEY_BYTES:
        raise ConfigurationError(
            setting, "a key must be 32 bytes in base64 or hex; make one with: openssl rand -base64 32"
        )
    return secret


def _plain(text: str | SecretStr) -> str:
    return text.get_secret_value() if isinstance(text, SecretStr) else text


def _header(key_id: str) -> bytes:
    return bytes((_VERSION, len(key_id))) + key_id.encode("ascii")
