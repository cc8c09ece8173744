"""How the manifests hold together: selectors, ports, paths, names, and who may talk to whom."""

from __future__ import annotations

import ipaddress
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from prometheus_client import CollectorRegistry

from monitor.health import Health
from monitor.settings import Settings, load
from monitor.web import app
from tests.deploy import manifests
from tests.deploy.manifests import KUBERNETES, environment_of, labels_of, pod_of, selects, the
from tests.support.prometheus import RULES

WEB = KUBERNETES.parents[1] / "monitor" / "web"
ROUTES = re.compile(r'\.routes\("(\w+)"')  # of pages behind signed links

WORKER = labels_of(the("Deployment"))
MIGRATION = labels_of(the("Job"))


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load(None, environment_of(the("Deployment"), tmp_path))


def test_selectors_find_the_workers_and_nobody_else() -> None:
    selectors = {
        "Deployment": the("Deployment")["spec"]["selector"],
        "Service": {"matchLabels": the("Service")["spec"]["selector"]},
        "PodDisruptionBudget": the("PodDisruptionBudget")["spec"]["selector"],
    }
    spread = pod_of(the("Deployment"))["spec"]["topologySpreadConstraints"]
    selectors |= {constraint["topologyKey"]: constraint["labelSelector"] for constraint in spread}
    assert {"kubernetes.io/hostname", "topology.kubernetes.io/zone"} <= set(selectors)
    for name, selector in selectors.items():
        assert selects(selector, WORKER), name
        assert not selects(selector, MIGRATION), name


def test_ports_are_one_port(settings: Settings) -> None:
    (port,) = manifests.container_of(the("Deployment"))["ports"]
    assert port["containerPort"] == settings.http.port
    assert settings.http.host == "0.0.0.0"
    (service,) = the("Service")["spec"]["ports"]
    assert service["targetPort"] == port["name"]
    (endpoint,) = the("ServiceMonitor")["spec"]["endpoints"]
    assert endpoint["port"] == service["name"]


def test_monitor_selects_the_service_under_the_job_that_alerts_ask_for() -> None:
    monitor = the("ServiceMonitor")
    assert selects(monitor["spec"]["selector"], the("Service")["metadata"]["labels"])
    assert monitor["metadata"]["namespace"] == the("Service")["metadata"]["namespace"]
    # Without a jobLabel the operator takes the service's name.
    jobs = {
        job for file in RULES.glob("*.yml") for job in re.findall(r'job="(\w+)"', file.read_text("utf-8"))
    }
    assert jobs == {the("Service")["metadata"]["name"]}


def test_what_is_asked_for_is_served() -> None:
    well = Health(())
    web = app.build(CollectorRegistry(), lambda: well, lambda: well, lambda: "{}", [])
    served = {getattr(route, "path", "") for route in web.routes}
    container = manifests.container_of(the("Deployment"))
    (port,) = container["ports"]
    asked = {probe: container[f"{probe}Probe"]["httpGet"] for probe in ("startup", "liveness", "readiness")}
    assert {probe: get["path"] for probe, get in asked.items()} == {
        "startup": "/livez",
        "liveness": "/livez",
        "readiness": "/readyz",
    }
    assert all(get["port"] == port["name"] for get in asked.values())
    (endpoint,) = the("ServiceMonitor")["spec"]["endpoints"]
    assert {get["path"] for get in asked.values()} | {endpoint["path"]} <= served


def test_people_reach_the_links_in_pages_and_no_more(settings: Settings) -> None:
    (rule,) = the("Ingress")["spec"]["rules"]
    linked = {
        f"/{name}/" for file in WEB.glob("*.py") for name in ROUTES.findall(file.read_text(encoding="utf-8"))
    }
    assert {path["path"] for path in rule["http"]["paths"]} == linked == {"/incidents/", "/groups/"}
    service = the("Service")
    for path in rule["http"]["paths"]:
        backend = path["backend"]["service"]
        assert backend["name"] == service["metadata"]["name"]
        assert backend["port"]["name"] == service["spec"]["ports"][0]["name"]
    assert rule["host"] == urlsplit(settings.http.public_url or "").hostname
    assert the("Ingress")["spec"]["tls"][0]["hosts"] == [rule["host"]]
    # Whoever was paged while the broker is away must be able to acknowledge.
    assert service["spec"]["publishNotReadyAddresses"] is True


