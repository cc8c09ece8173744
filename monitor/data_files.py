"""Whether labelled files can be learnt from or measured on, said before anything slow is imported."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from monitor.errors import JiezhuError


def check_files(files: Sequence[Path]) -> None:
    """Raises ``JiezhuError`` naming the first file that is not there, or the first line that nobody could learn from."""
    for file in files:
        if not file.is_file():
            raise JiezhuError(f"the data file {file.name} is not there: give JSONL files with --data")
        for number, line in enumerate(file.read_bytes().splitlines(), start=1):
            if not _is_labelled(line):
                raise JiezhuError(
                    f"line {number} of the data file {file.name} is no JSON object with id, lang, and text or turns"
                )


def _is_labelled(line: bytes) -> bool:
    try:
        row = json.loads(line)
    except ValueError:
        return False
    return isinstance(row, dict) and {"id", "lang"} <= set(row) and ("text" in row or "turns" in row)
