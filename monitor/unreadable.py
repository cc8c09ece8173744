"""A stored case that can be read and that nobody can decide about is treated like one that cannot be read.

No code should write such a state; a bad upgrade might. It must stop nobody else's case, and its own deadlines still fall.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import structlog

from alerts.case import Case, begun_anew
from alerts.policy import Policy

_log = structlog.get_logger(__name__)


def instead_of(case: Case, error: Exception, now: datetime, policy: Policy) -> Case:
    """What stands for a case at which ``error`` was raised. Raise it again where the record is not what is wrong."""
    if case.version == 0 or case.begun_anew:
        raise error
    _log.error("case_unreadable", exc_info=error)
    return begun_anew(case, now, policy)


class Instead:
    """What stands for such cases while one batch is decided, as often as that takes."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._cases: dict[str, Case] = {}

    def over(self, stored: Mapping[str, Case]) -> dict[str, Case]:
        """The cases as they were read, but for those. One that somebody wrote meanwhile is another one."""
        return {key: self._standing(key, case) for key, case in stored.items()}

    def add(self, case: Case, error: Exception, now: datetime) -> Case:
        stands = instead_of(case, error, now, self._policy)
        self._cases[case.conversation.key] = stands
        return stands

    def _standing(self, key: str, case: Case) -> Case:
        mine = self._cases.get(key)
        return mine if mine is not None and mine.version == case.version else case
