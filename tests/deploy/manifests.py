"""The Kubernetes manifests as they are committed, and what is asked of them again and again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

DEPLOY = Path(__file__).parents[2] / "deploy"
KUBERNETES = DEPLOY / "kubernetes"
SECRET_EXAMPLE = KUBERNETES / "secret.example.yaml"
SECRETS_AT = "/run/secrets/jiezhu"

Object = dict[str, Any]


def read(path: Path) -> list[Object]:
    return [found for found in yaml.safe_load_all(path.read_text(encoding="utf-8")) if found]


KUSTOMIZATIONS = sorted(KUBERNETES.rglob("kustomization.yaml"))
FILES = [path for path in sorted(KUBERNETES.rglob("*.yaml")) if path not in KUSTOMIZATIONS]
OBJECTS = [found for path in FILES for found in read(path)]


def name_of(found: Object) -> str:
    return f"{found['kind']}/{found['metadata']['name']}"


def of_kind(kind: str) -> list[Object]:
    return [found for found in OBJECTS if found["kind"] == kind]


def the(kind: str) -> Object:
    (found,) = of_kind(kind)
    return found


WORKLOADS = [*of_kind("Deployment"), *of_kind("Job")]


def pod_of(workload: Object) -> Object:
    pod: Object = workload["spec"]["template"]
    return pod


def labels_of(workload: Object) -> dict[str, str]:
    labels: dict[str, str] = pod_of(workload)["metadata"]["labels"]
    return labels


def container_of(workload: Object) -> Object:
    containers: list[Object] = pod_of(workload)["spec"]["containers"]
    (found,) = containers
    return found


def selects(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """An empty selector takes everything."""
    assert set(selector) <= {"matchLabels"}, "only labels are understood here"
    wanted: dict[str, str] = selector.get("matchLabels", {})
    return wanted.items() <= labels.items()


def a_secret(setting: str) -> str:
    """Something that the setting takes."""
    if "DATABASE__URL" in setting:
        return "postgresql://jiezhu@db/jiezhu"
    return f"first:{'ab' * 32}" if "SEAL" in setting else "ab" * 32


def environment_of(workload: Object, secrets: Path) -> dict[str, str]:
    """What the container gets, with the secret's files at another place. Fails if one is named that is not mounted."""
    container = container_of(workload)
    given: dict[str, str] = {entry["name"]: entry["value"] for entry in container.get("env", [])}
    for source in container.get("envFrom", []):
        assert source["configMapRef"]["name"] == the("ConfigMap")["metadata"]["name"]
        given |= the("ConfigMap")["data"]
    mounted = mounted_secrets(workload)
    for name, value in given.items():
        if name.endswith("_FILE"):
            assert value.startswith(f"{SECRETS_AT}/"), name
            key = value.removeprefix(f"{SECRETS_AT}/")
            assert key in mounted, f"{name}: {key} is not mounted"
            file = secrets / key
            file.write_text(a_secret(name) + "\n", encoding="utf-8")
            given[name] = str(file)
    return given


def mounted_secrets(workload: Object) -> set[str]:
    (volume,) = [v for v in pod_of(workload)["spec"]["volumes"] if "secret" in v]
    (mount,) = [m for m in container_of(workload)["volumeMounts"] if m["name"] == volume["name"]]
    assert mount["mountPath"] == SECRETS_AT
    assert mount["readOnly"] is True
    secret = volume["secret"]
    assert secret["secretName"] == the("Secret")["metadata"]["name"]
    assert secret["defaultMode"] == 0o440
    there = set(the("Secret")["stringData"])
    items = {item["key"] for item in secret.get("items", [])}
    assert items <= there
    return items or there
