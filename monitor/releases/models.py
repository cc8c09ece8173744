"""Which models judge replies: what a comparison over time must know, since another judge sees another assistant."""

from __future__ import annotations

import hashlib
from importlib import resources
from pathlib import Path
from typing import Final

from detectors.crisis.calibration import SHIPPED as CALIBRATION
from detectors.crisis.model import SHIPPED as MODEL
from detectors.drift.feature import READING
from detectors.encoder.adapter import read_adapter
from detectors.encoder.prepare import RECIPE
from detectors.encoder.source import Directory, Hub, Wheel, identify_directory, parse_source
from monitor import __version__

_LONG: Final = 16  # hexadecimal digits of a name


def models_of(source: str | Path, engine: str) -> dict[str, str]:
    """By role, of the encoder's setting. Read from files, nothing is prepared; raises ``EncoderError``.

    ``adapter`` and ``heads`` are of the model that reads users, ``reply_heads`` judge replies, ``style`` is how styles are read.
    """
    heads = resources.files("detectors.reply") / "heads.npz"
    return {
        "jiezhu": __version__,
        "encoder": f"{_base(source)} recipe {RECIPE} {engine}",
        "adapter": read_adapter(MODEL).digest[:_LONG],
        "heads": _digest(MODEL.read_bytes()),
        "calibration": _digest(CALIBRATION.read_bytes()),
        "reply_heads": _digest(heads.read_bytes()),
        "style": READING,
    }


def _base(setting: str | Path) -> str:
    match parse_source(setting):
        case Wheel(_, sha256):
            return sha256[:_LONG]
        case Directory(path):
            return identify_directory(path)[:_LONG]
        case Hub(name, revision):
            return f"{name}@{revision or 'newest'}"


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:_LONG]
