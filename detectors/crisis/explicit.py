"""What the explicit signals find in a text, and how each is meant: reasons for a reader."""

from __future__ import annotations

import re

from detectors.crisis.signal import Heard, Signal, read
from detectors.crisis.signals_en import SIGNALS_EN
from detectors.crisis.signals_other import SIGNALS_OTHER
from detectors.crisis.signals_zh import SIGNALS_ZH

SIGNALS = SIGNALS_ZH + SIGNALS_EN + SIGNALS_OTHER
_LATIN = re.compile(r"[a-z]{2}")


def heard_in(text: str) -> tuple[Heard, ...]:
    """Every signal of the scripts that occur, at most once for each way it is meant."""
    low = text.lower()
    return tuple(found for signal in _signals_for(low) for found in read(signal, low))


def _signals_for(text: str) -> tuple[Signal, ...]:
    if text.isascii():
        return SIGNALS_EN + SIGNALS_OTHER
    return SIGNALS if _LATIN.search(text) else SIGNALS_ZH + SIGNALS_OTHER
