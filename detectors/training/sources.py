"""Where examples come from: our corpora, and labelled files of others (JSONL, see ``read_public``)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any, Final

from detectors.finding import Cue, Emotion, Level
from detectors.training.example import Example, Said
from detectors.turn import Role

CORPORA: Final = Path(str(resources.files("detectors"))) / "corpora"
FITTED: Final = 3
_ROLES: Final = {"user": Role.USER, "assistant": Role.ASSISTANT}

# what other label sets call our levels (PsySUICIDE); where they say too little, only "crisis" is learnt
_LEVEL_OF: Final = {
    "active_suicidal_ideation": Level.ACTIVE_IDEATION,
    "passive_suicidal_ideation": Level.PASSIVE_IDEATION,
    "suicide_plan": Level.PLAN_INTENT,
    "suicide_preparation": Level.PREPARATION,
    "self_harm_behaviour": Level.SELF_HARM,
    "self_harm_intent": Level.SELF_HARM,
    "harm_to_others_user": Level.HARM_TO_OTHERS,
}


def read_corpora(folder: Path = CORPORA) -> list[Example]:
    """Every row of our own, files in the order of their names."""
    return [
        _own(json.loads(line), file.stem)
        for file in sorted(folder.glob("*.jsonl"))
        for line in file.read_bytes().splitlines()
    ]


def _own(row: dict[str, Any], source: str) -> Example:
    level = Level(row["level"])
    return Example(
        source=source,
        group=row["family"],
        lang=row["lang"],
        turns=_turns(row),
        crisis=level.crisis,
        level=level,
        distress=int(row["distress"]),
        emotions=frozenset(Emotion(name) for name in row["emotions"]),
        cues=frozenset(Cue(name) for name in row["cues"]),
        kind=row["kind"],
        trend=row.get("trend"),
        held_out=bool(row["held_out"]),
    )


def _turns(row: dict[str, Any]) -> tuple[Said, ...]:
    if "turns" not in row:
        return (Said(Role.USER, row["text"]),)
    return tuple(Said(_ROLES[turn["role"]], turn["text"]) for turn in row["turns"] if turn["role"] in _ROLES)


def fold_of(identity: str, folds: int = 5) -> int:
    """The part a foreign row belongs to: a stable number from its id."""
    return int(hashlib.sha256(identity.encode()).hexdigest(), 16) % folds


def fitted_on(identity: str) -> bool:
    """Three of five rows of a set of others are learnt from, the rest measures: the same ones in every version."""
    return fold_of(identity) < FITTED


def read_public(file: Path) -> Iterator[tuple[str, Example]]:
    """Ids and examples of a file ``{"id", "lang", "text", "label", "category"?}`` with labels ``crisis`` and ``not_crisis``.

    Rows with other labels are left out: they say nothing about the one who writes.
    """
    for line in file.read_bytes().splitlines():
        row = json.loads(line)
        if "text" not in row or row.get("label") not in {"crisis", "not_crisis"}:
            continue
        crisis = row["label"] == "crisis"
        name = str(row.get("category") or "").partition("|")[0]
        yield (
            row["id"],
            Example(
                source=file.stem,
                group=row["id"],
                lang=row["lang"],
                turns=(Said(Role.USER, row["text"]),),
                crisis=crisis,
                level=_LEVEL_OF.get(name) if crisis else Level.NONE,
                part=(row.get("orig") or {}).get("data_source"),
            ),
        )


READINGS: Final = CORPORA / "readings"
_FAR: Final = 8  # earlier turns kept


def read_dialogues(file: Path, readings: Path = READINGS) -> Iterator[tuple[str, Example]]:
    """Ids and examples of a file of conversations ``{"id", "lang", "turns"}``, one for each user turn.

    ``readings`` holds our labels of them, a file of the same name: ``{"id", "turns": {place: [level, by itself,
    distress]}}``. Turns not listed there are ordinary; "?" leaves one out. Conversations without a reading are left out.
    """
    read = {row["id"]: row for row in map(json.loads, (readings / file.name).read_bytes().splitlines())}
    for line in file.read_bytes().splitlines():
        row = json.loads(line)
        if row["id"] not in read:
            continue
        labels = read[row["id"]]["turns"]
        said = [
            (i, Said(_ROLES[t["role"]], t["text"])) for i, t in enumerate(row["turns"]) if t["role"] in _ROLES
        ]
        for place, (number, one) in enumerate(said):
            if one.role is not Role.USER:
                continue
            whole, alone, distress = labels.get(str(number), [Level.NONE, Level.NONE, 1])
            level = None if whole == "?" else Level(whole)
            yield (
                row["id"],
                Example(
                    source=file.stem,
                    group=row["id"],
                    lang=row["lang"],
                    turns=tuple(other for _, other in said[max(0, place - _FAR) : place + 1]),
                    crisis=None if level is None else level.crisis,
                    level=level,
                    by_itself=None if alone == "?" else Level(alone),
                    distress=int(distress) if str(number) in labels else None,
                ),
            )
