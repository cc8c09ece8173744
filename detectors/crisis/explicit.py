"""What the explicit signals find in one window of text, and how each is meant: reasons for a reader, and a floor."""

from __future__ import annotations

import re
from dataclasses import dataclass

from detectors.crisis.shields import URGENT, shields_in
from detectors.crisis.signal import Heard, Said, Signal, read
from detectors.crisis.signals_en import SIGNALS_EN
from detectors.crisis.signals_other import SIGNALS_OTHER
from detectors.crisis.signals_zh import SIGNALS_ZH

SIGNALS = SIGNALS_ZH + SIGNALS_EN + SIGNALS_OTHER
_LATIN = re.compile(r"[a-z]{2}")


@dataclass(frozen=True, slots=True)
class Reading:
    """What patterns find in one window: signals with how they are meant, shields, urgency."""

    heard: tuple[Heard, ...]
    shields: frozenset[str]
    urgent: bool

    def own(self) -> list[Heard]:
        return [heard for heard in self.heard if heard.said is Said.OWN]


def _signals_for(text: str) -> tuple[Signal, ...]:
    """Only the signals of scripts that occur."""
    if text.isascii():
        return SIGNALS_EN + SIGNALS_OTHER
    return SIGNALS if _LATIN.search(text) else SIGNALS_ZH + SIGNALS_OTHER


def heard_in(text: str) -> tuple[Heard, ...]:
    """The explicit signals alone: what a reason is given by."""
    low = text.lower()
    return tuple(found for signal in _signals_for(low) for found in read(signal, low))


def read_window(text: str) -> Reading:
    low = text.lower()
    return Reading(heard_in(text), shields_in(low), bool(URGENT.search(low)))
