"""First replies of a batch with what they answer: what is counted once a reply, by metrics and tally alike. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from alerts.watch import Exchange
from detectors.conversation import Entry
from detectors.scales.answer import Answer, Basis, Recognition, Spoken, answers_of
from detectors.scales.scale_a import marks_a
from detectors.scales.score import gate_and_warmth
from detectors.turn import Role


@dataclass(frozen=True, slots=True)
class Answered:
    """``first`` is the first reply to ``exchange``. ``answer`` is None where there is nothing to judge.

    ``seconds``: from the user's last message to the reply, by event time; None where the app measured it itself.
    ``marks``: scale (A or B), dimension and value of what is marked.
    """

    first: Entry
    exchange: Exchange
    answer: Answer | None
    seconds: float | None
    marks: tuple[tuple[str, str, float], ...]

    @property
    def emotion(self) -> tuple[Recognition, str] | None:
        """What became of an emotion that was due, and the basis.

        What a script marks and what we estimate are never added up: a probe's unmarked turn counts for neither.
        """
        answer = self.answer
        if answer is None or answer.emotion is None:
            return None
        if answer.basis is Basis.PROBE:
            return answer.emotion, "probe"
        return None if self.first.probe else (answer.emotion, "live")


def answered_of(spoken: Sequence[Exchange], fresh: set[str]) -> list[Answered]:
    """Those whose first reply is among the ``fresh`` events.

    What of the same reply comes in a later batch is judged (``alerts.watch``), and not counted again.
    """
    first = {
        index: entry
        for index, one in enumerate(spoken)
        if (entry := _first_reply(one)) and entry.event in fresh
    }
    if not first:
        return []
    found = answers_of([_signals(one) for one in spoken], first.keys())
    return [_answered(entry, spoken[index], found[index]) for index, entry in first.items()]


def _answered(first: Entry, one: Exchange, found: Answer | None) -> Answered:
    answer = _marked(found, one)
    return Answered(first, one, answer, _seconds(first, one), tuple(_marks(answer)) if answer else ())


def _marks(answer: Answer) -> Iterator[tuple[str, str, float]]:
    for dimension, mark in marks_a(answer).items():
        if mark is not None:
            yield "A", dimension, mark.value
    for dimension, value in gate_and_warmth(answer).items():
        yield "B", dimension, value


def _seconds(first: Entry, one: Exchange) -> float | None:
    asked = one.user[-1]
    if first.latency_ms is not None or first.done_at < asked.at:
        return None
    return (first.done_at - asked.at).total_seconds()


def _first_reply(one: Exchange) -> Entry | None:
    return next((e for e in one.reply if e.role is Role.ASSISTANT and e.reply_signal is not None), None)


def _signals(one: Exchange) -> Spoken:
    said = tuple(e.reply_signal for e in one.reply if e.role is Role.ASSISTANT and e.reply_signal is not None)
    return Spoken(one.signals, said, any(e.role is Role.HUMAN_AGENT for e in one.reply))


def _marked(answer: Answer | None, one: Exchange) -> Answer | None:
    """With what the script of a probe says of the turn."""
    told = [entry.emotion_due for entry in one.user if entry.emotion_due is not None]
    if answer is None or not told:
        return answer
    return replace(answer, marked=any(told), basis=Basis.PROBE)
