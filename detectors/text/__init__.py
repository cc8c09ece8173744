"""Reading raw text: normal form, windows, language. Pure functions, safe on any string."""

from detectors.text.language import UNDETERMINED, WORDLESS, detect_language, primary
from detectors.text.normalise import Normal, normalise
from detectors.text.windows import Window, sentence_windows, tells, turn_windows

__all__ = [
    "UNDETERMINED",
    "WORDLESS",
    "Normal",
    "Window",
    "detect_language",
    "normalise",
    "primary",
    "sentence_windows",
    "tells",
    "turn_windows",
]
