"""The compose files, the image and their documents: what an operator relies on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from shutil import which
from subprocess import run
from typing import Any

import pytest
import yaml

from monitor.commands import describe_settings
from monitor.settings import environment_names, load
from monitor.worker import STOP_WITHIN

DEPLOY = Path(__file__).parents[2] / "deploy"
FILES = sorted(DEPLOY.glob("compose*.yaml"), key=lambda path: (path.stem != "compose", path.stem))
SETTING = re.compile(r"\bJIEZHU_[A-Z0-9_]+[A-Z0-9]\b")
# "docker.io" names without a host, a version, and nothing that moves.
IMAGE = re.compile(
    r"(apache/kafka|postgres|prom/prometheus|prom/alertmanager|grafana/grafana):v?\d+\.\d+[\w.-]*"
)
SECRET = re.compile(r"PASSWORD|SECRET|TOKEN|KEY|DATABASE__URL|WEBHOOK__URL")


def read(path: Path) -> dict[str, Any]:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


COMPOSE = read(DEPLOY / "compose.yaml")
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
each_service = pytest.mark.parametrize("name", SERVICES)


@each_service
def test_service_can_do_no_more_than_it_must(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["user"].split(":")[0] not in ("0", "root")
    assert service["pids_limit"] > 0
    assert not {"privileged", "cap_add", "network_mode", "pid"} & set(service)


@each_service
def test_service_is_watched_or_runs_once(name: str) -> None:
    service = SERVICES[name]
    if service["restart"] == "no":
        waiting = [other for other in SERVICES.values() if name in other.get("depends_on", {})]
        assert all(
            other["depends_on"][name]["condition"] == "service_completed_successfully" for other in waiting
        )
        assert waiting, "nobody waits for it"
    else:
        assert service["restart"] == "unless-stopped"
        assert service["healthcheck"]["test"][0] == "CMD"


@each_service
def test_image_is_pinned_by_a_plain_name(name: str) -> None:
    service = SERVICES[name]
    if "build" in service:
        assert service["image"].startswith("jiezhu:")
    else:
        assert IMAGE.fullmatch(service["image"]), service["image"]


@each_service
def test_ports_are_open_on_loopback_only(name: str) -> None:
    for port in SERVICES[name].get("ports", []):
        assert port.startswith("127.0.0.1:"), port


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_secrets_are_files(path: Path) -> None:
    compose = read(path)
    for name, service in compose["services"].items():
        mounted = {f"/run/secrets/{secret}" for secret in service.get("secrets", [])}
        for variable, value in service.get("environment", {}).items():
            if SECRET.search(variable):
                assert variable.endswith("_FILE"), f"{name}: {variable}"
                assert value in mounted, f"{name}: {value} is not given to it"
        for secret in service.get("secrets", []):
            assert compose["secrets"][secret]["file"] == f"./secrets/{secret}"
    assert (DEPLOY / "secrets" / ".gitignore").read_text(encoding="utf-8").split() == ["*", "!.gitignore"]


def test_secrets_in_configurations_are_files_that_are_given() -> None:
    """Alertmanager's and Prometheus' own: whatever opens a door is named by its path."""
    for service, file in (
        ("alertmanager", "alertmanager/alertmanager.yml"),
        ("prometheus", "prometheus/prometheus.yml"),
    ):
        given = {f"/run/secrets/{secret}" for secret in SERVICES[service].get("secrets", [])}
        named = {
            value
            for key, value in leaves(read(DEPLOY / file))
            if SECRET.search(key.upper()) or key == "credentials_file"
        }
        assert named == given, service


def leaves(tree: Any, key: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(tree, dict):
        for name, part in tree.items():
            yield from leaves(part, name)
    elif isinstance(tree, list):
        for part in tree:
            yield from leaves(part, key)
    else:
        yield key, str(tree)


@pytest.mark.parametrize(
    "path", [path for path in FILES if path.stem != "compose"], ids=lambda path: path.stem
)
def test_a_pager_takes_nothing_away_from_what_a_worker_is_held_to(path: Path) -> None:
    services = read(path)["services"]
    assert set(services) == {"worker"}
    assert set(services["worker"]) == {"environment", "secrets"}
    shared = set(services["worker"]["environment"]) & set(SERVICES["worker"]["environment"])
    assert shared <= {"JIEZHU_CANARY__ENABLED"}  # off in .env, and on with its own file


def test_worker_has_the_time_it_needs_to_end() -> None:
    grace = re.fullmatch(r"(\d+)s", SERVICES["worker"]["stop_grace_period"])
    assert grace is not None
    assert int(grace[1]) >= STOP_WITHIN + 10


def test_database_is_reached_by_those_who_need_it_and_by_no_way_from_outside() -> None:
    assert COMPOSE["networks"]["store"] == {"internal": True}
    on_it = {name for name, service in SERVICES.items() if "store" in service["networks"]}
    assert on_it == {"postgres", "migrate", "worker"}
    assert SERVICES["postgres"]["networks"] == ["store"]
    assert "ports" not in SERVICES["postgres"]


def test_every_secret_is_explained() -> None:
    readme = (DEPLOY / "README.md").read_text(encoding="utf-8")
    named = {secret for path in FILES for secret in read(path)["secrets"]}
    assert not {secret for secret in named if f"secrets/{secret}" not in readme}


def test_volumes_are_named_and_each_is_used() -> None:
    used = set()
    for name, service in SERVICES.items():
        for volume in service.get("volumes", []):
            source, _, rest = volume.partition(":")
            if source.startswith("."):
                assert rest.endswith(":ro"), f"{name}: {volume}"
                assert (DEPLOY / source).exists(), volume
            else:
                used.add(source)
    assert used == set(COMPOSE["volumes"])
    assert "encoder-cache:/var/cache/jiezhu" in SERVICES["worker"]["volumes"]


def test_every_setting_that_is_named_is_known() -> None:
    named = {
        (path.name, name)
        for path in DEPLOY.rglob("*")
        if path.is_file() and path.parent.name != "secrets"
        for name in SETTING.findall(path.read_text(encoding="utf-8"))
    }
    assert len(named) > 20
    assert {(file, name) for file, name in named if name not in environment_names()} == set()


def test_daemon_takes_what_compose_gives_it(tmp_path: Path) -> None:
    """The worker's environment with every secret in place, all pagers included."""
    environment: dict[str, str] = {}
    for path in FILES:
        environment |= read(path)["services"]["worker"]["environment"]
    for name, value in list(environment.items()):
        if value is None:  # as .env has it, and so far it does not
            del environment[name]
            continue
        environment[name] = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", value)
        if name.endswith("_FILE"):
            secret = tmp_path / Path(value).name
            secret.write_text(
                "https://pager.example.org/hook" if "URL" in name else "ab" * 32, encoding="utf-8"
            )
            environment[name] = str(secret)
    settings = load(None, environment)
    assert settings.kafka.bootstrap_servers == "kafka:9092"
    assert settings.pagers.pagerduty is not None
    assert settings.pagers.webhook is not None
    assert settings.pagers.alertmanager is not None
    assert settings.http.port == 9464
    assert settings.canary.enabled
    assert settings.canary.heartbeat_url is not None


