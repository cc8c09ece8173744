"""JSON Schemas of the fields that are used of kinds that are not Kubernetes' own: what stands elsewhere is a slip."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

TEXT: Schema = {"type": "string", "minLength": 1}
TEXTS: Schema = {"type": "object", "additionalProperties": {"type": "string"}}
NUMBER: Schema = {"type": "integer", "minimum": 0}
DURATION: Schema = {"type": "string", "pattern": r"^(\d+(ms|s|m|h|d|w|y))+$"}


def a(required: dict[str, Schema], **optional: Schema) -> Schema:
    return {
        "type": "object",
        "properties": required | optional,
        "required": sorted(required),
        "additionalProperties": False,
    }


def some(items: Schema) -> Schema:
    return {"type": "array", "items": items, "minItems": 1}


def kind(version: str, name: str, spec: Schema) -> Schema:
    metadata = a({"name": TEXT, "namespace": TEXT, "labels": TEXTS})
    return a({"apiVersion": {"const": version}, "kind": {"const": name}, "metadata": metadata, "spec": spec})


SERVICE_MONITOR = kind(
    "monitoring.coreos.com/v1",
    "ServiceMonitor",
    a(
        {
            "selector": a({"matchLabels": TEXTS}),
            "endpoints": some(
                a({"port": TEXT}, path=TEXT, interval=DURATION, scrapeTimeout=DURATION),
            ),
        }
    ),
)

_RECORD = a({"record": TEXT, "expr": TEXT}, labels=TEXTS)
_ALERT = a({"alert": TEXT, "expr": TEXT}, labels=TEXTS, annotations=TEXTS, keep_firing_for=DURATION)
_ALERT["properties"]["for"] = DURATION

PROMETHEUS_RULE = kind(
    "monitoring.coreos.com/v1",
    "PrometheusRule",
    a({"groups": some(a({"name": TEXT, "rules": some({"oneOf": [_RECORD, _ALERT]})}, interval=DURATION))}),
)

_POLICY = a({"type": {"enum": ["Pods", "Percent"]}, "value": NUMBER, "periodSeconds": NUMBER})
_RULES = a({"policies": some(_POLICY)}, stabilizationWindowSeconds={**NUMBER, "maximum": 3600})

SCALED_OBJECT = kind(
    "keda.sh/v1alpha1",
    "ScaledObject",
    a(
        {"scaleTargetRef": a({"name": TEXT}), "triggers": some(a({"type": TEXT, "metadata": TEXTS}))},
        pollingInterval=NUMBER,
        minReplicaCount=NUMBER,
        maxReplicaCount=NUMBER,
        fallback=a({"failureThreshold": NUMBER, "replicas": NUMBER}),
        advanced=a(
            {"horizontalPodAutoscalerConfig": a({"behavior": a({}, scaleUp=_RULES, scaleDown=_RULES)})}
        ),
    ),
)

SCHEMAS = {
    "ServiceMonitor": SERVICE_MONITOR,
    "PrometheusRule": PROMETHEUS_RULE,
    "ScaledObject": SCALED_OBJECT,
}
