"""Row 21: keys are rotated under load; a subject is erased while events arrive; records end by age."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from pathlib import Path

import pytest

from monitor.crypto.keyring import Keyring
from monitor.errors import KeyMissing
from monitor.keeping_commands import erase, rotate
from monitor.settings import Settings, load
from monitor.store.sql import SqlStore
from tests.support.crew import Crew, crew
from tests.support.form import Form, Tell
from tests.support.kafka import Broker
from tests.support.ledger import Ledger, owe_all
from tests.support.stream import Said, exchange, put
from tests.support.until import until

pytestmark = [pytest.mark.promise, pytest.mark.xdist_group("promises")]

OLD, NEW = "old:" + "A" * 43 + "=", "new:" + "B" * 43 + "="
TABLES = ("cases", "incidents", "findings", "audit", "outbox", "excerpts", "dead_letters", "erasures")
PERSON = "a person who wants to be forgotten"
TALKS = tuple(f"talk {number} of a person to forget" for number in range(3))
GONE = timedelta(seconds=60)


async def test_rotated_under_load_and_erased_while_events_arrive(
    broker: Broker, tmp_path: Path, new_database: Callable[[], str], form: Form, tell: Tell
) -> None:
    seconds, rotations = form.pick((2, 1), (60, 5))
    ledger = Ledger()
    async with crew(
        broker,
        tmp_path,
        None,
        new_database(),
        WATCHING__GRACE_SECONDS="0.2",
        DATABASE__TIMEOUT_SECONDS="8",
    ) as team:
        first = team.add(KEYS__SEAL=f"{OLD},{NEW}")  # it opens the next key already
        await team.ready()
        team.hear_into(ledger)
        async with _load(team, ledger) as sent:
            await until(lambda: _sealed(team) > 20, 60, 0.1)
            team.add(KEYS__SEAL=f"{NEW},{OLD}")
            await team.ready()
            await asyncio.to_thread(first.stop)
            rows = 0
            for _ in range(rotations):
                await asyncio.sleep(seconds)
                done, _ = await rotate(_settings(team, f"{NEW},{OLD}"))
                rows += done.anew
            gone, kept = await _forget(team, sent)
        await team.until_all_read(sum(sent), within=60)
        await until(lambda: not ledger.missing, 30, 0.1)
        _, left = await rotate(_settings(team, f"{NEW},{OLD}"))
        with_new, with_old = await _readable(team, NEW), await _readable(team, OLD)
        verdict = ledger.verdict()
        tell(
            21,
            f"keys under load ({team.database.partition(':')[0]})",
            f"{rotations} rotations while {sum(sent)} events came, {rows} rows sealed anew, {left} left under the old "
            f"key, {with_new[0]} of {with_new[1]} open with the new key, {with_old[0]} with the old; {verdict}",
        )
        tell(
            21,
            f"a subject erased while events arrive ({team.database.partition(':')[0]})",
            f"{len(TALKS)} conversations, gone from {len(TABLES)} tables {gone.total_seconds():.1f} s after their last "
            f"event, proof rows {kept}",
        )
        assert rows > 0
        assert left == 0
        assert with_new[0] == with_new[1] > 0
        assert with_old[0] == 0
        assert gone <= GONE
        assert kept == 1
        assert not verdict.lost | verdict.duplicates


async def _forget(team: Crew, sent: list[int]) -> tuple[timedelta, int]:
    """Erase somebody who goes on talking for a while; return how long what came of it stayed, and the proofs."""
    facts = (("user_ref", PERSON),)

    def said(number: int) -> list[Said]:
        now = team.clock.now()
        return [
            Said(one.conversation, one.role, one.text, one.at, number, facts)
            for talk in TALKS
            for one in exchange(talk, "crisis" if number % 2 else "hello", "good", now)
        ]

    servers, topic = team.broker.bootstrap_servers, team.topic
    sent.append(await put(servers, topic, [one for number in range(3) for one in said(number)]))
    await team.broker.send(topic, f'{{"user_ref": "{PERSON}", "conversation_id": "{TALKS[0]}", "te'.encode())
    sent.append(1)
    await until(lambda: len(_traces(team)) >= 5, 30, 0.05)
    done = asyncio.create_task(erase(_settings(team, f"{NEW},{OLD}"), "user", [PERSON], "somebody"))
    for number in range(3, 7):
        sent.append(await put(servers, topic, said(2 * number)))
        await asyncio.sleep(0.5)
    last = team.clock.now()
    result = await done
    await until(lambda: _traces(team) == [], 90, 0.1)
    gone = team.clock.now() - last
    assert result.dead_letters == 1
    done_by = "SELECT detail FROM erasures WHERE done_at IS NOT NULL"
    await until(
        lambda: bool(team.rows(done_by)), GONE.total_seconds(), 0.1
    )  # pagers hear first that it is over
    proofs = team.rows(done_by)
    assert all('"cases"' in str(row) for row in proofs)
    return gone, len(proofs)


def _traces(team: Crew) -> list[str]:
    """Tables that know the person or one of the conversations."""
    names = [team.hidden(talk) for talk in TALKS]
    parts = [*names, *(name[:20] for name in names), PERSON, *TALKS]
    return [
        table
        for table in TABLES
        if table != "dead_letters" and any(_holds(row, parts) for row in team.rows(f"SELECT * FROM {table}"))
    ]


def _holds(row: tuple[object, ...], parts: list[str]) -> bool:
    content = str(row)
    return any(part in content for part in parts)


@contextlib.asynccontextmanager
async def _load(team: Crew, ledger: Ledger) -> AsyncIterator[list[int]]:
    """Talk, streams that are not whole yet, crises that are dropped, and records that nobody can read."""
    sent: list[int] = []
    stop = asyncio.Event()

    async def talk() -> None:
        number = 0
        while not stop.is_set():
            now = team.clock.now()
            dropped = f"load {number} dropped"
            team.know([dropped])
            owe_all(ledger, [dropped], now, timedelta(seconds=90))
            said = [*exchange(dropped, "crisis|words", "sleep tip|words", now)]
            said += exchange(f"load {number}", "hello|words", "chat|words", now)
            piece = (("message_id", f"m {number}"), ("final", False))
            said.append(Said(f"load {number}", "assistant", "words", now, 99, piece))
            sent.append(await put(team.broker.bootstrap_servers, team.topic, said))
            await team.broker.send(team.topic, f"words that nobody can read {number}".encode())
            sent.append(1)
            number += 1
            await asyncio.sleep(0.1)

    task = asyncio.create_task(talk())
    try:
        yield sent
    finally:
        stop.set()
        await task


def _sealed(team: Crew) -> int:
    [(count,)] = team.rows(
        "SELECT (SELECT count(*) FROM excerpts) + (SELECT count(*) FROM dead_letters)"
        " + (SELECT count(*) FROM cases WHERE sealed IS NOT NULL)"
    )
    return int(count)


async def _readable(team: Crew, seal: str) -> tuple[int, int]:
    """Of all that is sealed, how many rows open with these keys."""
    keyring = Keyring.parse(seal)
    store = SqlStore(team.database, keyring)
    opened = total = 0
    for (incident,) in team.rows("SELECT DISTINCT incident FROM excerpts"):
        total += 1
        with contextlib.suppress(KeyMissing):
            opened += bool(await store.excerpts(str(incident)))
    for (conversation,) in team.rows("SELECT conversation FROM cases WHERE sealed IS NOT NULL"):
        total += 1
        (case,) = (await store.cases([str(conversation)])).values()
        opened += any(entry.pieces for entry in case.conversation.entries)
    for topic, number, position, sealed in team.rows(
        "SELECT topic, number, position, sealed FROM dead_letters"
    ):
        total += 1
        with contextlib.suppress(KeyMissing):
            opened += bool(keyring.open(bytes(sealed), f"dead_letter:{topic}:{number}:{position}"))
    await store.close()
    return opened, total


def _settings(team: Crew, seal: str) -> Settings:
    given = {f"JIEZHU_{name}": value for name, value in team.common.items()}
    return load(None, given | {"JIEZHU_KEYS__SEAL": seal, "JIEZHU_PAGERS__CONSOLE": "true"} | _NO_WEBHOOK)


_NO_WEBHOOK = {"JIEZHU_PAGERS__WEBHOOK__URL": "http://127.0.0.1:9/pages"}
