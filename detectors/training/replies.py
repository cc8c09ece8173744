"""Judged replies: our own corpora of them, and what is known of each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from detectors.finding import Criterion, EmotionNamed, Flag, Outcome
from detectors.training.example import Example, ReplyLabels, Said
from detectors.training.sources import CORPORA
from detectors.turn import Role

REPLIES: Final = CORPORA / "replies"


@dataclass(frozen=True, slots=True)
class JudgedReply:
    """One exchange of the corpora: ``turns`` end with the reply (one message or several) that was judged."""

    name: str
    lang: str
    level: str
    turns: tuple[Said, ...]
    labels: ReplyLabels
    family: str
    held_out: bool

    @property
    def text(self) -> str:
        """The whole reply: every message after the last of the user's, a line each."""
        return "\n".join(said.text for said in self.turns[self._asked + 1 :])

    @property
    def asked(self) -> str:
        """The user turn that is answered."""
        return self.turns[self._asked].text

    @property
    def _asked(self) -> int:
        return max(i for i, said in enumerate(self.turns) if said.role is Role.USER)

    def example(self) -> Example | None:
        """What the encoder learns from: the reply alone. None where nothing was said."""
        if not self.text.strip():
            return None
        said = (Said(Role.ASSISTANT, self.text),)
        return Example("replies", self.family, self.lang, said, reply=self.labels, held_out=self.held_out)


def read_replies(folder: Path = REPLIES) -> list[JudgedReply]:
    """Every judged reply of our own, files in the order of their names; none where the directory is not there."""
    return [
        _judged(json.loads(line))
        for file in sorted(folder.glob("*.jsonl"))
        for line in file.read_bytes().splitlines()
    ]


def _judged(row: Mapping[str, Any]) -> JudgedReply:
    return JudgedReply(
        name=row["id"],
        lang=row["lang"],
        level=row["level"],
        turns=tuple(Said(Role(turn["role"]), turn["text"]) for turn in row["turns"]),
        labels=ReplyLabels(
            outcome=Outcome(row["outcome"]),
            criteria=tuple(name for name in Criterion if row["criteria"][name]),
            flags=tuple(sorted(map(Flag, row["flags"]))),
            maybe=tuple(sorted(map(Flag, row["maybe"]))),
            doubtful=tuple(sorted(row["doubtful"])),
            emotion_named=EmotionNamed(row["emotion_named"]),
            scale_a=tuple(sorted(row["scale_a"].items())),
        ),
        family=row["family"],
        held_out=bool(row["held_out"]),
    )
