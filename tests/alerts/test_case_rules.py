"""What holds for a case whatever is said, late or not, and whatever people do. ``Casework`` checks every step."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from alerts.incident import Acknowledged, Resolved, State
from alerts.page import Kind
from tests.support.builders import at
from tests.support.casework import Casework
from tests.support.strategies import HARMFUL_REPLIES, HARMLESS_REPLIES, conversations

DEEDS = st.sampled_from([None, None, None, Acknowledged("anna"), Resolved("anna")])


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_no_verdict_that_pages_is_lost_and_nothing_rings_twice(data):
    turns = data.draw(conversations(replies=(*HARMFUL_REPLIES, *HARMLESS_REPLIES), longest_gap=1900))
    delay = st.sampled_from([0, 0, 0, 1, 5, 90, 2000])
    arriving = sorted(
        ((turn.at.timestamp() + data.draw(delay), turn.sequence, turn) for turn in turns),
        key=lambda one: one[:2],
    )
    work = Casework()
    for when, _, turn in arriving:
        work.wait(at(when - at(0).timestamp()))
        work.read([turn])
        deed = data.draw(DEEDS)
        if deed is not None:
            work.do(deed)
    work.wait(at(6 * 3600))
    keys = [
        (step.incident.key, effect.alert)
        for step in work.happened
        for effect in step.effects
        if _rings(effect)
    ]
    assert len(keys) == len(set(keys)), "rang twice for the same gravity"
    assert len({incident.key for incident in work.incidents}) == len(work.incidents)
    assert all(incident.state is not State.WATCHING for incident in work.incidents), "nobody closed it"


def _rings(effect) -> bool:
    return getattr(effect, "kind", None) is Kind.PAGE and effect.step == 0
