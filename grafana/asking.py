"""What a panel's queries answer, with everything chosen: asked of Prometheus as Grafana would."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import httpx2

CHOSEN = {"track": ".*", "release": ".*", "language": ".*", "pager": ".*", "worker": ".*", "basis": "live"}

_BARS = 24
_SCRAPES = 6  # in a bar, as many as Grafana's minute has at our interval


@dataclass(frozen=True, slots=True)
class Span:
    """From when to when, in seconds since 1970; a point every ``step``; rates over ``window``.

    ``scrape``: how often Prometheus looks.
    """

    start: float
    end: float
    step: float
    window: float
    scrape: float

    def of(self, panel: Mapping[str, Any]) -> Span:
        """Return the span as a panel takes it: one that counts in bars has few and wide ones."""
        if "interval" not in panel:
            return self
        step = max(self.step, _SCRAPES * self.scrape, round((self.end - self.start) / _BARS))
        return replace(self, start=self.end - step * int((self.end - self.start) / step), step=step)

    def filled_in(self, expr: str) -> str:
        values = {
            "__rate_interval": _seconds(self.window),
            "__interval": _seconds(self.step),
            "__range": _seconds(self.end - self.start),
            **CHOSEN,
        }
        return re.sub(r"\$(\w+)", lambda found: values[found[1]], expr)


def _seconds(value: float) -> str:
    return f"{max(1, round(value))}s"


@dataclass(frozen=True, slots=True)
class Line:
    """One series; ``times`` and ``values`` are alike in length, and a gap is NaN."""

    labels: Mapping[str, str]
    times: tuple[float, ...]
    values: tuple[float, ...]
    legend: str = ""

    @property
    def last(self) -> float:
        return self.values[-1]


@dataclass(frozen=True, slots=True)
class Answer:
    """What one query said."""

    ref: str
    lines: tuple[Line, ...] = field(default=())


class Asker:
    """Asks the Prometheus behind ``client``."""

    def __init__(self, client: httpx2.Client, span: Span) -> None:
        self._client = client
        self.span = span

    def panel(self, panel: Mapping[str, Any]) -> list[Answer]:
        """Ask what the panel asks. Raises ValueError for a query that Prometheus cannot answer."""
        span = self.span.of(panel)
        return [
            self._instant(target) if target.get("instant") else self._over_time(target, span)
            for target in panel.get("targets", ())
        ]

    def _instant(self, target: Mapping[str, Any]) -> Answer:
        found = self._ask("query", target, {"time": self.span.end}, self.span)
        return Answer(
            target["refId"],
            tuple(
                Line(one["metric"], (one["value"][0],), (value,))
                for one in found
                if not math.isnan(value := float(one["value"][1]))
            ),
        )

    def _over_time(self, target: Mapping[str, Any], span: Span) -> Answer:
        found = self._ask(
            "query_range", target, {"start": span.start, "end": span.end, "step": span.step}, span
        )
        return Answer(
            target["refId"],
            tuple(
                self._line(one, target["legendFormat"])
                for one in found
                if any(not math.isnan(float(value)) for _, value in one["values"])
            ),
        )

    def _line(self, one: Mapping[str, Any], legend: str) -> Line:
        times, values = zip(*((float(at), float(value)) for at, value in one["values"]), strict=True)
        named = re.sub(r"\{\{(\w+)\}\}", lambda found: one["metric"].get(found[1], ""), legend)
        return Line(one["metric"], times, values, named.strip())

    def _ask(
        self, what: str, target: Mapping[str, Any], more: Mapping[str, float], span: Span
    ) -> list[dict[str, Any]]:
        expr = span.filled_in(target["expr"])
        answer = self._client.post(f"/api/v1/{what}", data={"query": expr, **more}).json()
        if answer["status"] != "success":
            raise ValueError(f"Prometheus cannot answer: {answer.get('error')}")
        result: list[dict[str, Any]] = answer["data"]["result"]
        return result
