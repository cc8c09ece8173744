"""Alive and ready, judged by progress: a process that runs and does nothing is neither (R39)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from monitor.awake import since_awake

STALLED = timedelta(seconds=60)  # a batch in hand, or a part without a sign of life
SILENT = timedelta(seconds=20)  # the broker, which answers many times a second
PREPARING = "preparing_encoder"  # as what a source shows itself that does not read yet
HANGING = timedelta(minutes=5)  # the encoder, and no fresh one could be had beside it


@dataclass(frozen=True, slots=True)
class Signs:
    """What the parts show of themselves at one moment."""

    source: str
    handling_since: datetime | None
    silent_partitions: int
    partitions: int
    parts: Mapping[str, datetime]  # last sign of life of each loop
    store_up: bool
    line_stopped: bool
    outbox_oldest: timedelta
    encoder_up: bool = True
    encoder_hanging_since: datetime | None = None
    reading_stalled: str | None = None  # why reading stands still
    detector_idle: bool = False
    awake: datetime | None = None  # when the process came round after standing still, if it did

    def since(self, at: datetime) -> datetime:
        return since_awake(at, self.awake)

    @classmethod
    def starting(cls) -> Signs:
        """Before there are parts: alive, and not ready."""
        return cls(PREPARING, None, 0, 0, {}, store_up=True, line_stopped=False, outbox_oldest=timedelta(0))


@dataclass(frozen=True, slots=True)
class Health:
    """``reasons`` name what is wrong; empty if nothing is."""

    reasons: tuple[str, ...]

    @property
    def good(self) -> bool:
        return not self.reasons

    def as_dict(self) -> dict[str, Any]:
        return {"status": "ok" if self.good else "failing", "reasons": list(self.reasons)}


Judge = Callable[[Signs, datetime], Health]


def live(signs: Signs, now: datetime) -> Health:
    """Restarting would help: a loop has stopped or a batch has hung."""
    reasons = [
        f"{part}_stalled" for part, at in sorted(signs.parts.items()) if now - signs.since(at) > STALLED
    ]
    if signs.handling_since is not None and now - signs.since(signs.handling_since) > 2 * STALLED:
        reasons.append("batch_stalled")
    hanging = signs.encoder_hanging_since
    if hanging is not None and now - signs.since(hanging) > HANGING:
        reasons.append("encoder_hanging")
    return Health(tuple(reasons))


def ready(signs: Signs, now: datetime) -> Health:
    """Doing its job: reading, deciding, and getting pages out."""
    reasons = list(live(signs, now).reasons)
    if signs.source != "joined":
        reasons.append(f"source_{signs.source}")
    if signs.silent_partitions:
        reasons.append("broker_silent")
    if not signs.store_up:
        reasons.append("database_away")
    if not signs.encoder_up:
        reasons.append("encoder_failing")
    if signs.line_stopped:
        reasons.append("line_stopped")
    if signs.reading_stalled is not None:
        reasons.append(f"reading_stalled_{signs.reading_stalled}")
    if signs.detector_idle:
        reasons.append("detector_idle")
    if signs.outbox_oldest > timedelta(seconds=30):
        reasons.append("pages_waiting")
    return Health(tuple(reasons))