def test_every_setting_that_the_documents_name_reaches_the_worker() -> None:
    handed = {name for path in FILES for name in read(path)["services"]["worker"]["environment"]}
    named = {
        name
        for document in ("README.md", ".env.example")
        for name in SETTING.findall((DEPLOY / document).read_text(encoding="utf-8"))
    }
    assert {"JIEZHU_CANARY__EVERY_SECONDS", "JIEZHU_HTTP__RUNBOOK_URL"} < named
    assert {name for name in named if name not in handed and f"{name}_FILE" not in handed} == set()


def test_no_name_is_handed_on_that_is_unknown() -> None:
    assert set(SERVICES["worker"]["environment"]) <= environment_names()


def test_the_first_start_goes_as_it_is_written(tmp_path: Path) -> None:
    """The lines that make the secrets, run as they stand, and what they made, as the worker reads it."""
    readme = (DEPLOY / "README.md").read_text(encoding="utf-8")
    [lines] = [
        block for block in re.findall(r"```sh\n(.*?)```", readme, re.DOTALL) if "> secrets/key_seal" in block
    ]
    secrets = tmp_path / "deploy" / "secrets"
    secrets.mkdir(parents=True)
    run([which("sh"), "-euc", lines], cwd=tmp_path, check=True)
    environment = {}
    for name, value in SERVICES["worker"]["environment"].items():
        if value is not None:
            plain = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", value)
            environment[name] = plain.replace("/run/secrets", str(secrets))
    said = describe_settings(load(None, environment))
    assert said[-1] == "the configuration is good"
    assert "keeps state in PostgreSQL; words of incidents for 30 days" in said


