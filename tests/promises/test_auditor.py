"""Row 20: an outbox row, a deadline, an incident are deleted by hand: found within a period, and it pages."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from monitor.store.url import parse
from tests.support.crew import Crew, crew
from tests.support.form import Form, Tell
from tests.support.kafka import Broker
from tests.support.ledger import Ledger, owe_all
from tests.support.stream import Said, exchange, put
from tests.support.until import until

pytestmark = [pytest.mark.promise, pytest.mark.xdist_group("promises")]

DELETED = {
    "page_missing": "DELETE FROM outbox WHERE incident = '{incident}'",
    "deadline_missing": "UPDATE cases SET wake_at = NULL WHERE conversation LIKE '{person}%'",
    "incident_missing": "DELETE FROM incidents WHERE key = '{incident}'",
}
DEADLINE = 3.0  # seconds for a reply


async def test_deleted_by_hand(broker: Broker, tmp_path: Path, url: str, form: Form, tell: Tell) -> None:
    period, rounds = form.pick((12, 1), (60, 10))
    slowest, found = timedelta(0), 0
    async with crew(
        broker,
        tmp_path,
        None,
        url,
        WATCHING__GRACE_SECONDS="0.2",
        WATCHING__REPLY_DEADLINE_SECONDS=str(DEADLINE),
        AUDIT__PERIOD_SECONDS=str(period),
    ) as team:
        team.add()
        await team.ready()
        ledger = Ledger()
        team.hear_into(ledger)
        for number in range(rounds):
            people = {gap: f"{gap} {number}" for gap in DELETED}
            team.know(people.values())
            now = team.clock.now()
            owe_all(ledger, people.values(), now, timedelta(seconds=3 * period))
            await put(team.broker.bootstrap_servers, team.topic, _said(people, now))
            before = len(team.pages())
            await _open(team, people)
            deleted_at = team.clock.now()
            _delete(team, people)
            await until(lambda: _calls(team, before) >= set(DELETED), period + 30, 0.05)  # noqa: B023
            for ring in team.pages()[before:]:
                if "records" in ring.key:
                    slowest, found = max(slowest, ring.at - deleted_at), found + 1
            await until(lambda: not ledger.missing, 2 * period, 0.1)
            again = [ring for ring in team.pages() if ring.content["reason"] == "gap_found"]
            assert {team.conversation(ring) for ring in again} >= {people["page_missing"]}
        verdict = ledger.verdict()
        tell(
            20,
            f"deleted by hand ({url.partition(':')[0]})",
            f"{rounds} each of {len(DELETED)} kinds, found and paged within {slowest.total_seconds():.1f} s of a "
            f"period of {period} s, {verdict.owed} people in danger, {len(verdict.lost)} lost",
        )
        assert not verdict.lost
        assert slowest <= timedelta(seconds=period)
        assert all("unknown" not in crisis or "jz-records" in crisis for crisis in verdict.unexpected)


def _said(people: dict[str, str], now: datetime) -> list[Said]:
    said: list[Said] = []
    for gap, person in people.items():
        if gap == "deadline_missing":
            said.append(Said(person, "user", "crisis", now))
        else:
            said += exchange(person, "crisis", "sleep tip", now)
    return said


async def _open(team: Crew, people: dict[str, str]) -> None:
    """Whoever was let down was rung; the other's deadline stands."""
    rung = {person for gap, person in people.items() if gap != "deadline_missing"}
    await until(lambda: rung <= team.rung().keys(), 30, 0.02)
    waits = team.hidden(people["deadline_missing"])
    await until(
        lambda: bool(team.rows(f"SELECT 1 FROM cases WHERE conversation = '{waits}'")),
        30,
        0.02,
    )


def _delete(team: Crew, people: dict[str, str]) -> None:
    engine = create_engine(parse(team.database))
    with engine.begin() as connection:
        for gap, person in people.items():
            hidden = team.hidden(person)
            values = {"incident": f"jz-{hidden[:20]}-1", "person": hidden}
            done = connection.execute(text(DELETED[gap].format(**values)))
            assert done.rowcount, gap
    engine.dispose()


def _calls(team: Crew, since: int) -> set[str]:
    """Kinds of gaps that somebody was called for."""
    return {
        gap
        for ring in team.pages()[since:]
        if "records" in ring.key
        for gap in str(ring.content["reason"]).split(", ")
    }
