from __future__ import annotations

from tests.support.kafka import broker

__all__ = ["broker"]
