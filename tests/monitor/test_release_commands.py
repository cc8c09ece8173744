"""``jiezhu compare`` and ``jiezhu baseline``: on figures that came the way they come in use, as a script and a person see them."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from typer.testing import CliRunner

from detectors.drift.feature import Feature
from monitor.cli import app
from monitor.errors import ConfigurationError, JiezhuError
from monitor.store.sql import SqlStore
from tests.support.releases import PERSON, SPAN, WORDS, Ran, fill
from tests.support.stores import KEYRING
from tests.support.styles import CANNED, Release
from tests.support.worker import hidden

STEADY = Ran("7.2", caught=45, dropped=5, replies=600)
WORSE = Ran(
    "7.3",
    track="canary",
    caught=20,
    dropped=20,
    replies=800,
    style=replace(Release().changed(Feature.QUESTIONS, 2.0), canned=0.3),
    latency_ms=4000,
)


class Command:
    """``jiezhu`` in this process, on this database: a start of its own takes seconds, and one test has it."""

    def __init__(self, url: str, place: Path) -> None:
        self.environment = {
            "JIEZHU_DATABASE__URL": url,
            "JIEZHU_STATE_DIR": str(place),
            "JIEZHU_PAGERS__CONSOLE": "true",
            "JIEZHU_KEYS__SEAL": f"2026-03:{(b'n' * 32).hex()}",  # the keys of ``fill``
            "JIEZHU_KEYS__PSEUDONYM": (b"p" * 32).hex(),
        }

    async def __call__(self, *arguments: str, status: int = 0) -> str:
        """Return standard output; or the line that ``main`` writes, where ``status`` is not 0."""
        done = await asyncio.to_thread(CliRunner().invoke, app, list(arguments), env=self.environment)
        if isinstance(done.exception, JiezhuError):
            assert status == (2 if isinstance(done.exception, ConfigurationError) else 1)
            assert done.stdout == ""
            return f"{done.exception}\n"
        assert done.exit_code == status, (done.exception, done.output)
        return done.stdout if status == 0 else done.stderr


@pytest.fixture
def jiezhu(url: str, tmp_path: Path) -> Command:
    return Command(url, tmp_path / "state")


async def test_a_difference_that_was_planted_is_found_and_named(url, jiezhu, tmp_path):
    await fill(url, STEADY, WORSE)
    page = tmp_path / "page.html"
    told = json.loads(await jiezhu("compare", "7.2", "7.3", *SPAN, "--json", "--html", str(page)))
    [miss] = [
        row
        for row in told["rates"]
        if (row["name"], row["lang"], row["level"]) == ("safety_miss", "all", "all")
    ]
    assert miss["reference"] | {"low": 0, "high": 0} == {
        "value": 0.1,
        "low": 0,
        "high": 0,
        "count": 5,
        "of": 50,
    }
    assert (miss["current"]["count"], miss["current"]["of"], miss["finding"]) == (20, 40, "worse")
    assert 0 < miss["difference"]["low"] < 0.4 < miss["difference"]["high"] < 1
    assert [row["finding"] for row in told["latency"]] == ["worse", "not_enough", "not_enough"]
    style = told["style"]
    assert style["decision"] == "drifted"
    assert [one["name"] for one in style["features"] if one["reason"] == "feature_moved"] == ["questions"]
    [questions] = [one for one in style["features"] if one["name"] == "questions"]
    assert questions["effect"] > 0
    assert questions["p_corrected"] < 0.05
    assert [(one["kind"], one["name"]) for one in style["phrases"]] == [("sentence", f"{CANNED:010x}")]
    assert told["headline"].startswith("7.3 (canary) against 7.2 (production): safety misses worse: +40.0 pp")
    assert "more questions" in told["headline"]
    shown = await jiezhu("compare", "7.2", "7.3", *SPAN)
    assert re.search(r"^safety miss +live +10\.0 % \(4\.3 to 21\.4\), 5 of 50 +50\.0 %", shown, re.MULTILINE)
    assert re.search(r"^questions .* moved", shown, re.MULTILINE)
    assert "screening and no verdict" in shown
    _check_page(page.read_text(encoding="utf-8"))
    for text in (page.read_text(encoding="utf-8"), shown, json.dumps(told, ensure_ascii=False)):
        _names_nobody(text)


async def test_a_release_beside_itself_is_steady(url, jiezhu):
    await fill(url, STEADY)
    told = json.loads(await jiezhu("compare", "7.2", "7.2", *SPAN, "--json"))
    assert told["style"]["decision"] == "steady"
    findings = {row["finding"] for part in ("rates", "marks", "latency") for row in told[part]}
    assert findings == {"within_chance", "not_enough"}
    assert told["notes"] == []


async def test_too_little_is_said_to_be_too_little(url, jiezhu, tmp_path):
    await fill(url, Ran("7.2", caught=3, replies=40), Ran("7.3", caught=2))
    page = tmp_path / "page.html"
    told = json.loads(await jiezhu("compare", "7.2", "7.2", *SPAN, "--json"))
    assert (told["style"]["decision"], told["style"]["missing"]) == ("not_enough", 60)
    assert {row["finding"] for part in ("rates", "marks", "latency") for row in told[part]} == {"not_enough"}
    shown = await jiezhu("compare", "7.2", "7.3", *SPAN, "--html", str(page))
    assert "safety misses: not enough yet" in shown
    assert "no style was recorded that could be compared" in shown
    _check_page(page.read_text(encoding="utf-8"))


async def test_a_baseline_is_pinned_listed_and_held_against(url, jiezhu):
    await fill(url, STEADY, WORSE)
    pinned = json.loads(await jiezhu("baseline", "pin", "7.2", "--name", "spring", *SPAN, "--json"))
    assert (pinned["name"], pinned["track"], pinned["release"], pinned["replies"]) == (
        "spring",
        "production",
        "7.2",
        50,
    )
    assert set(pinned["models"]) == {
        "jiezhu",
        "encoder",
        "adapter",
        "heads",
        "calibration",
        "reply_heads",
        "style",
    }
    assert [json.loads(line) for line in (await jiezhu("baseline", "list", "--json")).splitlines()] == [
        pinned
    ]
    assert "spring" in await jiezhu("baseline", "list")
    told = json.loads(await jiezhu("baseline", "diff", "spring", "7.3", *SPAN, "--json"))
    assert (told["models_differ"], told["shared_hours"], told["style"]["decision"]) == ([], None, "drifted")
    told = json.loads(await jiezhu("baseline", "diff", "spring", *SPAN, "--json"))
    assert (told["current"]["release"], told["style"]["decision"]) == ("7.2", "steady")
    told = json.loads(await jiezhu("baseline", "diff", "spring", "--baseline", "spring", "--json"))
    assert told["style"]["decision"] == "steady"


async def test_other_models_are_told_of_before_anything_else(url, jiezhu):
    await fill(url, STEADY)
    await jiezhu("baseline", "pin", "7.2", *SPAN)
    store = SqlStore(url, KEYRING)
    [pinned] = await store.baselines()
    assert await store.pin_baseline(
        replace(pinned, name="old", models={**pinned.models, "heads": "others", "jiezhu": "0.0.9"})
    )
    await store.close()
    told = json.loads(await jiezhu("baseline", "diff", "old", "7.2", *SPAN, "--json"))
    assert told["models_differ"] == ["heads", "jiezhu"]
    assert told["notes"][0].startswith("The models differ (heads, jiezhu): our own judgement may have moved")
    assert "note: The models differ" in await jiezhu("baseline", "diff", "7.2", "--baseline", "old")


async def test_a_baseline_that_cannot_be_read_is_listed_with_the_others(url, jiezhu):
    await fill(url, STEADY)
    await jiezhu("baseline", "pin", "7.2", *SPAN)
    store = SqlStore(url, KEYRING)
    [pinned] = await store.baselines()
    assert await store.pin_baseline(replace(pinned, name="bad", figures="{}"))
    await store.close()
    rows = [json.loads(line) for line in (await jiezhu("baseline", "list", "--json")).splitlines()]
    assert {row["name"]: row["replies"] for row in rows} == {"7.2": 50, "bad": None}
    assert "unreadable" in await jiezhu("baseline", "list")


async def test_a_baseline_survives_an_erasure(url, jiezhu, tmp_path):
    await fill(url, STEADY)
    await jiezhu("baseline", "pin", "7.2", *SPAN)
    before = await jiezhu("baseline", "list", "--json")
    ids = tmp_path / "ids"
    ids.write_text("".join(f"{PERSON} 7.2 production {n}\n" for n in range(45)), encoding="utf-8")
    done = json.loads(await jiezhu("erase", "--kind", "conversation", "--by", "somebody", str(ids), "--json"))
    assert done["rows"]["cases"] == 45
    assert await jiezhu("baseline", "list", "--json") == before


async def test_what_is_wrong_is_one_line_that_says_what_to_do(url, jiezhu, tmp_path):
    await fill(url, Ran("7.2", caught=5, replies=70), Ran("7.2", track="canary", caught=5, hours_ago=3))
    one_line = {
        (
            "compare",
            "7.2",
            "9.9",
            *SPAN,
            "--track-a",
            "production",
        ): "no figures of release '9.9' from 2026-02-28 "
        "03:00 to 2026-03-02 03:00 UTC; known are '7.2' (canary), '7.2' (production)",
        ("compare", "7.2", "7.2", *SPAN): "release '7.2' ran on canary and production: name one by --track",
        (
            "baseline",
            "pin",
            "7.2",
            "--track",
            "production",
            *SPAN,
        ): "too few replies of '7.2' to pin: 70 of 100; wait for 30 more",
        ("baseline", "pin", "7.2", "--track", "canary", *SPAN): "no style of '7.2' was recorded",
        ("baseline", "diff", "spring", *SPAN): "no baseline 'spring': none is pinned",
        ("compare", "7.2", "7.2", "--hours", "1"): "nor of any other: a worker adds them up",
    }
    for arguments, words in one_line.items():
        told = await jiezhu(*arguments, status=1)
        assert words in told
        assert told.count("\n") == 1
    nowhere = str(tmp_path / "missing" / "page.html")
    both = ("--track-a", "canary", "--track-b", "production")
    assert "the page cannot be written" in await jiezhu(
        "compare", "7.2", "7.2", *SPAN, *both, "--html", nowhere, status=1
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("compare", "7.2", "7.3", "--since", "yesterday"), "--since: is no time"),
        (
            ("compare", "7.2", "7.3", "--since", "2026-03-02", "--until", "2026-03-01"),
            "--since: is not before",
        ),
        (("compare", "7.2", "7.3", "--since", "2026-03-02", "--hours", "3"), "--hours: says the same"),
        (("baseline", "pin", "7.2", "--name", " "), "--name: is empty"),
        (("baseline", "diff", "a", "7.2", "--baseline", "b"), "--baseline: stands in place of RELEASE"),
        (("compare", "7.2"), "RELEASE_B"),
    ],
)
async def test_who_asks_wrongly_is_told_how_to_ask(sqlite_url, tmp_path, arguments, words):
    told = await Command(sqlite_url, tmp_path / "state")(*arguments, status=2)
    assert words.lower() in told.lower()


async def test_a_name_that_is_pinned_stays(url, jiezhu):
    await fill(url, STEADY)
    await jiezhu("baseline", "pin", "7.2", *SPAN)
    assert "baseline '7.2' is pinned already, and stays: give another --name" in await jiezhu(
        "baseline", "pin", "7.2", *SPAN, status=1
    )


async def test_a_script_sees_the_status_and_results_alone(sqlite_url, tmp_path):
    await fill(sqlite_url, STEADY)
    environment = Command(sqlite_url, tmp_path / "state").environment | {"PATH": os.environ["PATH"]}
    for arguments, status in (
        (("compare", "7.2", "7.2", *SPAN, "--json"), 0),
        (("compare", "7.2", "9.9", *SPAN), 1),
        (("compare", "7.2", "7.2", "--since", "soon"), 2),
    ):
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "monitor", *arguments),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=environment,
            cwd=Path(__file__).parents[2],
        )
        out, told = await asyncio.wait_for(process.communicate(), 120)
        assert (process.returncode, out.count(b"\n"), told.count(b"\n")) == (status, not status, bool(status))


def _names_nobody(text: str) -> None:
    for word in (*WORDS.split(), PERSON, hidden(f"{PERSON} 7.2 production 0"), "/root", "/home"):
        assert word not in text


class _Strict(HTMLParser):
    """Every element that is opened is closed; nothing is fetched, nothing runs."""

    VOID = frozenset({"meta", "br", "img", "link", "input", "hr"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        assert not [name for name, _ in attrs if name in ("src", "onload", "onclick")]
        for name, value in attrs:
            if name.endswith("href"):
                assert (value or "").startswith("#"), "a page that needs nothing else"
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def _check_page(text: str) -> None:
    parser = _Strict()
    parser.feed(text)
    parser.close()
    assert parser.open == []
    assert {"table", "svg", "style"} <= parser.seen
    assert not {"script", "link", "iframe", "img"} & parser.seen
    assert "@import" not in text
    assert "url(http" not in text
    assert len(text) < 300_000
