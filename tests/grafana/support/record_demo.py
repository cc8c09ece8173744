"""Play the demonstration and keep what its workers showed: ``python -m tests.grafana.support.record_demo``.

The demonstration is the one that ships, with the canary switched on besides. What comes of it stands in
``demo.json.xz`` beside this file and is played again by ``recording.py``.
"""

from __future__ import annotations

import asyncio
import json
import lzma
import sys
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path

import httpx2

from monitor.demo.demo import WATCHING, Demo
from monitor.demo.player import conversation_id
from monitor.demo.script import SCENES
from monitor.demo.show import Show
from monitor.demo.stage import Stage
from tests.grafana.support.recording import FILE

EVERY_SECONDS = 1.0
AFTERWARDS_SECONDS = 25.0  # for the canaries that are still under way


class CanaryStage(Stage):
    def _environment(self, port: int) -> dict[str, str]:
        canary = {"ENABLED": "true", "EVERY_SECONDS": "10", "WITHIN_SECONDS": "20"}
        return {
            **super()._environment(port),
            **{f"JIEZHU_CANARY__{name}": value for name, value in canary.items()},
        }

    def start_workers(self, stack, count):
        self.workers = super().start_workers(stack, count)
        return self.workers


async def record() -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with AsyncExitStack() as stack:
            demo = Demo(Show(json=False), Path(folder))
            demo.stage = CanaryStage(Path(folder), demo.clock, demo._heard, WATCHING)
            demo.scene_of = {demo.stage.pseudonym(conversation_id(scene)): scene for scene in SCENES}
            played = asyncio.create_task(demo.run(stack, keep=False))
            frames = await _frames(demo, played)
            print(f"the demonstration ended with {await played}")
    lasted = [worker for worker in frames if worker]
    with lzma.open(FILE, "wt", encoding="utf-8", preset=9) as out:
        json.dump({"every_seconds": EVERY_SECONDS, "workers": lasted}, out)
    print(f"{[len(worker) for worker in lasted]} frames in {FILE.stat().st_size} bytes")


async def _frames(demo: Demo, played: asyncio.Task[int]) -> list[list[str]]:
    frames: list[list[str]] = [[], []]
    async with httpx2.AsyncClient(timeout=5) as client:
        end = None
        while end is None or asyncio.get_running_loop().time() < end:
            if played.done() and end is None:
                end = asyncio.get_running_loop().time() + AFTERWARDS_SECONDS
            await asyncio.sleep(EVERY_SECONDS)
            if demo.player is None or not hasattr(demo.stage, "workers"):
                continue
            for kept, worker in zip(frames, demo.stage.workers, strict=True):
                kept.append((await client.get(f"{worker.url}/metrics")).text)
    return frames


if __name__ == "__main__":
    sys.exit(asyncio.run(record()))
