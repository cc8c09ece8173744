"""Whoever is only told of what was done, as the metrics are, stops nothing that has to be done (R45)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import structlog

_log = structlog.get_logger(__name__)


@contextmanager
def observing() -> Iterator[None]:
    """Tell an observer within this: what it raises is logged, and the work goes on."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - see above
        _log.error("observer_failed", exc_info=error)
