"""JSON lines in and out, for scripts. A bad line gets an answer of its own and never stops the others."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Any

import orjson

from detectors.turn import Role

_ROLES = [role.value for role in Role]  # a list: what stands for a role may be anything, a list among it


@dataclass(frozen=True, slots=True)
class Row:
    """One line. ``problem`` tells what is wrong with it and what to do; it repeats nothing of the line."""

    line: int
    id: Any = None
    turns: Sequence[Mapping[str, str]] = field(default=(), repr=False)
    level: str | None = None
    lang: str | None = None
    region: str | None = None
    problem: str | None = None


def read_rows(stream: IO[bytes], batch: int = 64) -> Iterator[list[Row]]:
    """Yield rows in batches: ``{"id","text"}`` or ``{"id","turns":[{"role","text"}…]}``, one object a line."""
    rows: list[Row] = []
    for number, line in enumerate(stream, 1):
        if number == 1:
            line = line.removeprefix(BOM_UTF8)  # noqa: PLW2901 - some editors write it; it is no part of the JSON
        if line.strip():
            rows.append(_row(number, line))
        if len(rows) == batch:
            yield rows
            rows = []
    if rows:
        yield rows


def _row(number: int, line: bytes) -> Row:
    try:
        content = orjson.loads(line)
    except orjson.JSONDecodeError:
        return Row(number, problem="is not JSON; give one object a line")
    if not isinstance(content, dict):
        return Row(number, problem='is not an object; give {"id", "text"} or {"id", "turns"}')
    name = content.get("id")
    if name is not None and not isinstance(name, str | int | float):
        return Row(number, problem="has an id that is neither a string nor a number; give it one")
    try:
        turns = _turns(content)
    except ValueError as error:
        return Row(number, name, problem=str(error))
    level, lang, region = (content.get(name) for name in ("level", "lang", "region"))
    if not all(value is None or isinstance(value, str) for value in (level, lang, region)):
        return Row(number, name, problem="has a level, lang or region that is no string; give strings")
    return Row(number, name, turns, level, lang, region)


def _turns(content: dict[str, Any]) -> list[dict[str, str]]:
    if isinstance(content.get("text"), str):
        return [{"role": Role.USER.value, "text": content["text"]}]
    turns = content.get("turns")
    if not isinstance(turns, list) or not turns:
        raise ValueError("has neither text nor turns; give one of them")
    for turn in turns:
        if not isinstance(turn, dict) or not isinstance(turn.get("text"), str):
            raise ValueError("has a turn without a text; give each a role and a text")  # noqa: TRY004 - of the line
        if turn.get("role") not in _ROLES:
            raise ValueError(f"has a turn with an unknown role; use {', '.join(Role)}")
    return turns


def problem(row: Row) -> dict[str, Any]:
    return {"id": row.id, "error": f"line {row.line} {row.problem}"}
