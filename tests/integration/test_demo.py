"""``jiezhu demo --json`` from end to end, as a script would run it."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import orjson
import pytest

from monitor.demo.script import SCENES

pytestmark = [pytest.mark.model, pytest.mark.xdist_group("workers")]

FIRST_PAGE = 60.0  # seconds from the start, models prepared
WHOLE = 180.0


async def test_ends_by_itself_with_every_scene_as_expected(warm_cache: Path) -> None:
    loop = asyncio.get_running_loop()
    begun, first = loop.time(), None
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "monitor", "demo", "--json",
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "JIEZHU_ENCODER__CACHE_DIR": str(warm_cache)},
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    complaints = asyncio.create_task(process.stderr.read())
    rows = []
    try:
        async with asyncio.timeout(WHOLE):
            async for line in process.stdout:
                rows.append(orjson.loads(line))
                if rows[-1]["type"] == "page" and first is None:
                    first = loop.time() - begun
            status = await process.wait()
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()
    observed = {row["scene"]: row for row in rows if row["type"] == "scene"}
    differing = [row for row in observed.values() if not row["as_expected"]]
    assert differing == []
    assert status == 0, (await complaints).decode(errors="replace")
    assert set(observed) == {scene.name for scene in SCENES}
    assert [row for row in rows if row["type"] == "summary"] == [
        {"type": "summary", "scenes": len(SCENES), "as_expected": True}
    ]
    paged = [row["dedup_key"] for row in rows if row["type"] == "page"]
    assert len(paged) == len(set(paged)) == sum(scene.pages + scene.tickets for scene in SCENES)
    assert first is not None
    assert first < FIRST_PAGE
