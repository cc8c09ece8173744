"""Row 9: records that nobody can read, few and all of them: the good ones are done, the bad ones set aside."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from aiokafka import AIOKafkaProducer

from alerts.page import Trouble
from monitor.decode.rejection import Reason
from tests.support.crew import Crew, crew, get, until_health
from tests.support.form import Form, Tell
from tests.support.kafka import Broker
from tests.support.ledger import Ledger, owe_all
from tests.support.stream import Said, exchange
from tests.support.until import until

pytestmark = [pytest.mark.promise, pytest.mark.xdist_group("promises")]

WITHIN = timedelta(seconds=90)
LARGE = 10 << 20
Record = tuple[bytes | None, list[tuple[str, bytes]]]


def poisons(chance: random.Random, large: int) -> Iterator[Record]:
    """Every kind of record that cannot be read, over and over; the largest of ``large`` bytes."""
    whole = Said("poisoned", "user", "crisis", datetime.now(UTC)).value()
    hostile = [("reply_to", b"elsewhere"), ("content-type", b"\xff\xfe"), ("x" * 3_000, b"\x00" * 3_000)]
    while True:
        yield None, []
        yield b"", hostile
        yield chance.randbytes(200), []
        yield whole[: chance.randrange(1, len(whole))], hostile
        yield b"[" * 50_000, []
        yield b'{"a":' * 20_000, []
        yield whole.replace(b'"user"', b'"nobody"'), []
        yield whole.decode().encode("utf-16"), []
        yield b'{"event_id": 1e999, "conversation_id": ' + b"9" * 5_000 + b"}", hostile
        yield whole.replace(b'"at"', b'"when"'), []
        yield b'{"probe": ' + b'{"expect":' * 40 + b"1" + b"}" * 41, []
        yield whole.replace(b"crisis", b"x" * large), []


async def _send(broker: Broker, topic: str, records: list[tuple[bytes, Record]]) -> None:
    producer = AIOKafkaProducer(
        bootstrap_servers=broker.bootstrap_servers, max_request_size=LARGE * 2, acks="all", linger_ms=5
    )
    await producer.start()
    try:
        waiting = []
        for key, (value, headers) in records:
            waiting.append(await producer.send(topic, value, key=key, headers=headers))
            if len(waiting) >= 200:
                for sent in waiting:
                    await sent
                waiting.clear()
        for sent in waiting:
            await sent
    finally:
        await producer.stop()


async def test_one_in_a_hundred(broker: Broker, tmp_path: Path, url: str, form: Form, tell: Tell) -> None:
    good, crises = form.pick((2_000, 40), (100_000, 1_000))
    chance, ledger = random.Random(9), Ledger()
    async with crew(broker, tmp_path, None, url, WATCHING__GRACE_SECONDS="0.5") as team:
        team.add()
        await team.ready()
        team.hear_into(ledger)
        now = team.clock.now()
        said = [
            turn
            for number in range(good // 2)
            for turn in exchange(
                f"row nine {number}",
                "crisis" if number < crises else "hello",
                "sleep tip" if number < crises else "chat",
                now,
            )
        ]
        due = [f"row nine {number}" for number in range(crises)]
        team.know(due)
        owe_all(ledger, due, now, WITHIN * form.pick(1, 10))
        bad = poisons(chance, 2 << 20)
        poison: list[Record] = [next(bad) for _ in range(good // 100)]
        poison.append((b"x" * LARGE, [("size", b"\xff")]))
        poison.append((said[0].value().replace(b"crisis", b"x" * LARGE), []))
        records: list[tuple[bytes, Record]] = [(one.conversation.encode(), (one.value(), [])) for one in said]
        places = sorted(chance.sample(range(len(records)), len(poison)), reverse=True)
        for place, record in zip(places, poison, strict=True):
            records.insert(place, (chance.randbytes(8), record))
        await _send(broker, team.topic, records)
        await team.until_all_read(len(records), within=form.pick(60, 1200))
        await until(lambda: not ledger.missing, 60, 0.1)
        await team.until_settled()
        dead = dict(team.rows("SELECT reason, count(*) FROM dead_letters GROUP BY reason"))
        verdict = ledger.verdict()
        share = len(poison) / len(records)
        tell(
            9,
            f"poison, {share:.1%}, {url.partition(':')[0]}",
            f"{len(said)} good, {sum(dead.values())} of {len(poison)} in the dead letters, "
            f"{len(dead)} reasons, {verdict}",
        )
        assert verdict.kept
        assert sum(dead.values()) == len(poison)
        assert dead.get(Reason.DECODER_FAILED.value, 0) == 0
        assert dead[Reason.TOO_LARGE.value] >= 2
        assert dead[Reason.TOO_DEEP.value] >= 1
        assert (await get(f"{team.workers[0].url}/readyz")).status_code == 200
        await _all_on_the_topic(team, len(poison))


async def _all_on_the_topic(team: Crew, count: int) -> None:
    """What is set aside is on the dead-letter topic, too, sealed."""
    for letter in await team.broker.read(f"{team.topic}.dead", count):
        headers = dict(letter.headers)  # type: ignore[attr-defined]
        assert headers["payload"] in (b"sealed", b"too_large")
        assert b"poisoned" not in (letter.value or b"")  # type: ignore[attr-defined]


async def test_all_of_them(broker: Broker, tmp_path: Path, sqlite_url: str, form: Form, tell: Tell) -> None:
    limit = form.pick(200, 1_000)
    chance, ledger = random.Random(10), Ledger()
    async with crew(
        broker, tmp_path, None, sqlite_url, WATCHING__GRACE_SECONDS="0.5", DEAD_LETTERS__IN_A_ROW=str(limit)
    ) as team:
        worker = team.add()
        await team.ready()
        team.hear_into(ledger)
        now = team.clock.now()
        before = exchange("said before", "crisis", "sleep tip", now)
        team.know(["said before"])
        owe_all(ledger, ["said before"], now, WITHIN)
        await _send(broker, team.topic, [(b"said before", (one.value(), [])) for one in before])
        await until(lambda: not ledger.missing, 30, 0.1)
        few = itertools.cycle(
            itertools.islice(poisons(chance, 1 << 10), 11)
        )  # without the largest, which is none then
        begun = team.clock.now()
        await _send(broker, team.topic, [(chance.randbytes(8), next(few)) for _ in range(limit * 5)])
        await until(lambda: bool(_stops(team)), 60, 0.1)
        await until_health(worker, lambda health: "line_stopped" in health["reasons"], 10)
        read = team.read()
        told = _stops(team)
        tell(
            9,
            "poison, 100 %",
            f"the line stops after {read - 2} of {limit * 5} bad records and calls within "
            f"{(told[0].at - begun).total_seconds():.1f} s, {len({ring.key for ring in told})} page(s)",
        )
        assert limit <= read - 2 < limit * 5  # what is left stays in Kafka
        assert len({ring.key for ring in told}) == 1
        assert ledger.verdict().kept
        metrics = (await get(f"{worker.url}/metrics")).text
        assert "jiezhu_line_stopped 1.0" in metrics
        assert (await get(f"{worker.url}/livez")).status_code == 200  # a restart would not mend it


def _stops(team: Crew):
    return [r for r in team.pages() if r.content["trouble"] == Trouble.LINE_STOPPED.value]
