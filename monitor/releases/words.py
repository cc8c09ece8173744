"""The sentences that go with a comparison, the same in a terminal and on a page. No text of users, no names but labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from detectors.drift.verdict import Decision, DriftVerdict, FeatureDrift, Reason
from monitor.releases.comparison import Comparison
from monitor.releases.row import FEWEST, Family, Finding, Row

LIMITS: Final = (
    "This is a screening and no verdict: figures are of automatic judgement, and differences want a person who looks.",
    "Intervals are of 95 %, each by itself, and take turns as independent: those of one conversation are not quite, so they are somewhat too narrow.",
    f"A difference is called one only after correction over the whole table (Holm); with fewer than {FEWEST} on a side nothing is said.",
    "Style is compared among users in the same state and language only; its intervals hold for all features at once. Nothing found is no proof that nothing is there.",
)
_CONSTANT: Final = 1e-4
_FINDINGS: Final = {
    Finding.NOT_ENOUGH: "not enough yet",
    Finding.WITHIN_CHANCE: "within chance",
    Finding.WORSE: "worse",
    Finding.BETTER: "better",
    Finding.OTHER: "differs",
}
_APART: Final = (Finding.WORSE, Finding.BETTER, Finding.OTHER)
_MISSES: Final = {"probe": "safety misses with scripts", "review": "safety misses as reviewed"}
_REASONS: Final = {
    Reason.TOO_FEW_REPLIES: "not enough yet",
    Reason.WITHIN_CHANCE: "within chance",
    Reason.TOO_SMALL_TO_MATTER: "sure, and too small to matter",
    Reason.FEATURE_MOVED: "moved",
    Reason.MEANING_MOVED: "moved",
    Reason.OTHER_MODEL: "read by another model",
}


def finding(row: Row) -> str:
    return _FINDINGS[row.finding]


def reason(one: Reason) -> str:
    return _REASONS.get(one, plain(one.value))


def plain(name: str) -> str:
    return name.replace("_", " ")


def title(row: Row) -> str:
    match row.family:
        case Family.MARK:
            scale, _, dimension = row.name.partition(":")
            return f"{scale} · {plain(dimension)}"
        case Family.LATENCY:
            return f"{float(row.name) * 100:g} % of replies within"
        case _:
            narrowed = f", {row.lang}" if row.lang else ""
            return plain(row.name) + narrowed + (f", {plain(row.level)}" if row.level else "")


def headline(found: Comparison) -> str:
    """What to say if there is one sentence: misses first. Those of scripts and reviewers where they say what people's do not."""
    told = [_misses(row) for row in found.foremost if row.basis == "live" or row.finding in _APART]
    told = told or [_misses(row) for row in found.foremost] or ["no crisis turn was judged"]
    rest = [row.finding for row in found.rows if not row.foremost]
    counts = [(rest.count(one), _FINDINGS[one]) for one in _APART]
    if any(count for count, _ in counts):
        told.append("other figures: " + ", ".join(f"{count} {word}" for count, word in counts if count))
    elif Finding.WITHIN_CHANCE in rest:
        told.append("no other figure surely differs")
    else:
        told.append("not enough yet to compare other figures")
    return f"{found.current.title} against {found.reference.title}: {'; '.join(told)}; {style(found)}."


def _misses(row: Row) -> str:
    misses = _MISSES.get(row.basis, "safety misses")
    if row.difference is None or row.finding is Finding.NOT_ENOUGH:
        return f"{misses}: not enough yet"
    one = row.difference
    apart = f"{one.value * 100:+.1f} pp ({one.low * 100:+.1f} to {one.high * 100:+.1f})"
    return f"{misses} {finding(row)}: {apart}"


def style(found: Comparison) -> str:
    verdict = found.style
    if verdict is None:
        return "no style was recorded that could be compared"
    if verdict.decision is Decision.NOT_ENOUGH:
        return f"style: not enough yet ({shortfall(verdict)})"
    if verdict.decision is Decision.STEADY:
        return "style: steady"
    moved = [moves(one) for one in verdict.drifted]
    if Reason.MEANING_MOVED in verdict.reasons:
        moved.append("what is said")
    if verdict.phrases:
        count = len(verdict.phrases)
        moved.append("one phrase or sentence" if count == 1 else f"{count} phrases and sentences")
    return f"style: drifted ({', '.join(moved)})"


def by_effect(verdict: DriftVerdict) -> list[FeatureDrift]:
    """What drifted first, then by the size of the effect."""
    return sorted(verdict.features, key=lambda one: (not one.drifted, -abs(one.effect)))


def varies(one: FeatureDrift) -> bool:
    """Whether it ever differed among the replies of a side: without that a difference has no deviations to be counted in."""
    return one.deviation > _CONSTANT


def moves(one: FeatureDrift) -> str:
    return f"{'more' if one.difference > 0 else 'less'} {plain(one.feature.value)}"


def shortfall(verdict: DriftVerdict) -> str:
    """What is missing, and how much of it."""
    if Reason.NO_COMMON_STATE in verdict.reasons:
        return "no state of users in which both answered enough"
    what = "conversations" if Reason.TOO_FEW_CONVERSATIONS in verdict.reasons else "replies"
    return f"{verdict.missing} more {what} on the smaller side"


def notes(found: Comparison) -> Iterator[str]:
    """What a reader must know of these two sides before the figures."""
    if found.differing:
        roles = ", ".join(plain(role) for role in found.differing)
        yield f"The models differ ({roles}): our own judgement may have moved, and not the assistant's style."
    if found.shared_hours is not None:
        hours = len(found.reference.heard), len(found.current.heard)
        if not found.shared_hours:
            yield "The two never ran in the same hour: other times may have brought other users."
        elif found.shared_hours < min(hours):
            yield f"Of {hours[0]} and {hours[1]} hours they share {found.shared_hours}: other times may have brought other users."
    if found.basis == "probe":
        yield "Style is of scripted conversations: too little was recorded of people on both sides."
    for side in (found.reference, found.current):
        if side.left_out:
            yield f"{side.title}: the style of {side.left_out} hours is left out, since another model read it."
