"""How strained a person is: words of distress, emotions and cues, and the trend over a conversation (D3–D6)."""

from detectors.distress.trend import Trend, Trending, trend

__all__ = ["Trend", "Trending", "trend"]
