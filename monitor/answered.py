"""First replies of a batch with what they answer: what is counted once a reply, by metrics and tally alike. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from alerts.watch import Exchange
from detectors.conversation import Entry
from detectors.scales.answer import Answer, Basis, Spoken, answers_of
from detectors.turn import Role


@dataclass(frozen=True, slots=True)
class Answered:
    """``first`` is the first reply to ``exchange``. ``answer`` is None where there is nothing to judge.

    ``seconds``: from the user's last message to the reply, by event time; None where the app measured it itself.
    """

    first: Entry
    exchange: Exchange
    answer: Answer | None
    seconds: float | None


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
    return [
        Answered(entry, spoken[index], _marked(found[index], spoken[index]), _seconds(entry, spoken[index]))
        for index, entry in first.items()
    ]


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
