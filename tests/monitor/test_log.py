"""One JSON object a line; exceptions by type and place; what libraries say by its template."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from typing import Any

import orjson
import pytest
import structlog

from monitor import log


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    stream = io.StringIO()
    log.configure("info", "json", stream)
    yield stream
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in stream.getvalue().splitlines()]


def test_an_event_with_its_facts(stream):
    structlog.get_logger("x").info("ready", http_port=80)
    (line,) = lines(stream)
    assert (line["event"], line["http_port"], line["level"]) == ("ready", 80, "info")
    assert line["timestamp"].endswith("Z")


def test_below_the_level_nothing_is_said(stream):
    structlog.get_logger("x").debug("ready")
    assert lines(stream) == []


def test_an_exception_by_type_and_place(stream):
    try:
        int("not a number")
    except ValueError as error:
        structlog.get_logger("x").error("failed", exc_info=error)
    (line,) = lines(stream)
    assert line["error"] == "ValueError"
    assert line["at"][-1].startswith("monitor/test_log.py:")
    assert "not a number" not in stream.getvalue()


def test_a_library_s_message_by_its_template(stream):
    logging.getLogger("aiokafka").warning("record %r failed", "secret")
    (line,) = lines(stream)
    assert (line["event"], line["logger"]) == ("record %r failed", "aiokafka")
    assert "secret" not in stream.getvalue()


def test_a_library_s_message_that_was_put_together_by_its_place(stream):
    logging.getLogger("aiokafka").warning("record secret failed")
    (line,) = lines(stream)
    assert "secret" not in stream.getvalue()
    assert "put_together_by_its_place" in line["event"]


def test_a_library_s_exception_by_type(stream):
    try:
        int("secret")
    except ValueError:
        logging.getLogger("aiokafka").exception("failed for %s", "secret")
    (line,) = lines(stream)
    assert line["error"] == "ValueError"
    assert "secret" not in stream.getvalue()


def test_every_event_is_one_line(stream):
    structlog.get_logger("x").warning("odd", fact="two\nlines")
    assert len(stream.getvalue().splitlines()) == 1
