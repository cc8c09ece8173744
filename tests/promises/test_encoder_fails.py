"""Row 13: the encoder hangs, raises, gives NaN or runs out of memory, one after the other, in a whole worker.

Plain words page within the deadline of who may act at any moment; the pages say that phrases alone decided, and
nobody in no danger is paged for. Then the engine is well again, and the worker gets it back by itself.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from alerts.policy import Policy
from tests.support.crew import Crew, crew, get, until_health
from tests.support.form import Form, Tell
from tests.support.kafka import Broker
from tests.support.ledger import Ledger, owe_all
from tests.support.moody import Mood
from tests.support.stream import Said, exchange, put
from tests.support.talk import DROPPED, QUIET
from tests.support.until import until

pytestmark = [pytest.mark.promise, pytest.mark.xdist_group("promises")]

WITHIN = Policy().imminent_reply_deadline
PLAIN = [talk for talk in DROPPED if "would be better off" not in talk[1]]  # that one is quieter
FAILURES = (Mood.HANGS, Mood.RAISES, Mood.NAN, Mood.MEMORY)


async def test_every_failure_in_turn(
    broker: Broker, tmp_path: Path, sqlite_url: str, form: Form, tell: Tell
) -> None:
    rounds = form.pick(1, 10)
    ledger = Ledger()
    async with crew(
        broker, tmp_path, None, sqlite_url, ENCODER__PATIENCE_SECONDS="2", WATCHING__GRACE_SECONDS="0.5"
    ) as team:
        team.hear_into(ledger)
        sent = 0
        figures: list[dict[str, float]] = []  # of each worker
        for number in range(rounds):
            # A hang is for good, and a process holds but few such engines (``Patience.hanging``) before a supervisor is to
            # start it anew; here that is after each round.
            worker = team.add()
            await worker.wait_ready()
            for mood in FAILURES:
                (team.state / "engine").write_text(mood.value, encoding="utf-8")
                sent += await _crowd(team, ledger, f"{number} {mood}")
                await until(lambda: not ledger.missing, WITHIN.total_seconds() + 5, 0.1)
                (team.state / "engine").write_text(Mood.WELL.value, encoding="utf-8")
                await until_health(worker, lambda health: health["status"] == "ok", 60)
            if number + 1 < rounds:
                await team.until_all_read(sent)
                figures.append(await _figures(worker.url))
                assert await asyncio.to_thread(worker.stop) == 0, "or a hanging engine keeps its process"
        unmarked = [
            team.conversation(ring)
            for ring in team.pages()
            if ring.content["degraded_by"] != ["encoder_failing"]
        ]
        well = list(exchange("afterwards", "crisis", "sleep tip", team.clock.now()))
        team.know(["afterwards"])
        owe_all(ledger, ["afterwards"], team.clock.now(), WITHIN)
        sent += await put(team.broker.bootstrap_servers, team.topic, well)
        await until(lambda: not ledger.missing, WITHIN.total_seconds() + 5, 0.1)
        await team.until_all_read(sent)
        await team.until_settled()
        verdict = ledger.verdict()
        figures.append(await _figures(worker.url))
        by_phrases = sum(one["jiezhu_degraded_turns_total"] for one in figures)
        failed = sum(one["jiezhu_scorer_failures_total"] for one in figures)
        tell(
            13,
            "the encoder fails",
            f"{rounds} × {', '.join(FAILURES)}: {verdict}, {len(unmarked)} not marked, latest "
            f"{verdict.latest and verdict.latest.total_seconds():.1f} s, {by_phrases:.0f} turns by phrases, "
            f"{failed:.0f} batches for the ticket",
        )
        assert verdict.kept
        assert unmarked == []
        assert team.pages()[-1].content["degraded"] is False
        assert failed >= rounds * len(FAILURES), "or no ticket is written"
        assert figures[-1]["jiezhu_encoder_up"] == 1


async def _crowd(team: Crew, ledger: Ledger, name: str) -> int:
    """Plain crises that were dropped, among quiet talk. What is caught must not page either."""
    now = team.clock.now()
    said: list[Said] = []
    for number, (_, user, reply) in enumerate(PLAIN):
        said += exchange(f"{name} {number} dropped", user, reply, now)
    for number, (_, user, reply) in enumerate(QUIET):
        said += exchange(f"{name} {number} quiet", user, reply, now)
    due = sorted({one.conversation for one in said if one.conversation.endswith("dropped")})
    team.know(one.conversation for one in said)
    owe_all(ledger, due, now, WITHIN)
    return await put(team.broker.bootstrap_servers, team.topic, said)


async def _figures(url: str) -> dict[str, float]:
    """Each metric of ours, summed over its labels."""
    found: dict[str, float] = {}
    for line in (await get(f"{url}/metrics")).text.splitlines():
        if line.startswith("jiezhu_"):
            name, value = line.rsplit(" ", 1)
            key = name.partition("{")[0]
            found[key] = found.get(key, 0.0) + float(value)
    return found


def test_the_bound_is_that_of_who_may_act_at_any_moment() -> None:
    assert timedelta(seconds=30) == WITHIN
