"""Standard output and the last word of a command: rows that a script reads, and one line where it went wrong."""

from __future__ import annotations

import os
import re
import sys
from typing import Any

import orjson

_CONTROLS = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def emit(row: dict[str, Any]) -> None:
    """Print a row, or leave: the pipeline of a replay lives on after any other exception, and tells only a part."""
    try:
        sys.stdout.buffer.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        leave_unread()
    except OSError as error:
        _drop_output()
        fail(f"the result cannot be written ({error.strerror}); what was written is a part of it", 1)


def shown(text: str) -> str:
    """What somebody else wrote, as a terminal may show it: a sign that would steer the terminal, or turn the writing round, is replaced."""
    return _CONTROLS.sub("\ufffd", text.replace("\r\n", "\n"))


def leave_unread() -> None:
    """The reader of our output has gone: nothing to say to nobody."""
    _drop_output()
    sys.exit(1)


def _drop_output() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def fail(message: str, status: int) -> None:
    print(f"jiezhu: {message}", file=sys.stderr)  # noqa: T201 - the one line
    sys.exit(status)