def test_prometheus_and_grafana_find_the_services_by_their_names() -> None:
    config = read(DEPLOY / "prometheus" / "prometheus.yml")
    jobs = {job["job_name"]: job for job in config["scrape_configs"]}
    [workers] = jobs["jiezhu"]["dns_sd_configs"]
    assert workers["names"] == ["worker"]
    assert str(workers["port"]) == SERVICES["worker"]["environment"]["JIEZHU_HTTP__PORT"]
    source = read(DEPLOY.parent / "grafana" / "provisioning" / "datasources" / "prometheus.yaml")
    for address in (
        source["datasources"][0]["url"],
        SERVICES["worker"]["environment"]["JIEZHU_PAGERS__ALERTMANAGER__URL"],
        "http://" + jobs["alertmanager"]["static_configs"][0]["targets"][0],
    ):
        assert re.fullmatch(r"http://(\w+):\d+", address)[1] in SERVICES


def test_image_runs_without_root_and_pins_what_the_package_pins() -> None:
    image = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    package = (DEPLOY.parent / "pyproject.toml").read_text(encoding="utf-8")
    torch = re.search(r'"(torch==[\d.]+)"', package)
    assert torch is not None
    assert torch[1] in image
    bases = re.findall(r"^FROM (\S+)", image, re.MULTILINE)
    assert len(bases) == 2
    assert all(re.fullmatch(r"python:3\.11\.\d+-slim-\w+", base) for base in bases)
    last = image.rindex("FROM ")
    assert re.search(r"^USER 10001:10001$", image[last:], re.MULTILINE)
    assert re.search(r"^HEALTHCHECK [^\n]*\\\n.*/livez", image[last:], re.MULTILINE)
    for copied in re.findall(r"^COPY (?!--from)(.+) \S+$", image, re.MULTILINE):
        assert all((DEPLOY.parent / source).exists() for source in copied.split())


def test_one_line_of_env_says_what_the_stack_is_made_of_for_every_command() -> None:
    """A command with fewer files than the start had would start workers that lack a pager."""
    lines = (DEPLOY / ".env.example").read_text(encoding="utf-8").splitlines()
    given = dict(line.split("=", 1) for line in lines if re.match(r"[A-Z]", line))
    assert given["COMPOSE_FILE"] == "compose.yaml"
    assert not [
        path.name
        for path in (*FILES, *DEPLOY.rglob("*.md"), DEPLOY / ".env.example")
        if re.search(r"(?<!-)-f compose", path.read_text(encoding="utf-8"))
    ]


def test_a_kafka_of_ones_own_takes_the_place_of_the_stacks() -> None:
    lines = (DEPLOY / ".env.example").read_text(encoding="utf-8").splitlines()
    assert "COMPOSE_PROFILES=kafka" in lines
    left_out = {name for name, service in SERVICES.items() if service.get("profiles") == ["kafka"]}
    assert left_out == {"kafka", "topics"}
    for name, service in SERVICES.items():
        for needed, how in service.get("depends_on", {}).items():
            assert name in left_out or needed not in left_out or how["required"] is False, name
