"""Who may be forgotten: by our own clock, whatever the app's says."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from alerts.case import Case, Known
from alerts.holding import Hold, hold
from alerts.incident import State
from alerts.policy import Policy
from detectors.conversation import Entry
from detectors.turn import Role
from tests.support.cases import NOW, a_case, an_incident

POLICY = Policy()
MINUTE = timedelta(minutes=1)
APART = (-14 * 60 * MINUTE, -40 * MINUTE, 0 * MINUTE, 20 * MINUTE)


def heard(case: Case, ago: timedelta, severity: int, apart: timedelta) -> Case:
    at = NOW - ago + apart
    entry = Entry("e-1", Role.USER, at, at, NOW - ago)
    return replace(
        case,
        conversation=replace(case.conversation, entries=(entry,)),
        known={"e-1": Known(1, severity)},
    )


@pytest.mark.parametrize("apart", APART)
def test_who_has_just_been_taken_in_hand_is_not_forgotten(apart):
    taken = an_incident(
        state=State.ACKNOWLEDGED, last_crisis_at=NOW - MINUTE + apart, acknowledged_at=NOW - MINUTE
    )
    assert hold(None, [taken], NOW, POLICY) is Hold.EPISODE


@pytest.mark.parametrize("apart", APART)
def test_nor_is_one_in_whose_conversation_a_crisis_was_read_lately(apart):
    taken = an_incident(
        state=State.ACKNOWLEDGED,
        last_crisis_at=NOW - MINUTE + apart,
        acknowledged_at=NOW - 2 * POLICY.quiet,
    )
    lately = heard(a_case(), MINUTE, 3, apart)
    assert hold(lately, [taken], NOW, POLICY) is Hold.EPISODE


def test_small_talk_does_not_make_an_episode_longer():
    long_ago = NOW - 2 * POLICY.quiet
    taken = an_incident(state=State.ACKNOWLEDGED, last_crisis_at=long_ago, acknowledged_at=long_ago)
    assert hold(heard(a_case(), MINUTE, 0, timedelta(0)), [taken], NOW, POLICY) is None


@pytest.mark.parametrize("apart", [-40 * MINUTE, 0 * MINUTE, 40 * MINUTE])
def test_once_it_is_quiet_the_record_may_go(apart):
    quiet = NOW - POLICY.quiet - MINUTE
    taken = an_incident(state=State.ACKNOWLEDGED, last_crisis_at=quiet + apart, acknowledged_at=quiet)
    case = heard(a_case(), POLICY.quiet + MINUTE, 3, apart)
    assert hold(case, [taken], NOW, POLICY) is None
