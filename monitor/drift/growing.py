"""One comparison as it grows: what is added up on either side so far, what has alarmed, and what was last found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import structlog

from detectors.drift import packing
from detectors.drift.sketch import StyleSketch
from detectors.drift.verdict import Decision, DriftVerdict, Reason
from monitor.drift.plan import Against, Comparison, Name
from monitor.tally.hours import Place

_log = structlog.get_logger(__name__)

EMBEDDING = "embedding"
TEMPLATES = "templates"


@dataclass(frozen=True, slots=True)
class Found:
    """``alarmed``: features that have alarmed since it began. ``p``: p-values by feature, at the last look that had them."""

    name: Name
    verdict: DriftVerdict
    alarmed: frozenset[str]
    p: dict[str, float]

    @property
    def decision(self) -> Decision:
        return Decision.DRIFTED if self.alarmed else self.verdict.decision


@dataclass(slots=True)
class Sides:
    current: StyleSketch = field(default_factory=StyleSketch)
    reference: StyleSketch = field(default_factory=StyleSketch)

    @property
    def model(self) -> str:
        return self.current.model or self.reference.model

    def plus(self, other: Sides) -> Sides:
        return Sides(self.current.merge(other.current), self.reference.merge(other.reference))


class Growth:
    """Hours that can still change are added for a look only (``open``); those that are over, once and for all."""

    def __init__(self, comparison: Comparison) -> None:
        self.name = comparison.name
        self.done: set[Place] = set()
        self._whole = Sides()
        self._pinned: StyleSketch | None = None
        self._alarmed: set[str] = set()
        self._p: dict[str, float] = {}
        if comparison.pinned is not None:
            try:
                self._pinned = packing.unpack(comparison.pinned.sketch)
            except packing.SketchError as error:
                _log.error("baseline_not_read", baseline=comparison.pinned.name, problem=str(error))
                self._pinned = StyleSketch()
        _log.info("style_comparison_began", **_told(self.name))

    def add(self, places: Sequence[Place], hour: Sides, *, look: bool) -> None:
        """An hour that is over. ``look``: others follow at once, and whoever was elected then has looked at it by itself."""
        self._whole = self._plus(hour)
        self.done.update(places)
        if look:
            self._judge(self._verdict(self._whole, None))

    def look(self, open_hours: Sequence[Sides], chance: np.random.Generator | None) -> Found:
        """With a generator, p-values too."""
        sides = self._whole
        for hour in open_hours:
            sides = self._plus(hour, sides)
        verdict = self._verdict(sides, chance)
        self._judge(verdict)
        if chance is not None:
            self._p = _p_values(verdict)
        return Found(self.name, verdict, frozenset(self._alarmed), self._p)

    def _plus(self, hour: Sides, sides: Sides | None = None) -> Sides:
        """Another model sees the same replies otherwise: with it a comparison begins anew, and nothing is compared across."""
        sides = self._whole if sides is None else sides
        hour = _of_one_model(hour)
        if sides.model and hour.model and sides.model != hour.model:
            _log.info("style_comparison_began", reason="other_model", **_told(self.name))
            self._alarmed, self._p = set(), {}
            return hour
        return sides.plus(hour)

    def _verdict(self, sides: Sides, chance: np.random.Generator | None) -> DriftVerdict:
        current = sides.current
        reference = sides.reference if self._pinned is None else self._pinned
        if current.model and reference.model and current.model != reference.model:
            counts = (current.replies, reference.replies), (current.conversations, reference.conversations)
            return DriftVerdict(Decision.NOT_ENOUGH, (Reason.OTHER_MODEL,), *counts)
        # A second of imports (scipy) that only the elected one needs, in the thread that it compares in.
        from detectors.drift.compare import compare  # noqa: PLC0415 - see above
        from detectors.drift.distance import distance  # noqa: PLC0415 - see above

        if self.name.against is Against.COHORTS:
            return distance(current, reference).verdict
        return compare(current, reference, chance=chance)

    def _judge(self, verdict: DriftVerdict) -> None:
        """What has alarmed stays so while the comparison lasts: the bound is on its ever doing so."""
        if self.name.against is Against.COHORTS:
            return
        now = alarms(verdict)
        if not now <= self._alarmed:
            _log.warning("style_drifted", **_told(self.name), **_shares(verdict))
        self._alarmed |= now


def alarms(verdict: DriftVerdict) -> set[str]:
    found = {one.feature.value for one in verdict.drifted}
    if verdict.meaning is not None and verdict.meaning.reason is Reason.MEANING_MOVED:
        found.add(EMBEDDING)
    if verdict.phrases:
        found.add(TEMPLATES)
    return found


def _of_one_model(hour: Sides) -> Sides:
    """In the hour of an upgrade one side may be read by another model already: the current one counts."""
    if hour.current.model and hour.reference.model and hour.current.model != hour.reference.model:
        return Sides(hour.current)
    return hour


def _p_values(verdict: DriftVerdict) -> dict[str, float]:
    found = {one.feature.value: one.p_corrected for one in verdict.features}
    if verdict.meaning is not None:
        found[EMBEDDING] = verdict.meaning.p
    return {name: p for name, p in found.items() if p is not None}


def _told(name: Name) -> dict[str, str]:
    return {
        "against": name.against.value,
        "track": name.track,
        "release": name.release,
        "since": name.since.isoformat(),
    }


def _shares(verdict: DriftVerdict) -> dict[str, object]:
    """Names and shares of the current group and of the reference. A sentence is named by its id."""
    return {
        "features": {
            one.feature.value: [round(one.first, 3), round(one.second, 3)] for one in verdict.drifted
        },
        "phrases": {one.name: [round(one.first, 3), round(one.second, 3)] for one in verdict.phrases},
        "embedding": bool(verdict.meaning and verdict.meaning.reason is Reason.MEANING_MOVED),
    }
