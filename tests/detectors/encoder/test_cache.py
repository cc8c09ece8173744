from __future__ import annotations

import multiprocessing
from multiprocessing.synchronize import Event
from pathlib import Path

import pytest

from detectors.encoder.cache import MANIFEST, Cache, locate_cache
from detectors.encoder.errors import CacheError

SPAWN = multiprocessing.get_context("spawn")


class Builder:
    """Writes one file and counts how often it was asked."""

    def __init__(self, content: str = "whole") -> None:
        self.content = content
        self.built = 0

    def __call__(self, target: Path) -> None:
        self.built += 1
        (target / "part").mkdir()
        (target / "part" / "file").write_text(self.content)


def test_what_is_there_is_not_built_again(empty_cache: Cache) -> None:
    builder = Builder()
    first = empty_cache.obtain("thing", builder)
    assert empty_cache.obtain("thing", builder) == first == empty_cache.root / "thing"
    assert builder.built == 1
    assert (first / "part" / "file").read_text() == "whole"


def half_without_manifest(place: Path) -> None:
    (place / MANIFEST).unlink()


def half_with_short_file(place: Path) -> None:
    (place / "part" / "file").write_text("who")


def half_with_missing_file(place: Path) -> None:
    (place / "part" / "file").unlink()


def half_with_broken_manifest(place: Path) -> None:
    (place / MANIFEST).write_text('["files"')


def half_with_odd_manifest(place: Path) -> None:
    (place / MANIFEST).write_text('{"files": [1]}')


@pytest.mark.parametrize(
    "spoil",
    [
        half_without_manifest,
        half_with_short_file,
        half_with_missing_file,
        half_with_broken_manifest,
        half_with_odd_manifest,
    ],
)
def test_half_an_artefact_is_never_used(empty_cache: Cache, spoil) -> None:
    place = empty_cache.obtain("thing", Builder())
    spoil(place)
    assert empty_cache.find("thing") is None
    again = Builder()
    assert (empty_cache.obtain("thing", again) / "part" / "file").read_text() == "whole"
    assert again.built == 1


def test_a_build_that_fails_leaves_nothing(empty_cache: Cache) -> None:
    def fail(target: Path) -> None:
        Builder("half")(target)
        raise RuntimeError("torn")

    with pytest.raises(RuntimeError, match="torn"):
        empty_cache.obtain("thing", fail)
    assert empty_cache.find("thing") is None
    assert [path.name for path in empty_cache.root.iterdir() if path.is_dir()] == []


def test_what_a_killed_builder_left_is_cleared_away(empty_cache: Cache) -> None:
    leftover = empty_cache.root / ".thing.building-dead"
    leftover.mkdir(parents=True)
    (leftover / "file").write_text("half")
    empty_cache.obtain("thing", Builder())
    assert not leftover.exists()


def test_a_cache_that_holds_the_artefact_needs_no_lock(empty_cache: Cache) -> None:
    place = empty_cache.obtain("thing", Builder())
    (empty_cache.root / ".thing.lock").unlink(missing_ok=True)
    assert empty_cache.obtain("thing", Builder()) == place
    assert not (empty_cache.root / ".thing.lock").exists()


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a directory")
    with pytest.raises(CacheError, match=r"cannot be used \(.*\): free about"):
        Cache(tmp_path / "file" / "cache").obtain("thing", Builder())


def test_a_full_disk_is_a_cache_error(empty_cache: Cache) -> None:
    def fill(_: Path) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(CacheError, match="No space left on device"):
        empty_cache.obtain("thing", fill)


def obtain_in_process(root: Path, start: Event, somebody_waits: Event, log: Path) -> None:
    def build(target: Path) -> None:
        # ends only once the other process stands at the lock
        if somebody_waits.wait(60):
            Builder()(target)
        with log.open("a") as file:
            file.write("built\n")

    start.wait(60)
    Cache(root).obtain("thing", build, on_wait=somebody_waits.set)


def test_two_processes_at_once_build_once(tmp_path: Path) -> None:
    start, somebody_waits, log = SPAWN.Event(), SPAWN.Event(), tmp_path / "log"
    arguments = (tmp_path / "cache", start, somebody_waits, log)
    processes = [SPAWN.Process(target=obtain_in_process, args=arguments) for _ in range(2)]
    for process in processes:
        process.start()
    start.set()
    for process in processes:
        process.join(120)
    assert [process.exitcode for process in processes] == [0, 0]
    assert log.read_text() == "built\n"
    assert Cache(tmp_path / "cache").find("thing")


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"XDG_CACHE_HOME": "/var/cache"}, Path("/var/cache/jiezhu")),
        ({"XDG_CACHE_HOME": "relative"}, Path.home() / ".cache" / "jiezhu"),
        ({}, Path.home() / ".cache" / "jiezhu"),
    ],
)
def test_default_directory(environment: dict[str, str], expected: Path) -> None:
    assert locate_cache(environment) == expected
