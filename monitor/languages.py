"""The languages that are counted by name."""

from __future__ import annotations

from typing import Final

LANGUAGES: Final = ("zh", "en", "und")


def language(tag: str) -> str:
    """Bound a language tag to its primary part, among those we count by name."""
    primary = tag.replace("_", "-").split("-", 1)[0].lower() if tag else "und"
    return primary if primary in LANGUAGES else "other"
