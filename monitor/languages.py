"""The languages that are counted by name."""

from __future__ import annotations

from typing import Final

from detectors.text.language import primary

LANGUAGES: Final = ("zh", "en", "und")


def language(tag: str) -> str:
    """Bound a language tag to its primary part, among those we count by name."""
    spoken = primary(tag)
    return spoken if spoken in LANGUAGES else "other"
