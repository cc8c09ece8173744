"""The page that operators follow: what it tells them to type works, and names what there is."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from typer.main import get_command

from monitor.assembly import keys
from monitor.cli import app
from monitor.settings import load
from tests.deploy.manifests import DEPLOY, KUBERNETES
from tests.support.prometheus import needs

README = (DEPLOY / "README.md").read_text(encoding="utf-8")
SECRET_FILES = {
    "JIEZHU_DATABASE__URL_FILE": "database_url",
    "JIEZHU_KEYS__PSEUDONYM_FILE": "key_pseudonym",
    "JIEZHU_KEYS__SEAL_FILE": "key_seal",
    "JIEZHU_KEYS__LINKS_FILE": "key_links",
}
PATH = re.compile(
    r"(?<![\w/.-])((?:kubernetes|systemd|opentelemetry|prometheus|alertmanager|runbooks|\.\./grafana)/[\w./-]*)"
)


def section(title: str) -> str:
    return README.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


@needs("openssl")
def test_secrets_that_are_made_as_told_are_taken(tmp_path: Path) -> None:
    (commands,) = re.findall(r"```sh\n(.*?)```", section("Secrets"), re.DOTALL)
    secrets = tmp_path / "deploy" / "secrets"
    secrets.mkdir(parents=True)
    subprocess.run(["sh", "-euc", commands], cwd=tmp_path, check=True, capture_output=True, timeout=30)
    settings = load(None, {setting: str(secrets / name) for setting, name in SECRET_FILES.items()})
    made = keys(settings)
    assert len(made.links) == 32
    assert made.keyring.newest == "first"
    password = (secrets / "postgres_password").read_text(encoding="utf-8").strip()
    assert settings.database_url == f"postgresql+psycopg://jiezhu:{password}@postgres:5432/jiezhu"


def test_every_file_that_is_named_is_there() -> None:
    named = {path.rstrip(".") for path in PATH.findall(README)}
    assert len(named) > 10
    assert not [path for path in sorted(named) if not (DEPLOY / path).exists()]


def test_every_command_of_ours_exists() -> None:
    known = set(getattr(get_command(app), "commands", {})) | {"incidents"}
    prose = re.sub(r"```.*?```", "", README, flags=re.DOTALL)
    told = set(re.findall(r"`jiezhu ([a-z-]+)", prose))
    told |= set(re.findall(r"(?:worker |-- |/bin/)jiezhu ([a-z-]+)", README))
    assert {"run", "migrate", "prepare", "incidents", "rotate-keys"} <= told
    assert told <= known


def test_links_lead_somewhere() -> None:
    titles = re.findall(r"^#+ (.+)$", README, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}
    for target in re.findall(r"\]\(([^)]+)\)", README):
        if target.startswith("#"):
            assert target[1:] in anchors, target
        else:
            assert (DEPLOY / target).exists(), target


@pytest.mark.parametrize("directory", ["foundation", "migrate", "."])
def test_what_is_applied_is_there_in_the_order_that_is_promised(directory: str) -> None:
    assert (KUBERNETES / directory / "kustomization.yaml").exists()
    steps = section("With Kubernetes")
    order = [
        steps.index(f"kubectl apply -k {name}\n")
        for name in ("kubernetes/foundation", "kubernetes/migrate", "kubernetes")
    ]
    assert order == sorted(order)
    assert order[0] < steps.index("create secret generic jiezhu-secrets") < order[1]


@pytest.mark.skipif(shutil.which("bash") is None, reason="not installed: bash")
def test_commands_beside_systemd_get_their_settings(tmp_path: Path) -> None:
    """The page's own lines, with other places and a program that shows what it was given."""
    (lines,) = re.findall(r"```sh\n(\( set -a.*?)```", section("With systemd"), re.DOTALL)
    shutil.copy(DEPLOY / "systemd" / "jiezhu.env.example", tmp_path / "jiezhu.env")
    shown = lines.replace("/etc/jiezhu", str(tmp_path)).replace(
        "/opt/jiezhu/bin/jiezhu incidents list", "env"
    )
    told = subprocess.run(
        ["bash", "-euc", shown], capture_output=True, text=True, check=True, env={"PATH": "/usr/bin:/bin"}
    )
    given = dict(line.split("=", 1) for line in told.stdout.splitlines() if line.startswith("JIEZHU_"))
    secrets = tmp_path / "secrets"
    secrets.mkdir()
    for setting, name in {
        **SECRET_FILES,
        "JIEZHU_PAGERS__PAGERDUTY__ROUTING_KEY_FILE": "pagerduty_routing_key",
    }.items():
        assert given[setting] == str(secrets / name)
        (secrets / name).write_text("ab" * 32, encoding="utf-8")
    assert load(None, given).http.port == 9464
