"""Row 7: two hosts whose clocks are 90 s apart, both of which jump by an hour, and apps whose clocks are hours off.

A crisis that nobody answers pages once, at its deadline by real time; one that is answered pages nobody.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.support.crew import Crew, crew
from tests.support.form import Form, Tell
from tests.support.kafka import Broker
from tests.support.ledger import Ledger, Owed
from tests.support.stream import Said, put
from tests.support.until import until

pytestmark = [pytest.mark.promise, pytest.mark.postgres, pytest.mark.xdist_group("promises")]

DEADLINE = timedelta(seconds=5)
WITHIN = timedelta(seconds=30)
HOUR = 3600.0
APART = -90.0  # the second host's clock
APPS = (timedelta(0), timedelta(hours=-6), timedelta(hours=6))
# How well a busy machine can ask another for the time. What goes wrong here goes wrong by 90 s, an hour, or the deadline.
ROUGHLY = timedelta(seconds=1)


async def test_hosts_and_apps(
    broker: Broker, tmp_path: Path, postgres_url: str, form: Form, tell: Tell
) -> None:
    rounds, crowd = form.pick((3, 30), (40, 60))
    ledger = Ledger()
    async with crew(
        broker,
        tmp_path,
        None,
        postgres_url,
        WATCHING__REPLY_DEADLINE_SECONDS=str(DEADLINE.total_seconds()),
        WATCHING__GRACE_SECONDS="0.5",
    ) as team:
        hosts = [tmp_path / "one", tmp_path / "two"]
        for host, wrong in zip(hosts, (0.0, APART), strict=True):
            host.mkdir()
            _set(host, wrong)
            team.add(STATE_DIR=str(host))
        await team.ready()
        team.hear_into(ledger)
        await asyncio.sleep(2)  # so that both have seen that nothing waits
        jumps = 0
        for number in range(rounds):
            await _crowd(team, ledger, f"round {number}", crowd)
            await asyncio.sleep(1)
            for host, wrong in zip(hosts, (HOUR, APART - HOUR), strict=True):
                _set(host, wrong if number % 2 == 0 else wrong - 2 * HOUR if wrong > 0 else wrong + 2 * HOUR)
                jumps += 1
            await until(lambda: not ledger.missing, WITHIN.total_seconds(), 0.1)
        await asyncio.sleep(DEADLINE.total_seconds())  # what must not ring has time to
        await team.until_settled()
        verdict = ledger.verdict()
        logged = [
            log.read_text(encoding="utf-8").count('"clock_jumped"') for log in sorted(team.logs.iterdir())
        ]
        tell(
            7,
            "clocks jump",
            f"hosts 90 s apart, {jumps} jumps by an hour or two, apps 6 h off: {verdict}, "
            f"{len(verdict.early)} early, {sum(logged)} jumps logged",
        )
        assert verdict.kept
        assert verdict.requests == 0
        assert all(count >= rounds for count in logged), "each jump has a log event at its host"


def _set(host: Path, wrong: float) -> None:
    (host / "clock").write_text(str(wrong), encoding="utf-8")


async def _crowd(team: Crew, ledger: Ledger, name: str, size: int) -> None:
    now = team.clock.now()
    asked = list(_turns(name, size, now, "user", "crisis"))
    team.know(one.conversation for one in asked)
    for one in asked:
        if one.conversation.endswith("dropped"):
            ledger.owe(Owed(one.conversation, now + DEADLINE - ROUGHLY, now + DEADLINE + WITHIN))
    servers = team.broker.bootstrap_servers
    await put(servers, team.topic, asked)
    await asyncio.sleep(2)
    later = now + timedelta(seconds=2)
    caught = (
        one for one in _turns(name, size, later, "assistant", "good") if one.conversation.endswith("caught")
    )
    await put(servers, team.topic, caught)


def _turns(name: str, size: int, now: datetime, role: str, text: str) -> Iterator[Said]:
    """Every other conversation is caught; every app has some of each."""
    for number in range(size):
        fate = "caught" if number % 2 else "dropped"
        app = APPS[number // 2 % len(APPS)]
        yield Said(f"{name} {number} {fate}", role, text, now + app)
