"""Keys for a developer's machine, made once in the state directory. The caller decides whether that is allowed."""

from __future__ import annotations

import base64
import os
import secrets
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import orjson

from monitor.crypto.keyring import KEY_BYTES, Keyring
from monitor.crypto.pseudonym import Pseudonymiser
from monitor.errors import ConfigurationError

FILE_NAME = "development-keys.json"


@dataclass(frozen=True, slots=True)
class Keys:
    keyring: Keyring
    pseudonymiser: Pseudonymiser


def development_keys(state_directory: Path) -> Keys:
    """Read the key file, making it (0600) if there is none. Two processes at once get the same keys."""
    path = state_directory / FILE_NAME
    try:
        if not path.exists():
            _make(path)
        if path.stat().st_mode & 0o077:
            raise ConfigurationError("keys", f"{FILE_NAME} can be read by others; chmod 600 it")
        found = orjson.loads(path.read_bytes())
        return Keys(
            Keyring.parse(found["seal"], FILE_NAME), Pseudonymiser.parse(found["pseudonym"], FILE_NAME)
        )
    except OSError as error:
        raise ConfigurationError(
            "keys", f"{FILE_NAME} in the state directory: {error.strerror}; make it accessible"
        ) from None
    except (orjson.JSONDecodeError, KeyError, TypeError):
        raise ConfigurationError("keys", f"{FILE_NAME} is damaged; restore it or delete it") from None


def _make(path: Path) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    content = orjson.dumps({"seal": f"development:{_secret()}", "pseudonym": _secret()})
    draft = path.with_name(f".{FILE_NAME}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):  # another process was faster: its keys count
            path.hardlink_to(draft)
    finally:
        draft.unlink()


def _secret() -> str:
    return base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode("ascii")
