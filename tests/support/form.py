"""Two forms of every promise: a short one in ``make test``, a long one in ``make soak``; both fill one table."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

import pytest

VARIABLE = "PROMISES"  # "long": the long form
PROPERTY = "promise"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Form:
    long: bool

    def pick(self, short: T, long: T) -> T:
        return long if self.long else short


Tell = Callable[[int, str, str], None]


@pytest.fixture(scope="session")
def form() -> Form:
    return Form(os.environ.get(VARIABLE) == "long")


@pytest.fixture
def tell(record_property: Callable[[str, object], None]) -> Tell:
    """``tell(row, promise, figure)``: what was measured, for the table. Call it before the assertions."""

    def told(row: int, promise: str, figure: str) -> None:
        record_property(PROPERTY, json.dumps([row, promise, figure]))

    return told


def table(reports: Iterable[pytest.TestReport]) -> list[str]:
    """The lines that were told, in order, each with whether its test passed."""
    lines = [
        (row, promise, figure, report.outcome)
        for report in reports
        for name, value in report.user_properties
        if name == PROPERTY
        for row, promise, figure in [json.loads(str(value))]
    ]
    return [
        f"{row:>2}  {'kept  ' if outcome == 'passed' else 'BROKEN'}  {promise}: {figure}"
        for row, promise, figure, outcome in sorted(set(lines))
    ]
