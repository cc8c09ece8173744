from __future__ import annotations

from tests.support.kafka import broker
from tests.support.warm import warm_cache

__all__ = ["broker", "warm_cache"]
