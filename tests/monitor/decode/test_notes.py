"""An app's notes are read as a few words of ours, whatever stands in them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detectors.finding import Emotion
from detectors.notes import Cohort, Notes, Own, Voice
from monitor.decode.event import Event
from monitor.decode.notes import notes_of

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from(["helpful", "returned", "expression", "tone", "age"])


def read(**parts: Any) -> Notes | None:
    return notes_of(
        Event.model_validate(
            {"event_id": "e", "conversation_id": "c", "role": "user", "text": "", "at": 0} | parts,
            strict=False,
        )
    )


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ({}, None),
        ({"feedback": {"comment": "Quillfeather"}}, None),
        ({"assistant": {}}, None),
        ({"feedback": {"helpful": True}}, Notes(helpful=True)),
        ({"feedback": {"helpful": 4}}, Notes(helpful=True)),
        ({"feedback": {"helpful": 2}}, Notes(helpful=False)),
        ({"feedback": {"helpful": 3}}, None),
        ({"feedback": {"helpful": 11}}, None),
        ({"feedback": {"helpful": "yes", "returned": "no"}}, None),
        ({"feedback": {"returned": False}}, Notes(returned=False)),
        ({"cohort": {"expression": "Terse"}}, Notes(cohort=Cohort.TERSE)),
        ({"cohort": {"expression": "open"}}, Notes(cohort=Cohort.OPEN)),
        ({"cohort": {"expression": "Quillfeather"}}, Notes(cohort=Cohort.OTHER)),
        ({"cohort": {"age": "20-29"}}, None),
        ({"voice": {"tone": "flat"}}, Notes(voice=Voice.FLAT)),
        ({"voice": {"tone": ["flat"], "pauses": 3}}, None),
        ({"assistant": {"strategy": "reflect"}}, Notes(labelled=True, strategy=True)),
        ({"assistant": {"emotion": "累"}}, Notes(labelled=True, emotion=True, emotions=(Emotion.FATIGUE,))),
        ({"assistant": {"emotion": ["Sad", "sadness", "joy"]}},
         Notes(labelled=True, emotion=True, emotions=(Emotion.SADNESS, Emotion.JOY))),
        ({"assistant": {"emotion": "wistful"}}, Notes(labelled=True, emotion=True)),
        ({"assistant": {"safety_triggered": False, "knowledge_hit": True}},
         Notes(labelled=True, safety=False, knowledge=True)),
    ],
)  # fmt: skip
def test_what_is_counted_is_read_and_nothing_else(parts, expected):
    assert read(**parts) == expected


@given(st.dictionaries(NAMES, ANYTHING), st.dictionaries(NAMES, ANYTHING), st.dictionaries(NAMES, ANYTHING))
def test_whatever_stands_there_it_is_a_few_words(feedback, cohort, voice):
    notes = read(feedback=feedback, cohort=cohort, voice=voice)
    assert notes is None or {notes.helpful, notes.returned} <= {True, False, None}


def test_what_the_assistant_says_that_it_did():
    assert Notes(strategy=True, safety=False, knowledge=True).fired == (Own.STRATEGY, Own.KNOWLEDGE)


def test_a_script_of_emotions_without_end_is_cut():
    found = read(assistant={"emotion": ["x"] * 1000 + ["joy"]})
    assert found is not None
    assert found.emotions == ()
