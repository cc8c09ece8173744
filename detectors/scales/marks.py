"""A mark with the name of its reason."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mark:
    """``reason`` is a name of ``reasons.toml``."""

    value: int
    reason: str
