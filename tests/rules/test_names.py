"""Rules ask for what workers show: metrics, labels and bounds that do not exist make a rule that never fires."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from monitor.metrics import Metrics
from tests.rules import promql
from tests.rules.shipped import alerts, rules
from tests.support import exporter
from tests.support.published import published

# What others than our workers show.
OTHERS = {"up": set[str](), "alertmanager_silences": {"state"}}
SCRAPED = {"job", "instance"}
each_rule = pytest.mark.parametrize(
    "rule", [*alerts(), *rules("record")], ids=lambda rule: rule.get("alert") or rule["record"]
)


def shown() -> dict[str, dict[str, set[str]]]:
    """By the name of a sample: its labels, each with the values seen."""
    metrics = Metrics()
    exporter.bear(metrics)
    for beat in range(32):
        exporter.fill(metrics, beat)
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for family in text_string_to_metric_families(generate_latest(metrics.registry).decode()):
        for sample in family.samples:
            found[sample.name].update()
            for label, value in sample.labels.items():
                found[sample.name][label].add(value)
    return found


SHOWN = shown()
PUBLISHED = published()


def labels_of(name: str) -> set[str] | None:
    """Labels of a series without those of the scrape; None if nobody shows it."""
    if name in SHOWN:
        return set(SHOWN[name])
    if name in PUBLISHED:
        return set(PUBLISHED[name])
    if name in {rule["record"] for rule in rules("record")}:
        return set(name.split(":", maxsplit=1)[0].split("_"))
    return OTHERS.get(name)


@each_rule
def test_every_series_and_label_of_a_rule_exists(rule: dict[str, Any]) -> None:
    known: set[str] = set(SCRAPED)
    for one in promql.series(rule["expr"]):
        labels = labels_of(one.name)
        assert labels is not None, f"nobody shows {one.name}"
        for label, operator, value in one.matchers:
            assert label in labels | SCRAPED, f"{one.name} has no label {label}"
            if label == "le":
                assert (operator, value) == ("=~", r"10|10\\.0"), (
                    "a Collector may write a whole bound without its .0"
                )
                assert "10.0" in SHOWN[one.name]["le"], f"{one.name} has no bound {value}"
        known |= labels
    assert promql.grouped_labels(rule["expr"]) <= known


@pytest.mark.parametrize("rule", rules("record"), ids=lambda rule: rule["record"])
def test_name_of_a_record_is_level_metric_operation(rule: dict[str, Any]) -> None:
    level, metric, operation = rule["record"].split(":")
    assert set(level.split("_")) <= SCRAPED | {
        label for one in promql.series(rule["expr"]) for label in labels_of(one.name) or ()
    }
    assert metric.startswith("jiezhu_")
    assert operation


def test_names_of_records_are_unique() -> None:
    names = [rule["record"] for rule in rules("record")]
    assert len(names) == len(set(names))
