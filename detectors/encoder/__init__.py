"""multilingual-e5-small as an ``Encoder``: ``prepare`` once, then ``load_engine`` in every worker."""

from __future__ import annotations

from typing import Literal

from detectors.encoder.errors import (
    BuildError,
    CacheError,
    EncoderError,
    NonFiniteRowError,
    SourceError,
    WeightsError,
)
from detectors.encoder.job import Progress
from detectors.encoder.prepare import Prepared, prepare
from detectors.ports import Encoder

__all__ = [
    "BuildError",
    "CacheError",
    "EncoderError",
    "NonFiniteRowError",
    "Prepared",
    "Progress",
    "SourceError",
    "WeightsError",
    "load_engine",
    "prepare",
]


def load_engine(
    kind: Literal["int8", "fp32"],
    prepared: Prepared,
    *,
    threads: int = 1,
    lanes: int = 1,
    remembered: int = 0,
) -> Encoder:
    """Load the engine of ``kind``; torch is imported for ``fp32`` only.

    ``threads`` for one text and ``lanes`` of texts at once concern ``int8`` (``fp32`` uses torch's own setting);
    ``remembered`` rows are kept for texts that come again. Raises ``WeightsError``.
    """
    if kind == "int8":
        from detectors.encoder.int8 import Int8Engine  # noqa: PLC0415  each engine's libraries only where it is used

        return Int8Engine(prepared.int8, threads=threads, lanes=lanes, remembered=remembered)
    if kind == "fp32":
        from detectors.encoder.reference import ReferenceEngine  # noqa: PLC0415  as above

        return ReferenceEngine(prepared.reference, adapter=prepared.adapter, remembered=remembered)
    raise EncoderError("the engine must be int8 or fp32: set JIEZHU_ENCODER__ENGINE to one of them")
