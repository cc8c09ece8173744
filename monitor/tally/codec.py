"""Tallies and cells as JSON. ``v`` is the format; a release reads its own and the next one, and passes over what it does not know."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any, Final

import orjson

from monitor.tally.cell import Cell, Marks, Style, Tally, Where

VERSION: Final = 1
_STYLE: Final = (
    *("state", "level", "distress", "lang", "style", "memory", "cohort", "phrases", "earlier"),
    *("conversation", "mark"),
)

_parts = attrgetter(*_STYLE)


def tally_to_json(tally: Tally) -> str:
    whole = {
        "v": VERSION,
        "hour": int(tally.hour.timestamp()),
        "cells": [(*where, _plain(cell)) for where, cell in tally.cells.items() if cell],
        "styles": [(*where, _parts(style)) for where, style in tally.styles],
    }
    return orjson.dumps(whole, option=orjson.OPT_NON_STR_KEYS).decode()


def tally_of_json(text: str) -> Tally:
    """Raise ValueError for damage and for another format."""
    try:
        found = orjson.loads(text)
        if not 1 <= found["v"] <= VERSION + 1:
            raise ValueError("a tally is of a release more than one ahead; upgrade this worker")
        return Tally(
            datetime.fromtimestamp(found["hour"], UTC),
            {Where(*where): _cell(cell) for *where, cell in found["cells"]},
            [(Where(*where), _style(style)) for *where, style in found["styles"]],
        )
    except (KeyError, TypeError, AttributeError) as damage:
        raise ValueError("a tally is damaged") from damage


def cell_to_json(cell: Cell) -> str:
    return orjson.dumps({"v": VERSION, **_plain(cell)}, option=orjson.OPT_NON_STR_KEYS).decode()


def cell_of_json(text: str) -> Cell:
    """Raise ValueError for damage."""
    try:
        return _cell(orjson.loads(text))
    except (KeyError, TypeError, AttributeError) as damage:
        raise ValueError("figures of an hour are damaged") from damage


def _plain(cell: Cell) -> dict[str, Any]:
    return {
        "counts": cell.counts,
        "marks": {key: (one.count, one.total, one.squares) for key, one in cell.marks.items()},
        "latency": cell.latency,
    }


def _cell(found: dict[str, Any]) -> Cell:
    return Cell(
        Counter(found["counts"]),
        {key: Marks(*one) for key, one in found["marks"].items()},
        {int(bucket): count for bucket, count in found["latency"].items()},
    )


def _style(found: list[Any]) -> Style:
    named = dict(zip(_STYLE, found, strict=True))
    return Style(**{**named, "phrases": tuple(named["phrases"])})
