"""A disk that can be full: a small tmpfs where this account may mount one, else a largest size of files.

with small_disk(tmp_path) as disk:
    ... disk.path is where to put the database
    disk.fill(); disk.free()
"""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

MEBIBYTE = 1 << 20


class SmallDisk(Protocol):
    kind: str  # for the table
    path: Path

    def fill(self, pid: int = 0) -> None:
        """Nothing more can be written by the process; 0 is this one."""
        ...

    def free(self, pid: int = 0) -> None:
        """There is room again."""
        ...


class Tmpfs:
    kind = "a tmpfs of 8 MiB"

    def __init__(self, path: Path) -> None:
        self.path = path
        self._ballast = path / "ballast"

    def fill(self, pid: int = 0) -> None:
        del pid  # full is full for everybody
        with self._ballast.open("ab", buffering=0) as ballast:
            for size in (65_536, 4_096, 1):
                with suppress(OSError):  # full
                    while True:
                        ballast.write(b"\0" * size)

    def free(self, pid: int = 0) -> None:
        del pid
        self._ballast.unlink(missing_ok=True)


class LargestSize:
    """No file grows beyond the largest that is there; what already is in a file can be written over."""

    kind = "files that may not grow"

    def __init__(self, path: Path) -> None:
        self.path = path

    def fill(self, pid: int = 0) -> None:
        size = max(file.stat().st_size for file in self.path.iterdir())
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    def free(self, pid: int = 0) -> None:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


@contextmanager
def small_disk(folder: Path, size: int = 8 * MEBIBYTE) -> Iterator[SmallDisk]:
    path = folder / "disk"
    path.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=0700", "tmpfs", str(path)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        yield LargestSize(path)
        return
    try:
        yield Tmpfs(path)
    finally:
        # Lazily: a thread of a store that was left behind may still have its file open.
        subprocess.run(["umount", "--lazy", str(path)], check=True)
