"""Is the detector loaded, and idle while people write? Pure."""

from __future__ import annotations

from datetime import datetime, timedelta

from monitor.awake import since_awake

LIMIT = timedelta(seconds=45)
QUIET = timedelta(minutes=10)  # after the last turn nobody writes any more
LEAST = 20  # turns that went by unjudged: a few may be in languages that are not judged


class DetectorWatch:
    """Told of every batch; ``idle_since`` once many users' turns went by in a row and none was judged."""

    def __init__(self) -> None:
        self._unjudged = 0
        self._since: datetime | None = None
        self._last: datetime | None = None

    def passed(self, turns: int, judged: int, now: datetime) -> None:
        """``turns`` that users said for the first time, and how many of them have a level."""
        if judged:
            self._unjudged, self._since = 0, None
        elif turns:
            self._unjudged += turns
            self._since = self._since or now
            self._last = now

    def idle_since(self, now: datetime, awake: datetime | None = None) -> datetime | None:
        """None while it works, or nobody writes. ``awake``: since when the process has not stood still."""
        if self._since is None or self._last is None or now - self._last > QUIET or self._unjudged < LEAST:
            return None
        since = since_awake(self._since, awake)
        return None if now - since < LIMIT else since
