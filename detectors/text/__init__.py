"""Reading raw text: normal form, windows, language. Pure functions, safe on any string."""

from detectors.text.language import WORDLESS, detect_language
from detectors.text.normalise import Normal, normalise
from detectors.text.windows import Window, split_windows

__all__ = ["WORDLESS", "Normal", "Window", "detect_language", "normalise", "split_windows"]
