"""PromQL that several panels share."""

from __future__ import annotations

MISSES = 'outcome=~"unhandled|no_reply|harmful"'
JUDGED = 'outcome!~"not_applicable|over_triggered"'
CHOSEN = 'track=~"$track", release=~"$release"'
WHO = f'{CHOSEN}, lang=~"$language", basis="live"'
# One bar: panels with bars ask for steps of a minute at least, so that each event stands in one bar.
STEP = "$__interval"
WINDOW = "[$__rate_interval]"
NOBODY = "max(jiezhu_ready) * 0"
"""0 where nothing happened, and nothing at all where no worker is seen: then nobody knows."""


def new(series: str, window: str = "$__range") -> str:
    """Count what is new in ``window``, the first value of a series born in it included.

    ``increase`` alone does not see the first value, and the first miss of a release is the one that matters. It also
    counts a little more than there was, as it reaches out to the ends of the window: of 3 misses in a minute it makes
    4. So the difference counts, and ``increase`` only where a process began anew or is gone.
    """
    born = f"({series} unless {series} offset {window}) > 0"
    grown = f"({series} - {series} offset {window}) and (resets({series}[{window}]) == 0)"
    return f"({born} or {grown} or increase({series}[{window}]))"


def count(series: str, by: str = "", window: str = STEP) -> str:
    """How many are new in each step, as whole numbers."""
    return f"round(sum{_by(by)}({new(series, window)}))"


def outcomes(more: str = JUDGED) -> str:
    return f"jiezhu_crisis_outcomes_total{{{more}, {WHO}}}"


def missed(by: str = "") -> str:
    """How many live crisis turns were let down, as a whole number."""
    return count(outcomes(MISSES), by, "$__range")


def judged(by: str = "") -> str:
    """How many live crisis turns have a verdict: the n of every share."""
    return count(outcomes(), by, "$__range")


def share(by: str = "") -> str:
    return f"{missed(by)} / ({judged(by)} > 0)"


def upper(by: str = "") -> str:
    """Return the upper end of the Wilson 95 % interval of the share of misses."""
    return wilson(missed(by), f"({judged(by)} > 0)", "+")


def wilson(k: str, n: str, end: str) -> str:
    """Return an end (``+`` or ``-``) of the Wilson 95 % interval of ``k`` of ``n``; z² = 3.8416."""
    return f"({k} + 1.9208 {end} 1.96 * sqrt({k} * ({n} - {k}) / {n} + 0.9604)) / ({n} + 3.8416)"


def quantile(q: float, histogram: str, by: str = "", where: str = "") -> str:
    """Return a quantile over the panel's rate window; without observations there is no point to draw."""
    chosen = f"{{{where}}}" if where else ""
    rate = f"rate({histogram}_bucket{chosen}{WINDOW})"
    return f"histogram_quantile({q}, sum by ({', '.join(filter(None, ('le', by)))}) ({rate}))"


def mean(histogram: str, by: str = "", where: str = "") -> str:
    chosen = f"{{{where}}}" if where else ""
    total, number = (f"sum{_by(by)}(rate({histogram}_{part}{chosen}{WINDOW}))" for part in ("sum", "count"))
    return f"{total} / ({number} > 0)"


def part_of(part: str, whole: str, by: str = "", keep: str = "") -> str:
    """The share of ``part`` in ``whole`` of the last hour, ``by`` labels of both; ``keep``: labels of the part alone.

    Without ``keep`` a part that has never been seen is 0 of the whole, as it should be.
    """
    over = f"(sum{_by(by)}({new(whole, '1h')}) > 0)"
    if keep:
        wanted = ", ".join(filter(None, (by, keep)))
        return f"sum{_by(wanted)}({new(part, '1h')}) / on ({by}) group_left () {over}"
    return f"(sum{_by(by)}({new(part, '1h')}) or {over} * 0) / {over}"


# Figures of all workers together: one of them publishes, and for a moment after an election two may be seen.


def published(metric: str, where: str, by: str) -> str:
    return f"max by ({by}) ({metric}{{{where}}})"


def rate(name: str, side: str, *, end: str = "", by: str = "track, release") -> str:
    """A published share over all languages and levels, ``end`` of it ``_low`` or ``_high``."""
    return published(f"jiezhu_rate{end}", f'rate="{name}", lang="all", level="all", {side}', by)


def pooled(end: str, side: str, more: str = 'lang="all", level="all"', by: str = "rate") -> str:
    """Counts of the releases of a side added up; ``end`` is ``numerator`` or ``denominator``."""
    each = published(f"jiezhu_rate_{end}", f"{more}, {side}", f"{by}, track, release")
    return f"sum by ({by}) ({each})"


def pooled_share(side: str, **more: str) -> str:
    return f"{pooled('numerator', side, **more)} / ({pooled('denominator', side, **more)} > 0)"


def pooled_end(side: str, end: str, **more: str) -> str:
    k, n = pooled("numerator", side, **more), f"({pooled('denominator', side, **more)} > 0)"
    # rounding alone would put 0 of 412 below 0
    return wilson(k, n, end) if end == "+" else f"clamp_min({wilson(k, n, end)}, 0)"


def _by(labels: str) -> str:
    return f" by ({labels}) " if labels else " "
