"""What a batch shows beside findings and verdicts: how far a conversation came, feedback, the assistant's own labels. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from alerts.watch import Watch
from detectors.conversation import Entry
from detectors.finding import Criterion
from detectors.notes import Notes, Own
from detectors.turn import Role
from monitor.answered import Answered
from monitor.batch import CaseResult

STAGES: Final = (4, 8)
"""User turns: continuation is the share of conversations that reach the second of those that reach the first (S4)."""
_LATE: Final = 9  # a turn from which on one bucket holds all


class Agreement(StrEnum):
    """The assistant's own label beside what we found."""

    AGREES = "agrees"
    DIFFERS = "differs"
    MISSING = "missing"


class Feedback(StrEnum):
    HELPFUL = "helpful"
    NOT_HELPFUL = "not_helpful"
    RETURNED = "returned"
    NOT_RETURNED = "not_returned"


@dataclass(frozen=True, slots=True)
class First:
    """The assistant says for the first time in this conversation that it did something."""

    own: Own
    turn: str  # number of the user turn; all late ones together


def reached(case: CaseResult) -> list[int]:
    """The stages that a conversation came to in this batch, each once in its life."""
    before, after = case.earlier.user_turns, case.advanced.case.conversation.user_turns
    return [stage for stage in STAGES if before < stage <= after]


def last_said(case: CaseResult) -> Entry | None:
    """The assistant's newest message, else anybody's: whose release a conversation's figures are of."""
    entries = case.advanced.case.conversation.entries
    said = [entry for entry in entries if entry.role is Role.ASSISTANT] or list(entries)
    return said[-1] if said else None


def feedback(notes: Notes) -> Iterator[Feedback]:
    if notes.helpful is not None:
        yield Feedback.HELPFUL if notes.helpful else Feedback.NOT_HELPFUL
    if notes.returned is not None:
        yield Feedback.RETURNED if notes.returned else Feedback.NOT_RETURNED


def own_emotion(one: Answered) -> Agreement | None:
    """None where it cannot be compared: no labels at all, no emotion found by us, or a word that is not ours."""
    notes, answer = one.first.notes, one.answer
    if notes is None or not notes.labelled or answer is None or not answer.user.emotions:
        return None
    if not notes.emotion:
        return Agreement.MISSING
    if not notes.emotions:
        return None
    return Agreement.AGREES if {*notes.emotions} & {*answer.user.emotions} else Agreement.DIFFERS


def own_safety(one: Answered) -> Agreement | None:
    """At a crisis turn: whether the assistant says that its safety path was taken."""
    notes, answer = one.first.notes, one.answer
    if notes is None or not notes.labelled or answer is None or not answer.crisis:
        return None
    if notes.safety is None:
        return Agreement.MISSING
    return Agreement.AGREES if notes.safety else Agreement.DIFFERS


def first_fired(case: CaseResult) -> list[tuple[Entry, First]]:
    conversation = case.advanced.case.conversation
    left = set(conversation.fired).difference(case.earlier.fired)
    found = []
    for entry in case.arrived:
        for own in entry.notes.fired if entry.notes is not None else ():
            if own in left:
                left.remove(own)
                found.append((entry, First(own, _turn(case, entry))))
    return found


def boundary_given(watch: Watch) -> bool | None:
    """Whether a reply to a crisis turn says that it cannot stand in for a professional; None where no reply was judged."""
    if not watch.level.crisis or not watch.criteria:
        return None
    return watch.criteria[Criterion.BOUNDARY]


def _turn(case: CaseResult, entry: Entry) -> str:
    """Which of the conversation's user turns it came after, counted from 1."""
    conversation = case.advanced.case.conversation
    later = sum(one.role is Role.USER and one.at > entry.at for one in conversation.entries)
    turn = max(conversation.user_turns - later, 0)
    return f"{_LATE}+" if turn >= _LATE else str(turn)
