"""Logs: one JSON object a line (or readable lines for a console), ids as pseudonyms, never a word of a user's.

An exception is logged by its type and place. Its text is left out: libraries put values into messages (R65).
"""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import MutableMapping
from typing import Any, Literal, TextIO

import structlog

_NOISY = ("aiokafka", "faststream", "sqlalchemy", "alembic", "httpx2", "httpcore2", "uvicorn", "asyncio")
_EXC = "exc_info"


def configure(level: str, style: Literal["json", "console"], stream: TextIO = sys.stderr) -> None:
    """Send structlog and the standard library's loggers to ``stream``."""
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _place_of_exception,
    ]
    renderer: structlog.typing.Processor = (
        structlog.processors.JSONRenderer(ensure_ascii=False)
        if style == "json"
        else structlog.dev.ConsoleRenderer(colors=stream.isatty())
    )
    structlog.configure(
        processors=[*shared, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelName(level.upper())),
        logger_factory=structlog.WriteLoggerFactory(file=stream),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[_foreign, *shared],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
            use_get_message=False,
            pass_foreign_args=True,  # the formatter takes them from the record
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    for name in _NOISY:
        logging.getLogger(name).setLevel(logging.WARNING)


def _place_of_exception(
    _logger: Any, _method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    info = event.pop(_EXC, None)
    if info is True:
        info = sys.exc_info()
    error = info[1] if isinstance(info, tuple) else info
    if isinstance(error, BaseException):
        event["error"] = type(error).__name__
        frames = traceback.extract_tb(error.__traceback__)
        event["at"] = [f"{_module(f.filename)}:{f.lineno}" for f in frames[-3:]]
    return event


def _module(path: str) -> str:
    return "/".join(path.rsplit("/", 2)[-2:])


def _foreign(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """A library's message may hold a payload: keep who spoke and from where, not what was said."""
    record: logging.LogRecord | None = event.get("_record")
    arguments = event.pop("positional_args", None)
    if record is not None:
        template = isinstance(record.msg, str) and bool(arguments)
        event["event"] = record.msg if template else f"message from {record.funcName}"
        event["logger"] = record.name
    return event
