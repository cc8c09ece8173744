"""From a batch, or from decisions of time, to what they add to the figures. Pure.

What is counted here and by ``monitor.recorder`` is the same; the tally is written with the batch, so it is exact through kills.
A verdict that got worse afterwards counts again beside the first one, as it does there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Final

from alerts.canary import is_canary
from alerts.case import Advanced
from alerts.incident import Incident
from alerts.watch import Exchange, Watch
from detectors.context import asks
from detectors.conversation import Entry
from detectors.finding import VERDICTS, Flag, Level, Outcome, ReplySignal, UserSignal
from detectors.scales.answer import EMOTION_DUE, Answer
from detectors.turn import Role
from monitor.answered import Answered
from monitor.batch import CaseResult
from monitor.languages import language
from monitor.tally.cell import Cell, State, Tally, Where, hour_of
from monitor.tally.names import Kind, name
from monitor.tally.seen import (
    boundary_given,
    feedback,
    first_fired,
    last_said,
    own_emotion,
    own_safety,
    reached,
)
from monitor.tally.styles import Said, styles_of

PROHIBITED: Final = (Flag.DENIES_FEELING, Flag.PREMATURE_ADVICE)  # J6
REVIEWED: Final = ("true_miss", "false_alarm")
Repeated = Callable[[str, str], bool]
"""Conversation and gist of a reply: whether nearly the same was said elsewhere lately."""


def tally_of(
    results: Iterable[CaseResult], at: datetime, repeated: Repeated, *, styles: bytes | None
) -> Tally:
    """What a batch adds. Canaries never count. ``styles`` keys the marks of styles; None where nobody adds them up."""
    tally = Tally(hour_of(at))
    for case in results:
        conversation = case.advanced.case.conversation
        if is_canary(conversation.key):
            continue
        users = {entry.event: one for one in case.exchanges for entry in (*one.user, *one.reply)}
        for entry, signal in case.fresh:
            before = case.before.get(entry.event)
            if isinstance(signal, UserSignal):
                _user(tally, entry, signal, before)
            elif before is None:
                _reply(tally, entry, signal, users.get(entry.event), repeated(conversation.key, signal.gist))
                if styles is not None and signal.style:
                    asked = users.get(entry.event)
                    state = _state(asked.signals if asked else ())
                    said = Said(conversation, entry, signal, asked)
                    tally.styles += styles_of(said, state.value, tally.hour, styles)
        for one in case.answered():
            _answered(tally, one)
        _notes(tally, case)
        add_verdicts(tally, case.advanced.verdicts)
    return tally


def tally_of_decisions(advanced: Iterable[Advanced], at: datetime) -> Tally:
    """What the passing of time adds."""
    tally = Tally(hour_of(at))
    for one in advanced:
        if not is_canary(one.case.conversation.key):
            add_verdicts(tally, one.verdicts)
    return tally


def tally_of_review(incident: Incident, at: datetime) -> Tally:
    """What a person says of an incident: whether somebody was missed. Other verdicts say nothing of that."""
    tally = Tally(hour_of(at))
    if incident.verdict in REVIEWED and not is_canary(incident.conversation):
        where = Where(incident.track, incident.release, language(incident.lang), State.CRISIS.value, "review")
        tally.at(where).counts[name(Kind.REVIEW, incident.verdict, incident.level.value)] += 1
    return tally


def add_verdicts(tally: Tally, verdicts: Iterable[Watch]) -> None:
    for watch in verdicts:
        if watch.outcome not in VERDICTS:
            continue
        basis = "probe" if watch.probe else "live"
        where = Where(watch.track.value, watch.release, language(watch.lang), State.CRISIS.value, basis)
        level = watch.level if watch.level.crisis else Level.NONE
        tally.at(where).counts[name(Kind.OUTCOME, watch.outcome.value, level.value)] += 1
        given = boundary_given(watch)
        if given is not None:
            tally.at(where).counts[name(Kind.BOUNDARY, "given" if given else "missing")] += 1


def _user(tally: Tally, entry: Entry, signal: UserSignal, before: object | None) -> None:
    """A message that its user goes on streaming is one turn, and counts for a crisis once it is one."""
    cell = tally.at(_where(entry, signal.language, _state((signal,))))
    if before is None:
        cell.counts[name(Kind.TURN, Role.USER.value)] += 1
    known = before.level if isinstance(before, UserSignal) else None
    if signal.level.crisis and not (known is not None and known.crisis):
        cell.counts[name(Kind.CRISIS_TURN, signal.level.value)] += 1


def _reply(tally: Tally, entry: Entry, signal: ReplySignal, one: Exchange | None, again: bool) -> None:  # noqa: FBT001 - a fact
    cell = tally.at(_where(entry, signal.language, _state(one.signals if one else ())))
    cell.counts[name(Kind.TURN, Role.ASSISTANT.value)] += 1
    cell.counts[name(Kind.REPLY, "repeated" if again else "new")] += 1
    if entry.latency_ms is not None:
        cell.took(entry.latency_ms)


def _answered(tally: Tally, one: Answered) -> None:
    answer, first = one.answer, one.first
    lang = one.exchange.signals[one.exchange.worst].language
    cell = tally.at(_where(first, lang, _state(one.exchange.signals)))
    if one.seconds is not None:
        cell.took(one.seconds * 1000)
    if answer is not None:
        _judged(cell, answer)
        for scale, dimension, value in one.marks:
            cell.mark(f"{scale}:{dimension}", value)
        if one.emotion is not None:
            what, basis = one.emotion
            marked = _where(first, lang, _state(one.exchange.signals))._replace(basis=basis)
            tally.at(marked).counts[name(Kind.EMOTION, what.value)] += 1
    for kind, agreement in ((Kind.OWN_EMOTION, own_emotion(one)), (Kind.OWN_SAFETY, own_safety(one))):
        if agreement is not None:
            cell.counts[name(kind, agreement.value)] += 1


def _judged(cell: Cell, answer: Answer) -> None:
    counts = cell.counts
    counts[name(Kind.ANSWER, "all")] += 1
    if answer.user.level is Level.NONE:
        counts[name(Kind.ANSWER, "benign")] += 1
        counts[name(Kind.ANSWER, "over_triggered")] += answer.handling.outcome is Outcome.OVER_TRIGGERED
    counts[name(Kind.ANSWER, "prohibited")] += answer.shows(*PROHIBITED)
    for flag in answer.reply.flags:
        counts[name(Kind.FLAG, flag.value)] += 1


def _notes(tally: Tally, case: CaseResult) -> None:
    """What is of the conversation as a whole, or comes beside its words."""
    last = last_said(case)
    if last is not None:
        for stage in reached(case):
            tally.at(_where(last, _language(case), State.NONE)).counts[name(Kind.REACHED, str(stage))] += 1
        for entry in case.arrived:
            if entry.notes is None:
                continue
            counts = tally.at(_where(last, _language(case), State.NONE)).counts
            for word in feedback(entry.notes):
                counts[name(Kind.FEEDBACK, word.value)] += 1
            if entry.role is Role.USER and entry.notes.voice is not None:
                counts[name(Kind.VOICE, entry.notes.voice.value)] += 1
            if entry.role is Role.USER and entry.notes.cohort is not None:
                counts[name(Kind.COHORT, entry.notes.cohort.value)] += 1
    for entry, first in first_fired(case):
        counts = tally.at(_where(entry, _language(case), State.NONE)).counts
        counts[name(Kind.FIRST, first.own.value, first.turn)] += 1


def _where(entry: Entry, lang: str, state: State) -> Where:
    basis = "probe" if entry.probe else "live"
    return Where(entry.track.value, entry.release, language(lang), state.value, basis)


def _state(signals: Sequence[UserSignal]) -> State:
    if any(asks(signal) for signal in signals):
        return State.CRISIS
    hurt = any(signal.distress >= EMOTION_DUE or signal.level.crisis for signal in signals)
    return State.DISTRESSED if hurt else State.NONE


def _language(case: CaseResult) -> str:
    """Of what the user said last."""
    said = case.exchanges[-1].signals if case.exchanges else ()
    return said[-1].language if said else "und"
