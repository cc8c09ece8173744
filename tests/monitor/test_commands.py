"""What the smaller commands do, on a database of their own."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from alerts.delivery import Answer
from monitor.commands import (
    incident_detail,
    incident_rows,
    incident_table,
    migrate_tables,
    print_detail,
    put,
    review,
    send_test_page,
)
from monitor.crypto.development import development_keys
from monitor.errors import ConfigurationError, JiezhuError
from monitor.settings import Settings, load
from monitor.store.sql import SqlStore
from tests.support.fake_clock import FakeClock
from tests.support.scripted_server import Status
from tests.support.worker import Worker, incident_of, reply, user

RELEASE = "[/7.2] [red]"


@pytest.fixture
def settings(tmp_path: Path, sqlite_url: str) -> Settings:
    return load(
        None,
        {
            "JIEZHU_STATE_DIR": str(tmp_path / "state"),
            "JIEZHU_DATABASE__URL": sqlite_url,
            "JIEZHU_PAGERS__CONSOLE": "true",
        },
    )


@pytest.fixture
async def missed(settings: Settings) -> str:
    """A crisis that nobody caught."""
    store = SqlStore(settings.database_url, development_keys(settings.state_dir).keyring)
    worker = Worker(store, FakeClock())
    await worker.read(
        user("c", "crisis|at night", 0, release=RELEASE), reply("c", "sleep tip|tea", 1, release=RELEASE)
    )
    worker.clock.jump(timedelta(seconds=4))
    await worker.timers.fire(worker.clock.now())
    await store.close()
    return incident_of("c")


async def test_incidents_are_listed(settings, missed):
    (row,) = await incident_rows(settings, open_only=True, limit=10)
    assert (row["incident"], row["state"], row["outcome"]) == (missed, "paging", "unhandled")


async def test_a_release_is_text_and_no_markup(settings, missed, capsys):
    incident_table(await incident_rows(settings, open_only=True, limit=10))
    assert "[/7.2]" in capsys.readouterr().out


async def test_a_key_is_never_cut_and_a_pipe_gets_a_line_an_incident(settings, missed, capsys):
    incident_table(await incident_rows(settings, open_only=True, limit=10))
    head, line = capsys.readouterr().out.splitlines()
    assert head.split()[0] == "incident"
    assert missed in line
    assert f"{RELEASE} (production)" in line


async def test_one_that_cannot_be_read_is_listed_and_marked(settings, missed, capsys):
    store = SqlStore(settings.database_url, development_keys(settings.state_dir).keyring)
    for table in ("incidents", "cases"):
        statement = text(f"UPDATE {table} SET body = ''")
        await store.database.write(lambda c, statement=statement: c.execute(statement))
    await store.close()
    rows = await incident_rows(settings, open_only=True, limit=10)
    assert [(row["incident"], row["unreadable"]) for row in rows] == [(missed, True)]
    incident_table(rows)
    assert "paging (unreadable)" in capsys.readouterr().out
    print_detail(await incident_detail(settings, missed, words=False))
    assert "unreadable: True" in capsys.readouterr().out


async def test_words_that_do_not_open_say_why_beside_the_others(settings, missed, capsys):
    store = SqlStore(settings.database_url, development_keys(settings.state_dir).keyring)
    statement = text("UPDATE excerpts SET sealed = x'00' WHERE role = 'user'")
    await store.database.write(lambda c: c.execute(statement))
    await store.close()
    print_detail(await incident_detail(settings, missed, words=True))
    shown = capsys.readouterr().out
    assert "user: (not a sealed text" in shown
    assert "assistant: sleep tip|tea" in shown


async def test_a_place_without_a_database_does_not_look_calm(tmp_path):
    state = tmp_path / "elsewhere"
    settings = load(None, {"JIEZHU_STATE_DIR": str(state)})
    with pytest.raises(ConfigurationError, match="JIEZHU_STATE_DIR: holds no database"):
        await incident_rows(settings, open_only=True, limit=10)
    assert not state.exists()


async def test_the_words_are_unsealed_only_when_asked_for(settings, missed, capsys):
    plain = await incident_detail(settings, missed, words=False)
    assert "words" not in plain
    detail = await incident_detail(settings, missed, words=True)
    assert [said["text"] for said in detail["words"]] == ["crisis|at night", "sleep tip|tea"]
    assert [step["reason"] for step in detail["timeline"]] == ["opened", "crisis_seen", "unhandled"]
    print_detail(detail)
    assert "sleep tip|tea" in capsys.readouterr().out


def test_what_somebody_wrote_does_not_steer_the_terminal_that_shows_it(capsys):
    """Words come from the app's users: a sign that clears the screen or sets a title is shown, and not obeyed."""
    said = "\x1b]0;title\x07\x1b[2Jone\r\ntwo\x9b2J\u202ethree"
    row = {
        "release": said,
        "track": "production",
        "outcome": None,
        "crisis_turns": 1,
        "acknowledged_by": said,
        "unreadable": False,
    }
    row |= dict.fromkeys(("incident", "state", "level"), "x") | {"opened_at": "2026-11-29T03:00:12"}
    incident_table([row])
    step = {"at": "2026-11-29T03:00:12", "reason": "opened", "state": "watching", "actor": said}
    words = [{"at": "2026-11-29T03:00:12", "role": "user", "text": said}]
    print_detail({"release": said, "timeline": [step], "words": words})
    shown = capsys.readouterr().out
    assert "one\ntwo" in shown
    assert not {"\x1b", "\x07", "\x9b", "\u202e", "\r"} & set(shown)