def test_scaling_asks_for_the_lag_of_the_group_that_reads(settings: Settings) -> None:
    scaled = the("ScaledObject")["spec"]
    assert scaled["scaleTargetRef"]["name"] == the("Deployment")["metadata"]["name"]
    (trigger,) = scaled["triggers"]
    assert trigger["metadata"]["bootstrapServers"] == settings.kafka.bootstrap_servers
    assert trigger["metadata"]["topic"] == settings.kafka.topic
    assert trigger["metadata"]["consumerGroup"] == settings.kafka.group_id
    assert trigger["metadata"]["allowIdleConsumers"] == "false"
    assert scaled["minReplicaCount"] == the("Deployment")["spec"]["replicas"] == 2
    assert scaled["fallback"]["replicas"] >= scaled["minReplicaCount"]
    compose = (KUBERNETES.parent / ".env.example").read_text(encoding="utf-8")
    assert f"PARTITIONS={scaled['maxReplicaCount']}\n" in compose


def allowed(labels: dict[str, str], way: str) -> set[tuple[str, str, int]]:
    """Whom pods of these labels may talk to (``Egress``) or be asked by: who, protocol, port."""
    found: set[tuple[str, str, int]] = set()
    for policy in manifests.of_kind("NetworkPolicy"):
        spec = policy["spec"]
        rules = spec.get(way.lower(), [])
        assert not rules or way in spec["policyTypes"]
        if selects(spec["podSelector"], labels):
            for rule in rules:
                ends = rule["to" if way == "Egress" else "from"]
                assert ends, "an empty list is everybody"
                found |= {(end_of(end), p["protocol"], p["port"]) for end in ends for p in rule["ports"]}
    return found


def end_of(end: manifests.Object) -> str:
    if "ipBlock" in end:
        return str(end["ipBlock"]["cidr"])
    parts = [f"namespace {end['namespaceSelector']['matchLabels']['kubernetes.io/metadata.name']}"]
    parts += [f"{key}={value}" for key, value in end.get("podSelector", {}).get("matchLabels", {}).items()]
    return " ".join(parts)


DNS = {("namespace kube-system k8s-app=kube-dns", protocol, 53) for protocol in ("UDP", "TCP")}
DATABASE = {("namespace postgres", "TCP", 5432)}


def test_whatever_is_not_named_goes_neither_in_nor_out() -> None:
    everything = [
        policy["spec"] for policy in manifests.of_kind("NetworkPolicy") if not policy["spec"]["podSelector"]
    ]
    assert everything == [{"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}]


def test_worker_talks_to_whom_it_must() -> None:
    assert allowed(WORKER, "Egress") == {
        *DNS,
        *DATABASE,
        ("namespace kafka", "TCP", 9092),
        ("namespace monitoring app.kubernetes.io/name=alertmanager", "TCP", 9093),
        ("0.0.0.0/0", "TCP", 443),
        ("::/0", "TCP", 443),
    }
    assert allowed(WORKER, "Ingress") == {
        ("namespace monitoring app.kubernetes.io/name=prometheus", "TCP", 9464),
        ("namespace ingress-nginx app.kubernetes.io/component=controller", "TCP", 9464),
    }


def test_migration_talks_to_the_database_alone() -> None:
    assert allowed(MIGRATION, "Egress") == DNS | DATABASE
    assert allowed(MIGRATION, "Ingress") == set()


def test_policies_let_through_what_the_settings_name(settings: Settings) -> None:
    assert settings.pagers.alertmanager is not None
    alertmanager = urlsplit(settings.pagers.alertmanager.url.get_secret_value())
    named = {settings.kafka.bootstrap_servers, alertmanager.netloc}
    for address in named:
        host, _, port = address.partition(":")
        namespace = host.split(".")[1]
        assert [
            end
            for end in allowed(WORKER, "Egress")
            if end[0].startswith(f"namespace {namespace}") and end[2] == int(port)
        ], address
    assert (settings.http.port,) == tuple({port for *_, port in allowed(WORKER, "Ingress")})


@pytest.mark.parametrize(
    "address", ["10.0.0.1", "172.31.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "fd00::1"]
)
def test_https_goes_to_nobody_inside(address: str) -> None:
    asked = ipaddress.ip_address(address)
    blocks = [
        end["ipBlock"]
        for policy in manifests.of_kind("NetworkPolicy")
        for rule in policy["spec"].get("egress", [])
        for end in rule["to"]
        if "ipBlock" in end
    ]
    for block in blocks:
        inside = asked.version == ipaddress.ip_network(block["cidr"]).version
        assert not inside or any(asked in ipaddress.ip_network(net) for net in block["except"])
    assert len(blocks) == 2
