"""What is stored as JSON: written by orjson, read and checked against the dataclasses by pydantic.

``v`` is the format. A release reads its own and the next one: fields it does not know are passed over, and
words it does not know (a new level, flag, state) are read as the most careful word that it does know.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from enum import StrEnum
from typing import Any, Generic, TypeVar

import orjson
from pydantic import TypeAdapter, ValidationError

from alerts import delivery, group, incident, page
from alerts.case import Case
from detectors.finding import EmotionNamed, Level, Outcome
from detectors.notes import Cohort, Voice
from detectors.turn import Role, Track
from monitor.errors import RowDamaged, StoreError

VERSION = 1

T = TypeVar("T")


class Codec(Generic[T]):
    """One dataclass, to text and back. ``careful`` gives, by field, the word read in place of an unknown one."""

    def __init__(self, shape: type[T], careful: Mapping[str, StrEnum]) -> None:
        self._name = shape.__name__.lower()
        self._adapter = TypeAdapter(shape)
        self.careful = careful
        self._head = f'{{"v":{VERSION},"body":'

    def encode(self, value: T) -> str:
        return f"{self._head}{dumps(value)}}}"

    def decode(self, text: str) -> T:
        """Raise RowDamaged, or StoreError if the text was written by a release more than one ahead."""
        if text.startswith(self._head):
            try:
                return self._adapter.validate_json(text[len(self._head) : -1])
            except ValidationError:
                pass  # a word of a later release, or damage: the careful way tells which
        return self._decode_carefully(text)

    def _decode_carefully(self, text: str) -> T:
        envelope = loads(text)
        version = envelope.get("v") if isinstance(envelope, dict) else None
        if not isinstance(version, int):
            raise RowDamaged(f"a stored {self._name} is damaged; restore the database from its backup")
        if version > VERSION + 1:
            raise StoreError(
                f"a stored {self._name} is of a release more than one ahead; upgrade this worker"
            )
        body = envelope.get("body")
        try:
            return self._adapter.validate_python(body)
        except ValidationError as error:
            flaws = error.errors(include_url=False)
        with suppress(LookupError, TypeError):  # what a flaw names may not be there
            _mend(body, flaws, self.careful)
        try:
            return self._adapter.validate_python(body)
        except ValidationError as error:
            # Not chained: pydantic's message shows the values.
            count = error.error_count()
        raise RowDamaged(f"a stored {self._name} cannot be read ({count} flaws); upgrade this worker")


def dumps(value: Any) -> str:
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # a lone surrogate or an integer beyond 64 bits; json writes both
        return json.dumps(value, default=_plain)


def loads(text: str) -> Any:
    """Return None if it is no JSON."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        try:
            return json.loads(text)
        except ValueError:
            return None


def facts(text: str | None) -> dict[str, Any]:
    """What stands beside a row's columns; nothing, if it is damaged: the columns still tell."""
    found = loads(text or "")
    return found if isinstance(found, dict) else {}


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value)


def _mend(body: Any, flaws: list[Any], careful: Mapping[str, StrEnum]) -> None:
    """Put careful words in the place of unknown ones; in a list, leave the unknown out."""
    placed = [flaw for flaw in flaws if flaw["loc"]]
    for flaw in sorted(placed, key=lambda flaw: [str(step).zfill(6) for step in flaw["loc"]], reverse=True):
        *path, last = flaw["loc"]
        parent = body
        for step in path:
            parent = parent[step]
        if flaw["type"] == "float_type" and parent[last] is None:
            parent[last] = float("nan")  # JSON has no NaN
        elif flaw["type"] == "enum" and isinstance(parent, list):
            del parent[last]
        elif flaw["type"] == "enum" and last in careful:
            parent[last] = careful[last].value


CASES = Codec(
    Case,
    {
        "level": Level.UNSCORED,
        "outcome": Outcome.UNHANDLED,
        "emotion_named": EmotionNamed.NONE,
        "role": Role.SYSTEM,
        "track": Track.PRODUCTION,
        "state": incident.State.PAGING,
        "cohort": Cohort.OTHER,
        "voice": Voice.OTHER,
    },
)
INCIDENTS = Codec(
    incident.Incident,
    {"level": Level.UNSCORED, "outcome": Outcome.UNHANDLED, "state": incident.State.PAGING},
)
PAGES = Codec(page.Page, {"kind": page.Kind.PAGE, "trouble": page.Trouble.OTHER})
DELIVERIES = Codec(delivery.Delivery, {"state": delivery.State.RETRYING})
GROUPS = Codec(group.Group, {"kind": page.Kind.PAGE})


def delivery_of(text: str) -> delivery.Delivery | None:
    """None if it cannot be read: that is one row's fault, and none of the others'."""
    try:
        return DELIVERIES.decode(text)
    except StoreError:
        return None
