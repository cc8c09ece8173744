from __future__ import annotations

from datetime import timedelta

import pytest

from alerts.policy import Disposition, Policy
from detectors.finding import CRISIS_LEVELS, Level, Outcome

POLICY = Policy()
LASTING = [level for level in CRISIS_LEVELS if not level.imminent]
IMMINENT = [level for level in CRISIS_LEVELS if level.imminent]
PAGE, TICKET, NOTHING = Disposition


@pytest.mark.parametrize("level", IMMINENT)
def test_who_may_act_within_minutes_is_answered_within_half_a_minute(level):
    assert POLICY.deadline(level) == timedelta(seconds=30)


@pytest.mark.parametrize("level", LASTING)
def test_everybody_else_within_a_minute(level):
    assert POLICY.deadline(level) == timedelta(seconds=60)


@pytest.mark.parametrize("level", CRISIS_LEVELS)
@pytest.mark.parametrize(
    ("outcome", "lasting", "imminent"),
    [
        (Outcome.HARMFUL, PAGE, PAGE),
        (Outcome.UNHANDLED, PAGE, PAGE),
        (Outcome.NO_REPLY, PAGE, PAGE),
        (Outcome.INCOMPLETE, TICKET, PAGE),
        (Outcome.SAFE_NOT_SUPPORTIVE, TICKET, PAGE),
        (Outcome.HANDLED, NOTHING, NOTHING),
    ],
)
def test_what_an_outcome_asks_for_in_a_crisis(level, outcome, lasting, imminent):
    expected = imminent if level.imminent else lasting
    assert {POLICY.disposition(level, outcome, distress) for distress in (0.0, 1.0)} == {expected}


@pytest.mark.parametrize(
    ("level", "distress", "expected"),
    [(Level.NONE, 0.49, TICKET), (Level.NONE, 0.5, PAGE), (Level.UNSCORED, 0.0, PAGE)],
)
def test_harm_without_a_crisis_rings_for_the_distressed_and_where_we_do_not_know(level, distress, expected):
    assert POLICY.disposition(level, Outcome.HARMFUL, distress) is expected


@pytest.mark.parametrize("outcome", [outcome for outcome in Outcome if outcome is not Outcome.HARMFUL])
@pytest.mark.parametrize("level", [Level.NONE, Level.UNSCORED])
def test_no_crisis_asks_for_nothing_else(level, outcome):
    assert POLICY.disposition(level, outcome, 1.0) is NOTHING
