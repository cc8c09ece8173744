"""``jiezhu erase`` and ``jiezhu rotate-keys``: who is named stands in no line of theirs, and they can be run again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from monitor.cli import app
from monitor.crypto.keyring import Keyring
from monitor.errors import ConfigurationError, JiezhuError, KeyMissing
from monitor.keeping_commands import erase, rotate
from monitor.settings import Settings, load
from monitor.store.sql import SqlStore
from monitor.store.work import CaseWrite, DeadLetter, Excerpt, Work
from tests.support.cases import NOW, PARTITION, a_streaming_case

NEW, OLD = "A" * 43 + "=", "B" * 43 + "="
PSEUDONYM = "C" * 43 + "="
ID = "conversation-of-somebody"


def settings(tmp_path: Path, url: str, seal: str) -> Settings:
    return load(
        None,
        {
            "JIEZHU_STATE_DIR": str(tmp_path / "state"),
            "JIEZHU_DATABASE__URL": url,
            "JIEZHU_PAGERS__CONSOLE": "true",
            "JIEZHU_KEYS__SEAL": seal,
            "JIEZHU_KEYS__PSEUDONYM": PSEUDONYM,
        },
    )


def work(number: int) -> Work:
    return Work(
        cases=[CaseWrite(a_streaming_case(f"c-{number}", "words", "more"), PARTITION, None)],
        excerpts=[Excerpt("jz-1-1", f"e-{number}-{n}", "user", NOW, "words") for n in range(3)],
        dead_letters=[DeadLetter(PARTITION, number, "not_json", NOW, b"payload")],
    )


async def readable(url: str, seal: str, cases: int) -> bool:
    """Everything opens with these keys."""
    store = SqlStore(url, Keyring.parse(seal))
    try:
        found = await store.cases([f"c-{number}" for number in range(cases)])
        words = {row.text for row in await store.excerpts("jz-1-1")}
    except KeyMissing:
        return False
    finally:
        await store.close()
    opened = [case for case in found.values() if any(entry.pieces for entry in case.conversation.entries)]
    return len(opened) == cases and words == {"words"}


async def test_everything_is_sealed_anew_and_the_old_key_can_go(url, tmp_path):
    store = SqlStore(url, Keyring.parse(f"old:{OLD}"))
    for number in range(150):  # more than is sealed anew at once
        await store.commit(work(number))
    await store.close()
    done, left = await rotate(settings(tmp_path, url, f"new:{NEW},old:{OLD}"))
    assert (done.anew, done.closed, left) == (150 * 5, 0, 0)
    assert await readable(url, f"new:{NEW}", 150)
    assert not await readable(url, f"old:{OLD}", 150)
    done, left = await rotate(settings(tmp_path, url, f"new:{NEW}"))
    assert (done.anew, left) == (0, 0)


async def test_what_has_no_key_is_told_of_and_left(url, tmp_path):
    store = SqlStore(url, Keyring.parse(f"lost:{OLD}"))
    await store.commit(work(0))
    await store.close()
    done, left = await rotate(settings(tmp_path, url, f"new:{NEW}"))
    assert (done.anew, done.closed, left) == (0, 5, 5)
    assert await readable(url, f"lost:{OLD}", 1)


async def test_nobody_named_is_nobody_erased(url, tmp_path):
    given = settings(tmp_path, url, f"new:{NEW}")
    with pytest.raises(JiezhuError, match="nobody is named"):
        await erase(given, "user", ["", " "], "li")
    with pytest.raises(ConfigurationError, match="--kind"):
        await erase(given, "person", ["x"], "li")


async def test_dead_letters_that_do_not_open_are_counted(url, tmp_path):
    store = SqlStore(url, Keyring.parse(f"lost:{OLD}"))
    await store.commit(work(0))
    await store.close()
    done = await erase(settings(tmp_path, url, f"new:{NEW}"), "conversation", [ID], "li")
    assert (done.dead_letters, done.closed_letters, len(done.proofs)) == (0, 1, 1)


@pytest.fixture
def environment(tmp_path: Path, sqlite_url: str) -> dict[str, str]:
    return {
        "JIEZHU_STATE_DIR": str(tmp_path / "state"),
        "JIEZHU_DATABASE__URL": sqlite_url,
        "JIEZHU_PAGERS__CONSOLE": "true",
    }


def test_the_command_names_nobody(environment):
    said = CliRunner().invoke(
        app, ["erase", "--kind", "user", "--by", "li", "--json"], input=f"{ID}\n", env=environment
    )
    assert said.exit_code == 0, said.output
    told = json.loads(said.stdout)
    assert (told["held"], told["rows"], len(told["proofs"])) == (0, {}, 1)
    assert ID not in said.output


def test_ids_in_another_encoding_are_no_proof(environment):
    said = CliRunner().invoke(
        app, ["erase", "--kind", "user", "--by", "li"], input=ID.encode("utf-16"), env=environment
    )
    assert said.exit_code != 0
    assert "not UTF-8" in str(said.exception)
    assert "proof" not in said.output


def test_ids_are_not_taken_from_the_command_line(environment):
    said = CliRunner().invoke(app, ["erase", "--kind", "user", "--by", "li", ID], env=environment)
    assert said.exit_code != 0
    assert "cannot be read" in str(said.exception)
    assert ID not in str(said.exception)


def test_rotating_says_what_is_left(environment):
    said = CliRunner().invoke(app, ["rotate-keys"], env=environment)
    assert said.exit_code == 0, said.output
    assert "0 are left" in said.output
