"""What figures of a release say beside those of production, as numbers that a panel puts into words."""

from __future__ import annotations

from panels import GREY, PLAIN, Words
from queries import pooled, pooled_end, published

WORSE_IF_MORE = (
    "safety_miss|safe_not_supportive|incomplete|unhandled|no_reply|harmful|over_triggered|emotion_missed|"
    "prohibition_broken|own_safety_missed|repeated_reply"
)
BETTER_IF_MORE = "handled|emotion_named|boundary_given|continuation|returned|helpful|own_emotion_agrees"
NEITHER = "emotion_kind_only"
ENOUGH = 30
"""Below so many on either side, intervals that touch tell nothing; apart they tell all the same."""

RATES: Words = {
    -1: ("not enough yet", GREY),
    0: ("no difference seen", PLAIN),
    1: ("worse", "red"),
    2: ("better", "green"),
    3: ("different", PLAIN),
}
STYLE: Words = {0: ("not enough yet", GREY), 1: ("steady", "green"), 2: ("drifted", "orange")}
ALARM: Words = {0: ("–", "transparent"), 1: ("drifted", "orange")}


def of_rates(side: str, stable: str, names: str = ".+") -> str:
    """By rate: 1 worse, 2 better, 3 neither (the intervals lie apart), 0 no difference seen, -1 not enough yet.

    Worse where the interval of one release of ``side`` lies beyond that of ``stable``, whose releases are added up:
    several that are tried must not hide one another.
    """
    whole = f'rate=~"{names}", lang="all", level="all"'

    def end(which: str, rates: str, pick: str) -> str:
        each = f'rate=~"{rates}", {whole}, {side}'
        return f"{pick} by (rate) (jiezhu_rate_{which}{{{each}}})"

    low, high = (f"({pooled_end(stable, which, more=whole)})" for which in "-+")
    n, others = (pooled("denominator", where, whole) for where in (side, stable))
    return " or ".join(
        (
            f"({end('low', WORSE_IF_MORE, 'max')} > {high}) * 0 + 1",
            f"({end('high', BETTER_IF_MORE, 'min')} < {low}) * 0 + 1",
            f"({end('high', WORSE_IF_MORE, 'max')} < {low}) * 0 + 2",
            f"({end('low', BETTER_IF_MORE, 'min')} > {high}) * 0 + 2",
            f"(({end('low', NEITHER, 'max')} > {high}) or ({end('high', NEITHER, 'min')} < {low})) * 0 + 3",
            f"({n} >= {ENOUGH} and {others} >= {ENOUGH}) * 0",
            f"({n} or {others}) * 0 - 1",
        )
    )


def of_style(where: str, by: str = "against, track, release") -> str:
    """0 not enough yet, 1 steady, 2 drifted."""

    def said(word: str) -> str:
        return published("jiezhu_style_drift_verdict", f'verdict="{word}", {where}', by)

    drifted, steady, too_few = (f"({said(word)} == 1)" for word in ("drifted", "steady", "not_enough"))
    return f"{drifted} * 2 or {steady} or {too_few} * 0"
