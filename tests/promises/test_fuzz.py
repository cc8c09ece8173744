"""Row 24: whatever comes from Kafka or over HTTP, nothing crashes and nothing takes a second. Guided by coverage."""

from __future__ import annotations

import asyncio
import re
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.support.form import Form, Tell

pytestmark = [
    pytest.mark.promise,
    pytest.mark.xdist_group("fuzz"),
    pytest.mark.skipif(find_spec("atheris") is None, reason="no atheris for this system"),
]


@pytest.mark.parametrize("target", ["decoding", "http"])
async def test_nothing_breaks_and_nothing_hangs(target: str, tmp_path: Path, form: Form, tell: Tell) -> None:
    seconds = form.pick(12, 600)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.support.fuzz", target, str(seconds), str(tmp_path),
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    try:
        said = (await process.communicate())[0].decode(errors="replace")
    finally:
        if process.returncode is None:
            process.kill()
    cases = int(found[1]) if (found := re.search(r"number_of_executed_units: (\d+)", said)) else 0
    reached = re.findall(r"cov: (\d+)", said)
    tell(
        24,
        f"fuzz of {target}",
        f"{seconds} s, {cases} cases, {(reached or ['no'])[-1]} places in the code reached",
    )
    assert process.returncode == 0, said[-3000:]
    assert cases > form.pick(20, 1_000)
    assert int(reached[-1]) > 100  # or nothing was watched
