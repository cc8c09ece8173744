"""Artefacts that are dear to make: built once, beside their place, moved in whole, or not there at all."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from detectors.encoder.errors import CacheError

MANIFEST = "manifest.json"


def locate_cache(environment: dict[str, str] | None = None) -> Path:
    """Return the default directory: ``$XDG_CACHE_HOME/jiezhu``, else ``~/.cache/jiezhu``."""
    environment = dict(os.environ) if environment is None else environment
    base = environment.get("XDG_CACHE_HOME", "")
    # the XDG specification says that a relative path is to be ignored
    return (Path(base) if Path(base).is_absolute() else Path.home() / ".cache") / "jiezhu"


@dataclass(frozen=True, slots=True)
class Cache:
    """A directory of named artefacts, each a directory with a manifest of its files' sizes."""

    root: Path

    def find(self, name: str) -> Path | None:
        """Return the artefact's directory, or None when it is missing or not whole."""
        place = self.root / name
        try:
            sizes = json.loads((place / MANIFEST).read_bytes())["files"]
            whole = all((place / file).stat().st_size == size for file, size in sizes.items())
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        return place if whole else None

    def obtain(
        self, name: str, build: Callable[[Path], None], *, on_wait: Callable[[], None] = lambda: None
    ) -> Path:
        """Return the artefact's directory, building it if needed.

        ``build`` fills an empty directory. One process builds while the others wait for it; ``on_wait`` is called
        once if there is one to wait for. A cache that holds the artefact may be read-only.
        Raises ``CacheError`` when the directory cannot be written, and whatever ``build`` raises.
        """
        if place := self.find(name):
            return place
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self.root / f".{name}.lock")
            try:
                lock.acquire(timeout=0)
            except Timeout:
                on_wait()
                lock.acquire()
        except (OSError, NotImplementedError) as error:
            raise self._refused(error) from error
        with lock:
            try:
                return self.find(name) or self._build(name, build)
            finally:
                lock.release()

    def _build(self, name: str, build: Callable[[Path], None]) -> Path:
        place = self.root / name
        try:
            # whoever left these is dead: the lock is ours
            for leftover in [place, *self.root.glob(f".{name}.building-*")]:
                if leftover.exists():
                    shutil.rmtree(leftover)
            workbench = Path(tempfile.mkdtemp(prefix=f".{name}.building-", dir=self.root))
        except OSError as error:
            raise self._refused(error) from error
        try:
            build(workbench)
            _seal(workbench)
            workbench.replace(place)
            _flush(self.root)
        except OSError as error:
            raise self._refused(error) from error
        finally:
            shutil.rmtree(workbench, ignore_errors=True)
        return place

    def _refused(self, error: OSError | NotImplementedError) -> CacheError:
        reason = getattr(error, "strerror", None) or type(error).__name__
        return CacheError(
            f"the cache directory {self.root} cannot be used ({reason}): "
            "free about 1.5 GB there or name another one that can be written"
        )


def _seal(directory: Path) -> None:
    """Write the manifest last and everything to the disk, so that a power cut cannot leave a plausible half."""
    files = sorted(path for path in directory.rglob("*") if path.is_file())
    sizes = {path.relative_to(directory).as_posix(): path.stat().st_size for path in files}
    manifest = directory / MANIFEST
    manifest.write_text(json.dumps({"files": sizes}, indent=1), encoding="utf-8")
    for path in [*files, manifest, directory]:
        # some writers make files for their owner alone; a cache may serve several users
        path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0o444))
        _flush(path)


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
