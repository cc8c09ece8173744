from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from monitor.decode import find_decoder
from monitor.decode.__main__ import SCHEMA, render_schema
from monitor.decode.event import DIALECT, published_schema
from monitor.errors import ConfigurationError


def test_the_committed_schema_is_the_one_that_is_checked() -> None:
    assert SCHEMA.read_text(encoding="utf-8") == render_schema(), "run: python -m monitor.decode"


def test_it_is_a_schema_of_its_dialect() -> None:
    schema = published_schema()
    assert schema["$schema"] == DIALECT
    jsonschema.Draft202012Validator.check_schema(schema)


def properties(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for part in (schema, *schema["$defs"].values()):
        yield from part.get("properties", {}).items()


def test_every_field_is_described() -> None:
    described = dict(properties(published_schema()))
    assert {"event_id", "cohort", "round", "knowledge_hit"} <= described.keys()
    assert [name for name, field in described.items() if len(field.get("description", "")) < 10] == []


def test_an_unknown_format_is_a_configuration_error() -> None:
    with pytest.raises(ConfigurationError, match="choose one of native"):
        find_decoder("xml", 1)
