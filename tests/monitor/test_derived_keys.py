"""Keys that are derived from the pseudonyms' key cannot be read from a pseudonym that stands in the database."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from alerts.canary import Canary
from monitor import assembly
from monitor.canary_event import CanaryMark
from monitor.crypto.pseudonym import Kind, Pseudonymiser
from monitor.settings import Settings, load
from monitor.styling import PURPOSE as SENTENCES
from monitor.tally.styles import PURPOSE as MARKS

PSEUDONYM, SEAL = "C" * 43 + "=", "first:" + "A" * 43 + "="
PSEUDONYMISER = Pseudonymiser.parse(PSEUDONYM)
# What a producer may send as an event's id, if it knows how keys are named here.
NAMES = (
    "jiezhu link key",
    "jiezhu canary key",
    "links",
    "canary",
    SENTENCES,
    MARKS,
    "link",
    "",
    "key\0links",
    "\0links",
)
CANARY = Canary(1_000, 0)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load(
        None,
        {
            "JIEZHU_STATE_DIR": str(tmp_path),
            "JIEZHU_PAGERS__CONSOLE": "true",
            "JIEZHU_KEYS__PSEUDONYM": PSEUDONYM,
            "JIEZHU_KEYS__SEAL": SEAL,
        },
    )


@pytest.mark.parametrize("kind", Kind)
def test_no_pseudonym_tells_a_key(kind, settings):
    links = assembly.keys(settings).links
    canary = assembly.canary_mark(settings, PSEUDONYMISER).events(CANARY)
    for name in NAMES:
        pseudonym = PSEUDONYMISER.pseudonym(kind, name)
        guess = hashlib.sha256(pseudonym.encode()).digest()
        assert links != guess
        assert pseudonym not in links.hex()
        assert canary != CanaryMark(guess, PSEUDONYMISER).events(CANARY)


def test_each_purpose_has_a_key_of_its_own_and_always_the_same():
    keys = [
        *(PSEUDONYMISER.key(purpose) for purpose in ("links", "canary", SENTENCES, MARKS)),
        PSEUDONYMISER.sketch_key,
    ]
    assert len({*keys}) == 5
    assert {len(key) for key in keys} == {32}
    assert keys[:2] == [Pseudonymiser.parse(PSEUDONYM).key(purpose) for purpose in ("links", "canary")]
