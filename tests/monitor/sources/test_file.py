from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from monitor.errors import ConfigurationError
from monitor.sources.file import FILE_TOPIC, LONGEST_LINE, read_records


def write(directory: Path, content: bytes) -> str:
    path = directory / "events.jsonl"
    path.write_bytes(content)
    return str(path)


def test_positions_are_line_numbers(tmp_path: Path) -> None:
    path = write(tmp_path, b'{"a": 1}\n\n  \r\n{"b": 2}\r\n\xff\nlast')
    records = [record for batch in read_records(path, 2) for record in batch]
    assert [(record.offset, record.value) for record in records] == [
        (0, b'{"a": 1}'), (3, b'{"b": 2}'), (4, b"\xff"), (5, b"last")
    ]  # fmt: skip
    assert {record.partition for record in records} == {(FILE_TOPIC, 0)}
    assert [len(batch) for batch in read_records(path, 3)] == [3, 1]


def test_an_empty_file_has_no_batch(tmp_path: Path) -> None:
    assert list(read_records(write(tmp_path, b""))) == []


def test_a_line_without_end_is_cut_and_its_neighbours_stay(tmp_path: Path) -> None:
    path = write(tmp_path, b"1\n" + b"x" * (LONGEST_LINE * 2 + 5) + b"\n3")
    records = [record for batch in read_records(path) for record in batch]
    assert [record.offset for record in records] == [0, 1, 2]
    assert [len(record.value or b"") for record in records] == [1, LONGEST_LINE, 1]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read"):
        list(read_records(str(tmp_path / "none")))


def test_standard_input() -> None:
    program = "from monitor.sources.file import read_records; print([r.value for b in read_records('-') for r in b])"
    answer = subprocess.run(
        [sys.executable, "-c", program], input=b"1\n2\n", capture_output=True, check=True, timeout=60
    )
    assert answer.stdout.strip() == b"[b'1', b'2']"
