"""What a script sees of the commands: exit status, and nothing but results on standard output."""

from __future__ import annotations

import asyncio
import os
import sys

import pytest
from typer.testing import CliRunner

from monitor.cli import app
from monitor.output import emit
from monitor.progress_bar import progress_bar


async def _run(program: str, stdout: int) -> tuple[int | None, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, stdout=stdout, stderr=asyncio.subprocess.PIPE
    )
    _, told = await asyncio.wait_for(process.communicate(), 30)
    return process.returncode, told.decode()


# The handler stands for a replay's pipeline, which goes on after an exception of its observer.
EMITTING = """
from monitor.output import emit
try:
    emit({"turn": 1})
except Exception:
    print("swallowed", file=__import__("sys").stderr)
"""


async def test_a_reader_that_has_gone_ends_the_command_without_a_word():
    reading, writing = os.pipe()
    os.close(reading)
    try:
        assert await _run(EMITTING, writing) == (1, "")
    finally:
        os.close(writing)


async def test_a_full_disk_is_told_and_ends_the_command():
    full = os.open("/dev/full", os.O_WRONLY)
    try:
        status, told = await _run(EMITTING, full)
    finally:
        os.close(full)
    assert status == 1
    assert told.startswith("jiezhu: the result cannot be written (No space left on device)")
    assert told.count("\n") == 1


async def test_a_cancelled_command_has_the_status_of_a_terminated_one():
    program = """
import asyncio
from monitor import cli

@cli.app.command("cancelled")
def cancelled():
    raise asyncio.CancelledError

import sys
sys.argv = ["jiezhu", "cancelled"]
cli.main()
"""
    assert await _run(program, asyncio.subprocess.DEVNULL) == (143, "")


def test_no_bar_and_no_empty_line_where_nobody_looks(capsys):
    with progress_bar() as progress:
        pass
    assert capsys.readouterr().err == ""
    with progress_bar() as progress:
        progress("export", 0, 0)
    assert capsys.readouterr().err == "preparing the encoder (once): exporting to ONNX\n"


def test_a_row_is_one_line(capfdbinary):
    emit({"turn": 1})
    assert capfdbinary.readouterr().out == b'{"turn":1}\n'


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (["score", "--lang", "fr"], "--lang: is not known; use zh or en"),
        (["erase", "--kind", "user", "--by", "li", "/nowhere/at/all"], "FILE: cannot be read"),
    ],
)
async def test_what_is_asked_wrongly_has_its_own_status(asked, says):
    program = f"import sys; from monitor import cli; sys.argv = {['jiezhu', *asked]!r}; cli.main()"
    status, told = await _run(program, asyncio.subprocess.DEVNULL)
    assert (status, told.count("\n")) == (2, 1)
    assert told.startswith(f"jiezhu: {says}")


@pytest.mark.parametrize("deed", [["incidents", "ack", "key"], ["erase", "--kind", "user"]])
def test_nothing_is_done_by_nobody(deed):
    said = CliRunner().invoke(app, [*deed, "--by", " "], env={"COLUMNS": "200"})
    assert said.exit_code == 2
    assert "say who does it" in said.stderr
