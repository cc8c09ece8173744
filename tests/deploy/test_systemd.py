"""The units: hardened, restarted for ever, with time to end; secrets handed over as files."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from monitor.assembly import keys
from monitor.settings import load
from monitor.worker import STOP_WITHIN
from tests.deploy.manifests import DEPLOY, a_secret
from tests.support.prometheus import needs

SYSTEMD = DEPLOY / "systemd"
UNITS = sorted(SYSTEMD.glob("*.service"))
CREDENTIALS = "%d"

each_unit = pytest.mark.parametrize("path", UNITS, ids=lambda path: path.stem)


def entries(path: Path) -> list[tuple[str, str]]:
    """Keys may stand more than once, so no parser of ini files."""
    lines = path.read_text(encoding="utf-8").splitlines()
    pairs = [line.partition("=") for line in lines if line and line[0] not in "#["]
    assert all(sign for _, sign, _ in pairs), path.name
    return [(key, value) for key, _, value in pairs]


def values(path: Path, key: str) -> list[str]:
    return [value for name, value in entries(path) if name == key]


def value(path: Path, key: str) -> str:
    (found,) = values(path, key)
    return found


def environment(path: Path, secrets: Path) -> dict[str, str]:
    """What the program gets, with the credentials at another place. Fails if one is named that is not handed over."""
    handed = dict(credential.split(":") for credential in values(path, "LoadCredential"))
    given = dict(word.split("=", 1) for line in values(path, "Environment") for word in line.split())
    for name, file in given.items():
        if name.endswith("_FILE"):
            place, _, credential = file.rpartition("/")
            assert place == CREDENTIALS, name
            assert handed.pop(credential).startswith("/etc/jiezhu/secrets/"), name
            secret = secrets / credential
            secret.write_text(a_secret(name), encoding="utf-8")
            given[name] = str(secret)
    assert not handed, "handed over and used by nobody"
    return given


def example() -> dict[str, str]:
    lines = (SYSTEMD / "jiezhu.env.example").read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


WORKER = SYSTEMD / "jiezhu.service"
MIGRATION = SYSTEMD / "jiezhu-migrate.service"


def test_daemon_takes_its_settings(tmp_path: Path) -> None:
    assert value(WORKER, "ExecStart").endswith("/jiezhu run")
    assert value(WORKER, "EnvironmentFile") == "/etc/jiezhu/jiezhu.env"
    given = environment(WORKER, tmp_path)
    assert not set(given) & set(example()), "the file would win"
    settings = load(None, given | example())
    assert settings.database_url.startswith("postgresql:")
    assert keys(settings).links == bytes.fromhex("ab" * 32)
    assert settings.pagers.pagerduty is not None
    assert not [name for name in example() if name.endswith("_FILE")]


def test_migration_takes_its_settings_and_no_key(tmp_path: Path) -> None:
    assert value(MIGRATION, "ExecStart").endswith("/jiezhu migrate")
    assert value(MIGRATION, "Type") == "oneshot"
    assert load(None, environment(MIGRATION, tmp_path)).database_url.startswith("postgresql:")
    assert [path.name for path in tmp_path.iterdir()] == ["database_url"]


def test_worker_comes_back_whatever_happens_and_ends_in_good_order() -> None:
    assert value(WORKER, "Restart") == "always"
    assert value(WORKER, "StartLimitIntervalSec") == "0"
    assert int(value(WORKER, "TimeoutStopSec")) >= STOP_WITHIN + 10
    # It would be killed for a beat that it does not know how to give.
    assert not values(WORKER, "WatchdogSec")
    assert value(WORKER, "Type") != "notify"


@each_unit
def test_unit_can_do_no_more_than_it_must(path: Path) -> None:
    given = dict(entries(path))
    for key in (
        "DynamicUser",
        "NoNewPrivileges",
        "ProtectHome",
        "PrivateTmp",
        "PrivateDevices",
        "ProtectKernelTunables",
        "ProtectControlGroups",
        "RestrictSUIDSGID",
    ):
        assert given[key] == "yes", key
    assert given["ProtectSystem"] == "strict"
    assert given["CapabilityBoundingSet"] == ""
    assert given["StateDirectory"] in given["User"]
    assert f"JIEZHU_STATE_DIR=%S/{given['StateDirectory']}" in values(path, "Environment")


def anywhere(path: Path, folder: Path) -> Path:
    """The unit with a program that is installed on every machine."""
    unit = folder / path.name
    text = re.sub(
        r"^ExecStart=.*$", "ExecStart=/bin/true", path.read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    unit.write_text(text, encoding="utf-8")
    return unit


@needs("systemd-analyze")
@each_unit
def test_systemd_understands_all_of_it(path: Path, tmp_path: Path) -> None:
    told = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", anywhere(path, tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    # It only warns of keys that it does not know, and passes them over.
    about = [line for line in (told.stdout + told.stderr).splitlines() if path.name in line]
    assert (told.returncode, about) == (0, [])


@needs("systemd-analyze")
@each_unit
def test_systemd_finds_it_well_shut(path: Path, tmp_path: Path) -> None:
    """Exposure, 0 to 100; what is left over is mostly the network that it is there for."""
    told = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--threshold=20", anywhere(path, tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert told.returncode == 0, told.stdout[-300:] + told.stderr
