"""PromQL that several panels share."""

from __future__ import annotations

MISSES = 'outcome=~"unhandled|no_reply|harmful"'
JUDGED = 'outcome!~"not_applicable|over_triggered"'
WHO = 'track=~"$track", release=~"$release", lang=~"$language", basis="live"'
# One bar: panels with bars ask for steps of a minute at least, so that each event stands in one bar.
STEP = "$__interval"


def new(series: str, window: str = "$__range") -> str:
    """Count what is new in ``window``, the first value of a series born in it included.

    ``increase`` alone does not see the first value, and the first miss of a release is the one that matters.
    """
    return f"(({series} unless {series} offset {window}) > 0 or increase({series}[{window}]))"


def outcomes(more: str = JUDGED) -> str:
    return f"jiezhu_crisis_outcomes_total{{{more}, {WHO}}}"


def missed(by: str = "") -> str:
    """How many live crisis turns were let down, as a whole number."""
    return f"round(sum{_by(by)}({new(outcomes(MISSES))}))"


def judged(by: str = "") -> str:
    """How many live crisis turns have a verdict: the n of every share."""
    return f"round(sum{_by(by)}({new(outcomes())}))"


def share(by: str = "") -> str:
    return f"{missed(by)} / ({judged(by)} > 0)"


def upper(by: str = "") -> str:
    """Return the upper end of the Wilson 95 % interval of the share of misses."""
    k, n = missed(by), f"({judged(by)} > 0)"
    return f"({k} + 1.9208 + 1.96 * sqrt({k} * ({n} - {k}) / {n} + 0.9604)) / ({n} + 3.8416)"


def quantile(q: float, histogram: str, by: str = "") -> str:
    """Return a quantile over the panel's rate window; without observations there is no point to draw."""
    rate = f"rate({histogram}_bucket[$__rate_interval])"
    return f"histogram_quantile({q}, sum by ({', '.join(filter(None, ('le', by)))}) ({rate}))"


def _by(labels: str) -> str:
    return f" by ({labels}) " if labels else " "
