"""One runbook an alert, one alert a runbook."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.rules.shipped import alerts
from tests.support.prometheus import RULES

RUNBOOKS = RULES.parents[1] / "runbooks"


def test_one_runbook_an_alert() -> None:
    assert {path.stem for path in RUNBOOKS.glob("*.md")} == {alert["alert"] for alert in alerts()}


@pytest.mark.parametrize("path", sorted(RUNBOOKS.glob("*.md")), ids=lambda path: path.stem)
def test_runbook_has_its_parts(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert re.findall(r"^#+ (.+)$", text, re.MULTILINE) == [
        path.stem,
        "Meaning",
        "Impact",
        "Diagnosis",
        "Mitigation",
    ]
    parts = re.split(r"^## .+$", text, flags=re.MULTILINE)
    assert all(len(part.split()) >= 12 for part in parts[1:]), "a part says too little"
