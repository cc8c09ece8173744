"""What ``jiezhu erase`` and ``jiezhu rotate-keys`` do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from monitor import assembly
from monitor.clock import SystemClock
from monitor.commands import open_store
from monitor.crypto.pseudonym import Kind
from monitor.errors import ConfigurationError, JiezhuError, StoreError
from monitor.forgetting import Forgetting, Swept
from monitor.people import People
from monitor.settings import Settings
from monitor.store.burials import Burial
from monitor.store.erasing import Erasing
from monitor.store.resealing import Resealed, Resealing
from monitor.subjects import naming, read_ids

KINDS = {"conversation": Kind.CONVERSATION, "user": Kind.USER}
PATIENCE = timedelta(seconds=40)  # for pagers to hear that it is over
PAUSE = timedelta(seconds=1)
SWEEPS = 1_000


@dataclass(frozen=True, slots=True)
class Erased:
    proofs: tuple[str, ...]
    rows: Counter[str]
    dead_letters: int
    closed_letters: int
    held: int
    waiting: int


async def erase(settings: Settings, kind: str, lines: Iterable[str], by: str) -> Erased:
    """Forget everybody named in ``lines``; returns when nothing is left but what must stay for now."""
    if kind not in KINDS:
        raise ConfigurationError("--kind", f"must be one of {', '.join(KINDS)}")
    ids = read_ids(lines)
    if not ids:
        raise JiezhuError("nobody is named: give ids on standard input or in a file, one a line")
    clock, keys = SystemClock(), assembly.keys(settings)
    async with open_store(settings) as store:
        erasing = Erasing(store.database, keys.keyring)
        paging = assembly.paging(settings, keys.links, clock)
        forgetting = Forgetting(
            erasing,
            People(store, paging, clock),
            paging.policy,
            clock,
            keep=timedelta(days=settings.retention.records_days),
        )
        now = clock.now()
        until = now + timedelta(days=settings.retention.erased_days)
        subjects = [
            Burial(keys.pseudonymiser.pseudonym(KINDS[kind], name), kind, now, until, by) for name in ids
        ]
        proofs = await erasing.bury(subjects)
        rows: Counter[str] = Counter()
        swept = Swept(rows)
        for _ in range(SWEEPS):
            try:
                swept = await forgetting.sweep()
            except StoreError:  # a worker wrote the same row, or the database is busy
                if clock.now() - now >= PATIENCE:
                    raise
                await clock.sleep(PAUSE)
                continue
            rows += swept.rows
            soon = swept.waiting or swept.busy
            if not swept.rows.total() and (not soon or clock.now() - now >= PATIENCE):
                break
            if not swept.rows.total():
                await clock.sleep(PAUSE)
        gone, closed = await erasing.dead_letters(naming(ids))
        await erasing.scrub()
    return Erased(tuple(proofs), rows, gone, closed, swept.held + swept.busy, swept.waiting)


async def rotate(settings: Settings) -> tuple[Resealed, int]:
    """Seal everything anew with the newest key; return what was done, and how many rows are left under another."""
    async with open_store(settings) as store:
        resealing = Resealing(store.database, assembly.keys(settings).keyring)
        done = await resealing.run()
        left = await resealing.left()
        if left > done.closed:  # written with an older key meanwhile, by a worker that has not been told yet
            again = await resealing.run()
            done = Resealed(done.anew + again.anew, again.closed)
            left = await resealing.left()
    return done, left
