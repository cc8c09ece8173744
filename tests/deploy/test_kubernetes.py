"""Each manifest by itself: valid, hardened, and made of settings that a worker takes."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate  # type: ignore[import-untyped]  # it ships none
import pytest
import yaml

from monitor.assembly import keys
from monitor.settings import Settings, load
from monitor.worker import STOP_WITHIN
from tests.deploy import manifests
from tests.deploy.custom_resources import SCHEMAS
from tests.deploy.manifests import KUBERNETES, OBJECTS, WORKLOADS, environment_of, mounted_secrets, name_of
from tests.support.prometheus import RULES, needs

# The oldest release that README.md names, and the newest whose schemas the validator has.
RELEASES = ["1.27", kubernetes_validate.latest_version()]

each_workload = pytest.mark.parametrize("workload", WORKLOADS, ids=name_of)


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("found", OBJECTS, ids=name_of)
def test_manifest_is_valid(found: manifests.Object, release: str) -> None:
    if found["kind"] in SCHEMAS:
        jsonschema.validate(found, SCHEMAS[found["kind"]])
    else:
        kubernetes_validate.validate(found, release, strict=True)
    assert found["metadata"]["labels"]["app.kubernetes.io/name"] == "jiezhu"
    assert found["kind"] == "Namespace" or found["metadata"]["namespace"] == "jiezhu"


def test_a_slip_is_found() -> None:
    """The validators can say no."""
    service = manifests.the("Service")
    with pytest.raises(kubernetes_validate.ValidationError, match="prots"):
        kubernetes_validate.validate(service | {"spec": service["spec"] | {"prots": []}}, "1.27", strict=True)
    scaled = manifests.the("ScaledObject")
    with pytest.raises(jsonschema.ValidationError, match="maxReplicas"):
        jsonschema.validate(scaled | {"spec": scaled["spec"] | {"maxReplicas": 8}}, SCHEMAS["ScaledObject"])


@each_workload
def test_workload_can_do_no_more_than_it_must(workload: manifests.Object) -> None:
    """Pod Security Standards, "restricted", and a root that cannot be written."""
    pod = manifests.pod_of(workload)["spec"]
    assert pod["automountServiceAccountToken"] is False
    assert not {"hostNetwork", "hostPID", "hostIPC", "initContainers", "ephemeralContainers"} & set(pod)
    security = pod["securityContext"]
    assert security["runAsNonRoot"] is True
    assert security["runAsUser"] > 0
    assert security["seccompProfile"] == {"type": "RuntimeDefault"}
    assert all(set(volume) - {"name"} <= {"emptyDir", "secret"} for volume in pod["volumes"])
    for container in pod["containers"]:
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "privileged": False,
            "capabilities": {"drop": ["ALL"]},
        }
        assert {"cpu", "memory"} <= set(container["resources"]["requests"])
        assert set(container["resources"]["limits"]) == {"memory"}, "throttled, it pages late"
        assert not any("hostPort" in port for port in container.get("ports", []))


def test_cluster_holds_everybody_to_that() -> None:
    labels = manifests.the("Namespace")["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"
    account = manifests.the("ServiceAccount")
    assert account["automountServiceAccountToken"] is False
    assert all(manifests.pod_of(w)["spec"]["serviceAccountName"] == "jiezhu" for w in WORKLOADS)
    assert not [found for found in OBJECTS if "Role" in found["kind"]]


@each_workload
def test_image_runs_as_the_user_it_was_made_for(workload: manifests.Object) -> None:
    image = (KUBERNETES.parent / "Dockerfile").read_text(encoding="utf-8")
    user = re.search(r"^USER (\d+):(\d+)$", image, re.MULTILINE)
    assert user is not None
    security = manifests.pod_of(workload)["spec"]["securityContext"]
    assert (security["runAsUser"], security["runAsGroup"], security["fsGroup"]) == (
        int(user[1]),
        int(user[2]),
        int(user[2]),
    )


def test_worker_has_the_time_it_needs_to_end_and_to_begin() -> None:
    deployment = manifests.the("Deployment")["spec"]
    pod = deployment["template"]["spec"]
    assert pod["terminationGracePeriodSeconds"] >= STOP_WITHIN + 10
    assert deployment["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    startup = pod["containers"][0]["startupProbe"]
    assert startup["periodSeconds"] * startup["failureThreshold"] >= 60


def test_daemon_takes_its_settings(tmp_path: Path) -> None:
    settings = settings_of("Deployment", tmp_path)
    assert settings.database_url.startswith("postgresql:")
    assert keys(settings).links == bytes.fromhex("ab" * 32)
    assert settings.pagers.pagerduty is not None
    assert settings.pagers.alertmanager is not None
    assert settings.http.public_url is not None
    assert {path.name for path in tmp_path.iterdir()} == set(manifests.the("Secret")["stringData"])


def test_migration_takes_its_settings_and_no_key(tmp_path: Path) -> None:
    settings = settings_of("Job", tmp_path)
    assert settings.database_url.startswith("postgresql:")
    assert [path.name for path in tmp_path.iterdir()] == ["database_url"]
    assert mounted_secrets(manifests.the("Job")) == {"database_url"}


def settings_of(kind: str, folder: Path) -> Settings:
    return load(None, environment_of(manifests.the(kind), folder))


def test_secret_is_an_example_without_secrets() -> None:
    assert set(manifests.the("Secret")["stringData"].values()) == {""}
    assert "data" not in manifests.the("Secret")
    readme = (KUBERNETES.parent / "README.md").read_text(encoding="utf-8")
    assert not [key for key in manifests.the("Secret")["stringData"] if f"secrets/{key}" not in readme]


@each_workload
def test_what_is_written_has_a_place(workload: manifests.Object, tmp_path: Path) -> None:
    volumes = {volume["name"]: volume for volume in manifests.pod_of(workload)["spec"]["volumes"]}
    mounts = manifests.container_of(workload)["volumeMounts"]
    assert {mount["name"] for mount in mounts} == set(volumes)
    writable = {m["mountPath"] for m in mounts if "emptyDir" in volumes[m["name"]] and not m.get("readOnly")}
    settings = load(None, environment_of(workload, tmp_path))
    assert {str(settings.state_dir), "/tmp"} <= writable
    if workload["kind"] == "Deployment":
        assert str(settings.encoder.cache_dir) in writable
    assert all(volume["emptyDir"]["sizeLimit"] for volume in volumes.values() if "emptyDir" in volume)


def test_rules_are_those_of_every_prometheus(tmp_path: Path) -> None:
    groups = manifests.the("PrometheusRule")["spec"]["groups"]
    files = sorted(RULES.glob("*.yml"))
    assert groups == [group for file in files for group in manifests.read(file)[0]["groups"]]
    again = tmp_path / "again.yaml"
    subprocess.run([sys.executable, KUBERNETES / "build.py", again], check=True)
    committed = KUBERNETES / "monitoring" / "prometheus-rule.yaml"
    assert committed.read_bytes() == again.read_bytes(), "run python deploy/kubernetes/build.py"


@needs("promtool")
def test_prometheus_reads_the_rules(tmp_path: Path) -> None:
    file = tmp_path / "rules.yml"
    file.write_text(yaml.safe_dump(manifests.the("PrometheusRule")["spec"]), encoding="utf-8")
    told = subprocess.run(["promtool", "check", "rules", file], capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stdout + told.stderr


def test_every_file_is_in_a_kustomization() -> None:
    listed = {
        path.parent / entry
        for path in manifests.KUSTOMIZATIONS
        for kind in ("resources", "components")
        for entry in manifests.read(path)[0].get(kind, [])
    }
    assert not [entry for entry in listed if not entry.exists()]
    assert set(manifests.FILES) - listed == {manifests.SECRET_EXAMPLE}


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="not installed: kubectl")
def test_kustomize_makes_the_whole() -> None:
    whole = rendered(KUBERNETES)
    assert {found["kind"] for found in whole} == {found["kind"] for found in OBJECTS} - {
        "Job",
        "Secret",
        "Ingress",
    }
    (deployment,) = [found for found in whole if found["kind"] == "Deployment"]
    assert "replicas" not in deployment["spec"], "KEDA's number would be set back"
    (job,) = rendered(KUBERNETES / "migrate")
    images = {manifests.container_of(found)["image"] for found in (deployment, job)}
    assert len(images) == 1, "tables and workers of one release"
    assert re.fullmatch(r"registry\.example\.org/jiezhu:\d+\.\d+\.\d+", images.pop())


def rendered(directory: Path) -> list[Any]:
    told = subprocess.run(
        ["kubectl", "kustomize", directory], capture_output=True, text=True, check=False, timeout=60
    )
    assert told.returncode == 0, told.stderr
    return list(yaml.safe_load_all(told.stdout))
