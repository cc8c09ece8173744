"""Records from a file of JSON lines, or from standard input: for replays, without a broker."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import IO

from monitor.errors import ConfigurationError
from monitor.sources.record import Record

STANDARD_INPUT = "-"
FILE_TOPIC = "file"  # a fixed name: the file's own may say whose it is
LONGEST_LINE = 16 * 1024 * 1024  # read so far at least, so that the decoder can say "too large"


def read_records(path: str, batch_max_records: int = 64) -> Iterator[tuple[Record, ...]]:
    """Batches of records; the offset is the line's number less one. Empty lines are passed over, and count.

    Memory stays bounded whatever the file holds: what goes beyond LONGEST_LINE in one line is dropped,
    and the rest is a dead letter by its size. Raises ConfigurationError if the file cannot be read.
    """
    batch: list[Record] = []
    with _open(path) as lines:
        for offset, line in enumerate(_split(lines)):
            if value := line.strip():
                batch.append(Record(partition=(FILE_TOPIC, 0), offset=offset, key=None, value=value))
            if len(batch) == batch_max_records:
                yield tuple(batch)
                batch = []
    if batch:
        yield tuple(batch)


def _open(path: str) -> nullcontext[IO[bytes]] | IO[bytes]:
    if path == STANDARD_INPUT:
        return nullcontext(sys.stdin.buffer)
    try:
        return Path(path).open("rb")
    except OSError as failure:
        raise ConfigurationError(
            "FILE", f"cannot be read ({failure.strerror}); name a file of JSON lines"
        ) from None


def _split(lines: IO[bytes]) -> Iterator[bytes]:
    while line := lines.readline(LONGEST_LINE):
        part = line
        while len(part) == LONGEST_LINE and not part.endswith(b"\n"):
            part = lines.readline(LONGEST_LINE)
        yield line
