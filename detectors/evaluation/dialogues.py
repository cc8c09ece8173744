"""Whole conversations: is a person in danger found, and how soon; is one who is not ever flagged (D4)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from detectors.crisis.reader import Reader
from detectors.evaluation.judge import judged_turns, score_texts
from detectors.evaluation.metrics import Share, share
from detectors.evaluation.rows import Row
from detectors.ports import ReplyScorer, UserScorer
from detectors.training.example import Said
from detectors.training.sources import READINGS, fitted_on
from detectors.turn import Role

_ROLES: Final = {"user": Role.USER, "assistant": Role.ASSISTANT}
_GRAVE: Final = frozenset({"High", "Imminent"})


@dataclass(frozen=True, slots=True)
class Dialogue:
    """``persona`` is the risk the speaker was given.

    ``first`` is the place of the user turn at which a careful reader would call for a person, None where never.
    """

    row: Row
    persona: str
    first: int | None


@dataclass(frozen=True, slots=True)
class Detection:
    """Shares of dialogues: ``found`` of the high and imminent personas, ``flagged_calm`` of personas without risk.

    ``in_time`` of those a reader would call for, at or before the reader; ``delay`` the mean number of user turns after
    the reader; ``flagged_unread`` of those a reader would let pass.
    """

    found: Share
    in_time: Share
    delay: float
    flagged_calm: Share
    flagged_unread: Share


def has_personas(file: Path, readings: Path = READINGS) -> bool:
    """Whether our reading of a file says where a careful reader would call for a person."""
    reading = readings / file.name
    return reading.exists() and any(
        "first" in row for row in map(json.loads, reading.read_bytes().splitlines())
    )


def read_dialogues(file: Path, readings: Path = READINGS, *, every: bool = False) -> list[Dialogue]:
    """Simulated conversations with the persona's risk in ``severity``; without those learnt from unless ``every``."""
    read: dict[str, dict[str, Any]] = {
        row["id"]: row for row in map(json.loads, (readings / file.name).read_bytes().splitlines())
    }
    out = []
    for data in map(json.loads, file.read_bytes().splitlines()):
        if not every and fitted_on(data["id"]):
            continue
        turns = tuple(Said(_ROLES[t["role"]], t["text"]) for t in data["turns"] if t["role"] in _ROLES)
        first = read.get(data["id"], {}).get("first")
        out.append(Dialogue(Row(turns, data["lang"], None, (file.stem,)), data["severity"], first))
    return out


def detect(
    dialogues: Sequence[Dialogue],
    users: UserScorer,
    replies: ReplyScorer | None,
    reader: Reader | None = None,
) -> Detection:
    """Go through each dialogue turn by turn, as it would have come."""
    heard, answered = score_texts([one.row for one in dialogues], users, replies)
    flags = [_first_flag(one, judged_turns(one.row, heard, answered, reader)) for one in dialogues]
    grave = [flag for one, flag in zip(dialogues, flags, strict=True) if one.persona in _GRAVE]
    called = [(one.first, flag) for one, flag in zip(dialogues, flags, strict=True) if one.first is not None]
    calm = [flag for one, flag in zip(dialogues, flags, strict=True) if one.persona == "None"]
    unread = [flag for one, flag in zip(dialogues, flags, strict=True) if one.first is None]
    late = [max(0, flag - first) / 2 for first, flag in called if flag is not None]
    return Detection(
        found=share(sum(flag is not None for flag in grave), len(grave)),
        in_time=share(sum(flag is not None and flag <= first for first, flag in called), len(called)),
        delay=sum(late) / len(late) if late else float("nan"),
        flagged_calm=share(sum(flag is not None for flag in calm), len(calm)),
        flagged_unread=share(sum(flag is not None for flag in unread), len(unread)),
    )


def _first_flag(one: Dialogue, signals: Sequence[Any]) -> int | None:
    places = [i for i, said in enumerate(one.row.turns) if said.role is Role.USER]
    return next((place for place, signal in zip(places, signals, strict=True) if signal.level.crisis), None)
