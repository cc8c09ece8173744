"""The shipped rules and the timelines that play them, read from their files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.support.prometheus import RULES

RULE_FILES = sorted(RULES.glob("*.yml"))
TIMELINES = sorted((Path(__file__).parent / "timelines").glob("*.yml"))


@dataclass(frozen=True, slots=True)
class Course:
    """How one alert goes in one timeline: ``course`` has a 1 for each look at which it fires, a 0 for each at which not."""

    test: str
    alert: str
    course: str
    series: frozenset[str]  # names of what the timeline feeds in


@cache
def groups(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = yaml.safe_load(path.read_text(encoding="utf-8"))["groups"]
    return found


def rules(kind: str) -> list[dict[str, Any]]:
    """Every rule that is an ``alert`` or a ``record``."""
    return [rule for path in RULE_FILES for group in groups(path) for rule in group["rules"] if kind in rule]


def alerts() -> list[dict[str, Any]]:
    return rules("alert")


@cache
def courses() -> tuple[Course, ...]:
    """What each timeline says of each alert that it asks for by name."""
    found = []
    for timeline in TIMELINES:
        for test in yaml.safe_load(timeline.read_text(encoding="utf-8"))["tests"]:
            series = frozenset(re.split(r"[{ ]", one["series"])[0] for one in test["input_series"])
            looks: dict[str, str] = {}
            for check in test["promql_expr_test"]:
                if name := re.search(r'alertname="(\w+)"', check["expr"]):
                    fires = bool(check["exp_samples"][0]["value"])
                    looks[name[1]] = looks.get(name[1], "") + ("1" if fires else "0")
            for alert, course in looks.items():
                found.append(Course(test["name"], alert, course, series))
    return tuple(found)
