"""What two sides differ in: every figure of either beside the other's, and the verdict on their style. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from detectors.drift.compare import USUAL, compare
from detectors.drift.policy import Policy
from detectors.drift.sketch import StyleSketch
from detectors.drift.verdict import DriftVerdict
from monitor.releases.row import Family, Row
from monitor.releases.rows import rows_of
from monitor.releases.side import Side, basis_of


@dataclass(frozen=True, slots=True)
class Comparison:
    """``style`` is None where no style was recorded on a side, or none of the same ``basis``.

    ``differing``: roles of models that are not the same on both sides; None where they are not known of both.
    """

    reference: Side
    current: Side
    rows: tuple[Row, ...]
    style: DriftVerdict | None
    basis: str | None
    differing: tuple[str, ...] | None
    shared_hours: int | None

    @property
    def foremost(self) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if row.foremost)

    def of(self, family: Family) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if row.family is family)


def compare_sides(
    reference: Side, current: Side, chance: np.random.Generator, policy: Policy = USUAL
) -> Comparison:
    """``current`` against ``reference``: differences say what it has more."""
    basis = _common_basis(reference.sketches, current.sketches, policy)
    style = (
        None if basis is None else compare(current.sketches[basis], reference.sketches[basis], policy, chance)
    )
    known = reference.models is not None and current.models is not None
    return Comparison(
        reference,
        current,
        tuple(rows_of(reference, current)),
        style,
        basis,
        differing(reference.models or {}, current.models or {}) if known else None,
        len(reference.heard & current.heard) if reference.heard and current.heard else None,
    )


def differing(one: Mapping[str, str], other: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(role for role in sorted({*one, *other}) if one.get(role) != other.get(role))


def _common_basis(
    one: Mapping[str, StyleSketch], other: Mapping[str, StyleSketch], policy: Policy
) -> str | None:
    """By what the smaller side holds."""
    shared = {basis: min(one[basis].replies, other[basis].replies) for basis in one if basis in other}
    return basis_of(shared, policy.replies)