async def test_acknowledged_then_resolved(settings, missed):
    assert await put(settings, missed, "ack", "anna", None) == f"{missed}: acknowledged"
    assert await put(settings, missed, "ack", "ben", None) == f"{missed}: was acknowledged before"
    assert await put(settings, missed, "resolve", "anna", "true_miss") == f"{missed}: resolved"
    assert await incident_rows(settings, open_only=True, limit=10) == []
    (row,) = await incident_rows(settings, open_only=False, limit=10)
    assert (row["verdict"], row["acknowledged_by"]) == ("true_miss", "anna")


async def test_reviewed_afterwards(settings, missed):
    with pytest.raises(JiezhuError, match="incidents resolve --verdict"):
        await review(settings, missed, "anna", "true_miss")
    await put(settings, missed, "resolve", "anna", None)
    assert await review(settings, missed, "anna", "true_miss") == f"{missed}: true_miss"
    assert await review(settings, missed, "ben", "other") == f"{missed}: was true_miss before"


async def test_an_unknown_incident(settings):
    for ask in (
        put(settings, "nothing", "ack", "anna", None),
        incident_detail(settings, "nothing", words=False),
    ):
        with pytest.raises(JiezhuError, match="incidents list --all"):
            await ask


async def test_an_unknown_verdict_is_asked_wrongly(settings, missed):
    with pytest.raises(ConfigurationError, match="--verdict: must be one of true_miss"):
        await put(settings, missed, "resolve", "anna", "so so")


def test_migrated_once(tmp_path):
    settings = load(None, {"JIEZHU_STATE_DIR": str(tmp_path / "state")})
    assert migrate_tables(settings).startswith("migrated: nothing → ")
    assert migrate_tables(settings).startswith("up to date: ")


def test_a_state_directory_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    settings = load(None, {"JIEZHU_STATE_DIR": str(tmp_path / "file" / "state")})
    with pytest.raises(ConfigurationError, match="JIEZHU_STATE_DIR: cannot be made"):
        migrate_tables(settings)


async def test_a_test_page_says_test_and_what_each_channel_answered(tmp_path, scripted_server):
    scripted_server.script(then=Status(202))
    environ = {
        "JIEZHU_STATE_DIR": str(tmp_path),
        "JIEZHU_PAGERS__WEBHOOK__URL": scripted_server.url,
        "JIEZHU_PAGERS__WEBHOOK__SECRET": "s" * 32,
    }
    ((name, attempt, _),) = await send_test_page(load(None, environ))
    assert (name, attempt.answer) == ("webhook", Answer.ACCEPTED)
    (received,) = scripted_server.requests
    assert received.json()["title"].startswith("TEST")
