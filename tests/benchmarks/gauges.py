"""What a worker tells about itself on ``/metrics``."""

from __future__ import annotations

import time
from dataclasses import dataclass

import httpx2
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample


@dataclass(frozen=True, slots=True)
class Gauges:
    samples: tuple[Sample, ...]
    at: float = 0.0  # when it told, on the monotonic clock

    @classmethod
    async def of(cls, url: str) -> Gauges:
        async with httpx2.AsyncClient(timeout=5) as client:
            text = (await client.get(f"{url}/metrics")).text
        samples = tuple(s for family in text_string_to_metric_families(text) for s in family.samples)
        return cls(samples, time.monotonic())

    def total(self, name: str, **labels: str) -> float:
        return sum(s.value for s in self.samples if s.name == name and labels.items() <= s.labels.items())

    def quantile_since(self, before: Gauges, name: str, share: float) -> float:
        """Upper end of the bucket that holds the quantile of what was observed since ``before``."""
        rose = {
            float(s.labels["le"]): s.value - before.total(s.name, le=s.labels["le"])
            for s in self.samples
            if s.name == f"{name}_bucket"
        }
        wanted = max(rose.values()) * share
        return min(edge for edge, count in rose.items() if count >= wanted)

    def mean_since(self, before: Gauges, name: str, **labels: str) -> float:
        count = self.total(f"{name}_count", **labels) - before.total(f"{name}_count", **labels)
        return (self.total(f"{name}_sum", **labels) - before.total(f"{name}_sum", **labels)) / max(count, 1)
