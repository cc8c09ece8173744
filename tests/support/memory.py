"""What a process holds, as the kernel says; and whether that grows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from statistics import median

MIB = 1 << 20
GIB = 1 << 30


def resident(pid: int) -> int:
    """Bytes in memory now."""
    return _field(pid, "VmRSS")


def peak(pid: int) -> int:
    """Most bytes that were ever in memory."""
    return _field(pid, "VmHWM")


def slope(points: Sequence[tuple[float, float]]) -> float:
    """Theil and Sen's: the median of all pairs' slopes. A burst that comes and goes moves it little."""
    return median((y2 - y1) / (x2 - x1) for (x1, y1), (x2, y2) in combinations(points, 2) if x2 != x1)


def _field(pid: int, name: str) -> int:
    for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise AssertionError(f"the process shows no {name}: it has ended")
