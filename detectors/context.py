"""The level of each user turn in its conversation (D4, D5): what was disclosed does not vanish with the next message.

A pure function over signals; it never sees text. What it needs to know of a text comes as evidence of kind
``contextual`` (``detectors.distress.marks``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from detectors.crisis.reader import Before, Reader, shipped_reader
from detectors.distress.marks import CALM, CONTEXT, DENIAL, FAREWELL, FRAGMENT, RECOVERY
from detectors.distress.trend import slow_build_up
from detectors.finding import Cue, Evidence, Level, ReplySignal, UserSignal

STILL_OPEN = "still_open"  # a level that only remembers what was disclosed before
_REACH = 6  # user turns over which a disclosure is remembered in full
_BUILD_UP = 0.6  # distress a slow escalation must have come to before a short turn counts as risk
_ALMOST = 0.3
# score of a disclosure that later small talk does not close: above it lie 2 % of the calibration rows without risk;
# below, one false alarm would colour the rest of a talk
_SURE = 0.88

# disclosures that stay until a person has taken over: never back to none in this conversation
_GRAVE = frozenset(
    {
        Level.ACTIVE_IDEATION,
        Level.PLAN_INTENT,
        Level.PREPARATION,
        Level.IN_PROGRESS,
        Level.SELF_HARM,
        Level.HARM_TO_OTHERS,
    }
)


def contextual(
    turns: Sequence[UserSignal | ReplySignal], reader: Reader | None = None, left: Before = ()
) -> list[UserSignal]:
    """The signals of user turns with contextual levels, in order. ``turns`` are all turns, oldest first.

    ``left`` are the memories of turns before those (True: an assistant's), as far as they are still known.

    A turn with a memory is judged by the trained ``reader`` of the turns before it (the shipped one unless given), one
    without by marks in its words.
    Reasons, as the source of a ``contextual`` evidence: ``in_context``, ``cleared_by_context``,
    ``denial_after_disclosure``, ``fragment_after_disclosure``, ``farewell_after_disclosure``,
    ``calm_after_disclosure``, ``still_open``, ``slow_escalation``.
    A conversation without any disclosure and without a steep, strong rise of distress is returned unchanged.
    """
    out: list[UserSignal] = []
    users: list[UserSignal] = []  # as they speak for themselves
    before = list(left)
    held: Level | None = None  # the gravest level disclosed so far
    sure = False  # whether a grave disclosure was beyond doubt
    since = 0  # user turns since the last one
    for turn in turns:
        if isinstance(turn, ReplySignal):
            before.append((turn.memory, True))
            continue
        since += 1
        users.append(turn)
        signal = (reader or shipped_reader()).judge(turn, before) if turn.memory else turn
        if turn.level is Level.UNSCORED and not signal.level.crisis:
            signal = turn  # a memory of a part of it says nothing of the rest
        before.append((turn.memory, False))
        if signal.level.crisis:
            if held is None or signal.level.severity >= held.severity or (since > _REACH and not sure):
                held = signal.level
            sure = sure or (signal.level in _GRAVE and signal.score >= _SURE)
            since = 0
            out.append(signal)
            continue
        judged = (
            _after_disclosure(signal, held, since, sure=sure)
            if held is not None
            else _in_escalation(signal, users)
        )
        if judged.level.crisis and held is None:
            held, since = judged.level, 0
        elif held is not None and not sure and not judged.level.crisis:
            held = None  # a passive wish that was followed by ordinary talk or a credible recovery
        out.append(judged)
    return out


def asks(signal: UserSignal) -> bool:
    """True for a crisis turn that asks for an answer as such.

    After a disclosure danger is remembered for the rest of the conversation, in the thanks and the small talk too. What was
    disclosed is watched; the talk that follows asks for no second protocol. Harm done in it counts as done to somebody in
    danger.
    """
    remembered = any(e.kind == CONTEXT and e.source == STILL_OPEN for e in signal.evidence)
    return signal.level.crisis and not remembered


def _marks(signal: UserSignal) -> frozenset[str]:
    return frozenset(evidence.source for evidence in signal.evidence if evidence.kind == CONTEXT)


def _after_disclosure(signal: UserSignal, held: Level, since: int, *, sure: bool) -> UserSignal:
    marks = _marks(signal)
    near = since <= _REACH and not signal.memory  # the reader has judged what was said since
    if near and RECOVERY in marks and held is Level.PASSIVE_IDEATION:
        return signal
    if near and DENIAL in marks:
        return _raised(signal, held, "denial_after_disclosure", Cue.DISCLOSURE_DENIED)
    if near and FAREWELL in marks and RECOVERY not in marks and held in _GRAVE:
        return _raised(signal, held, "farewell_after_disclosure", Cue.FAREWELL)
    if near and (FRAGMENT in marks or Cue.SILENCE in signal.cues):
        return _raised(
            signal, held if since == 1 else _lowered(held), "fragment_after_disclosure", Cue.SILENCE
        )
    if sure:
        reason = "calm_after_disclosure" if CALM in marks else STILL_OPEN
        return _raised(signal, Level.PASSIVE_IDEATION, reason, None)
    return signal


def _lowered(held: Level) -> Level:
    return Level.PASSIVE_IDEATION if held in _GRAVE else held


def _in_escalation(signal: UserSignal, users: Sequence[UserSignal]) -> UserSignal:
    """A steep rise to strong distress that ends in a turn which is almost a crisis, or a farewell in few words.

    ``users`` are the turns up to this one as they speak for themselves: only their distress counts.
    """
    build_up = slow_build_up(users)
    if not build_up:
        return signal
    marks = _marks(signal)
    strained = max((one.distress for one in users[-3:]), default=0.0) >= _BUILD_UP
    telling = signal.score >= _ALMOST or (FAREWELL in marks and FRAGMENT in marks)
    if strained and telling:
        return _raised(signal, Level.PASSIVE_IDEATION, "slow_escalation", None)
    return replace(signal, evidence=signal.evidence + build_up)


def _raised(signal: UserSignal, level: Level, reason: str, cue: Cue | None) -> UserSignal:
    cues = signal.cues if cue is None or cue in signal.cues else (*signal.cues, cue)
    evidence = (Evidence(CONTEXT, reason, 0, 1.0), *signal.evidence)
    return replace(
        signal,
        level=level,
        score=max(signal.score, 0.5),
        distress=max(signal.distress, 0.4),
        cues=cues,
        evidence=evidence,
    )
