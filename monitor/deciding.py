"""What becomes of a batch's conversations: folded, then advanced. One that nobody can decide about stops none of the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from alerts.case import Case, advance
from alerts.moment import Moment
from alerts.policy import Policy
from alerts.watch import exchanges
from detectors.conversation import Conversation
from detectors.fold import Folded, fold, scored
from monitor.batch import CaseResult, Read, Scored, fresh_of, known_of
from monitor.reading import Reading
from monitor.scoring import Signal
from monitor.unreadable import Instead


def folds_of(
    stored: dict[str, Case], read: Read, reading: Reading, now: datetime, instead: Instead
) -> dict[str, Folded]:
    """``stored`` is given what stands for a case that cannot be folded."""
    live = {place: reading.live(place, now) for place in set(read.partition_of.values())}
    folds = {}
    for conversation, turns in read.turns.items():
        case, now_live = _case(stored, conversation), live[read.partition_of[conversation]]
        try:
            folds[conversation] = fold(case.conversation, turns, now, live=now_live)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with one, the others go on
            stored[conversation] = case = instead.add(case, error, now)
            folds[conversation] = fold(case.conversation, turns, now, live=now_live)
    return folds


def decide(
    stored: Mapping[str, Case],
    folds: Mapping[str, Folded],
    read: Read,
    reading: Reading,
    signals: Scored,
    now: datetime,
    instead: Instead,
    policy: Policy,
) -> list[CaseResult]:
    """One result for each conversation, but for those about which nobody can decide: ``instead`` has what stands for them."""
    newest = read.newest
    results = []
    for conversation, folded in folds.items():
        found = {item.entry: signals[conversation, item.entry][1] for item in folded.unscored}
        before = _case(stored, conversation)
        partition = read.partition_of[conversation]
        moment = reading.moment(partition, now, newest.get(partition))
        try:
            results.append(_result(before, folded, found, moment, policy))
        except Exception as error:  # noqa: BLE001 - whatever is wrong with one, the others go on
            instead.add(before, error, now)
    return results


def _result(
    before: Case, folded: Folded, found: Mapping[str, Signal], moment: Moment, policy: Policy
) -> CaseResult:
    case = replace(before, conversation=scored(folded.conversation, dict(found)))
    spoken = tuple(exchanges(case.conversation))
    advanced = advance(case, moment, policy)
    fresh, known = fresh_of(case, found, spoken), known_of(before, found)
    old = {entry.event for entry in before.conversation.entries}
    arrived = tuple(entry for entry in case.conversation.entries if entry.event not in old)
    return CaseResult(advanced, fresh, known, folded.repeats, spoken, before.conversation, arrived)


def _case(stored: Mapping[str, Case], conversation: str) -> Case:
    return stored.get(conversation) or Case(Conversation(conversation))
