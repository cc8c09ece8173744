"""Time by two clocks, added up over many stretches."""

from __future__ import annotations

import time
from dataclasses import dataclass


@dataclass
class Spent:
    """Seconds by the clock on the wall and by that of the processor."""

    wall: float = 0.0
    cpu: float = 0.0

    def __enter__(self):
        self.wall -= time.perf_counter()
        self.cpu -= time.process_time()

    def __exit__(self, *_):
        self.wall += time.perf_counter()
        self.cpu += time.process_time()
