"""Who is to be forgotten, by raw ids that go no further; and whether a record that could not be read names one. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from monitor.errors import JiezhuError

SHORT = 6  # signs: a shorter id counts only as a whole value, or it would be found in anything


def read_ids(lines: Iterable[str]) -> list[str]:
    """One id a line, or one JSON string a line for those with line breaks; empty lines say nothing."""
    found: dict[str, None] = {}
    for line in lines:
        plain = line.rstrip("\r\n")
        if not plain.strip():
            continue
        found[_read(plain)] = None
    return list(found)


def lines_of(content: bytes) -> list[str]:
    """Raises JiezhuError for another encoding: whom it names nobody can tell, and nobody would be forgotten.

    Only a line feed ends a line; what else Unicode ends lines with may stand in an id.
    """
    try:
        return content.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError:
        raise JiezhuError("the ids are not UTF-8, and nobody was erased: save them anew") from None


def naming(ids: Iterable[str]) -> Callable[[bytes], bool]:
    """Return what tells whether a payload names one of ``ids``, whatever is wrong with it otherwise.

    One too many is no harm: nobody could read it.
    """
    wanted = frozenset(ids)
    forms = [form for name in wanted for form in _forms(name)]

    def names(payload: bytes) -> bool:
        try:
            return _holds(json.loads(payload), wanted) or any(form in payload for form in forms)
        except (ValueError, RecursionError):
            return any(form in payload for form in forms)

    return names


def _read(line: str) -> str:
    if line.startswith('"'):
        try:
            value = json.loads(line)
        except ValueError:
            return line
        return value if isinstance(value, str) else line
    return line


def _holds(value: Any, wanted: frozenset[str]) -> bool:
    if isinstance(value, dict):
        return any(_holds(part, wanted) for pair in value.items() for part in pair)
    if isinstance(value, list):
        return any(_holds(part, wanted) for part in value)
    return not isinstance(value, bool) and value is not None and str(value) in wanted


def _forms(name: str) -> set[bytes]:
    """As a broken record may hold it: plain, escaped, or in another encoding."""
    written = name if len(name) >= SHORT else f'"{name}"'
    escaped = json.dumps(name) if len(name) < SHORT else json.dumps(name)[1:-1]
    return {
        written.encode("utf-8", "surrogatepass"),
        escaped.encode(),
        written.encode("utf-16-le", "surrogatepass"),
        written.encode("utf-16-be", "surrogatepass"),
    }
