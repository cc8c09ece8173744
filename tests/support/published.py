"""What the elected worker shows of all workers' figures, and by which labels, as the code makes it."""

from __future__ import annotations

from datetime import timedelta

from monitor.drift.gauges import gauges
from monitor.figures import figures

OWN = ("jiezhu_publisher", "jiezhu_tally_waiting", "jiezhu_published_age_seconds")


def published() -> dict[str, tuple[str, ...]]:
    """Labels by the name of the gauge."""
    families = [*figures([], timedelta()), *gauges([])]
    return {**{one.name: tuple(one._labelnames) for one in families}, **dict.fromkeys(OWN, ())}
