"""Pinned baselines: what a release was like, to hold later ones against. They outlive restarts, retention and erasures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Baseline:
    """Counts and a sketch: no text, no id, no pseudonym. It never changes once it is pinned.

    ``models`` names by role what judged those hours: another model may see the same replies otherwise. ``figures`` are the
    cells of the hours from ``since`` until before ``until``, as a tally (``monitor.tally.codec.tally_of_json``).
    ``sketch`` is a ``detectors.drift`` sketch, packed, of the replies of ``basis``: to people (live) or to scripts (probe).
    None: pinned before that was written down, see ``monitor.releases.reading``.
    """

    name: str
    track: str
    release: str
    pinned_at: datetime
    since: datetime
    until: datetime
    models: Mapping[str, str]
    figures: str = field(repr=False)
    sketch: bytes = field(repr=False)
    basis: str | None = None


class Baselines(Protocol):
    """Every method raises ``StoreError``."""

    async def pin_baseline(self, baseline: Baseline) -> bool:
        """Keep it. Do nothing and return False if its name is taken."""
        ...

    async def baselines(self) -> list[Baseline]:
        """All, the newest pin first: of a track, the first one counts."""
        ...
