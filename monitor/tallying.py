"""The tally of a batch, made beside it: whatever goes wrong here, the batch goes on without it and is counted as such."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from datetime import datetime

import structlog

from alerts.case import Advanced
from alerts.incident import Incident
from detectors.reply.repetition import Recent
from monitor.batch import CaseResult
from monitor.tally.cell import Tally
from monitor.tally.making import tally_of, tally_of_decisions, tally_of_review

_log = structlog.get_logger(__name__)


class Tallying:
    """``failed`` is called for each tally that could not be made.

    ``styles`` keys the marks of styles (``monitor.tally.styles``); None where nobody adds them up.
    """

    def __init__(self, failed: Callable[[], None], *, styles: bytes | None = None) -> None:
        self._failed = failed
        self._styles = styles
        self._recent = Recent()

    def of_batch(self, results: Collection[CaseResult], at: datetime) -> Tally | None:
        return self._made(lambda: tally_of(results, at, self._recent.repeats, styles=self._styles))

    def of_decisions(self, advanced: Iterable[Advanced], at: datetime) -> Tally | None:
        return self._made(lambda: tally_of_decisions(advanced, at))

    def of_review(self, incident: Incident, at: datetime) -> Tally | None:
        return self._made(lambda: tally_of_review(incident, at))

    def forget(self, pseudonyms: Collection[str]) -> None:
        self._recent.forget(frozenset(pseudonyms))

    def _made(self, make: Callable[[], Tally]) -> Tally | None:
        try:
            return make() or None
        except Exception as error:  # noqa: BLE001 - a figure is never worth a batch
            self._failed()
            _log.error("tally_failed", exc_info=error)
            return None
