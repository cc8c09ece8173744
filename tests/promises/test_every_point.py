"""Row 2: a worker dies before and after each call of its store and each request to a pager, one point after the other."""

from __future__ import annotations

import ast
import asyncio
import base64
import contextlib
import inspect
import shutil
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, fields
from datetime import timedelta
from pathlib import Path

import httpx2
import pytest

import alerts
import monitor
from alerts.ports import Pager
from alerts.signing import link
from monitor.crypto.keyring import parse_secret
from monitor.demo.pager import FakePager, Received
from monitor.demo.workers import Worker
from monitor.store.work import Store, Work
from tests.support.crash_points import AT, LOG, MOST, STATUS, Point, points_in
from tests.support.crew import SECRET, Crew, Ring, crew
from tests.support.form import Form, Tell
from tests.support.kafka import Broker
from tests.support.ledger import Ledger, Verdict, owe_all
from tests.support.postgres import Cluster
from tests.support.stream import Said, exchange, put
from tests.support.until import until

pytestmark = [pytest.mark.promise, pytest.mark.xdist_group("endurance")]

TIMES = 3  # of each name that are points of their own, in the long form
AT_ONCE = 8  # trials; each of them mostly waits
# The lease of a request that died unanswered, and all that a busy machine adds.
WITHIN = timedelta(seconds=120)
PRESSES = 400
CRISES = ("dropped", "silent")
ANSWER = 0.2  # seconds of the pager, so that the relay writes that a request is on its way

# What the story below does not reach, and why a crash there loses nothing.
COMMANDS_ASK = {"incidents": "reads", "timeline": "reads", "excerpts": "reads", "close": "the end"}
# What only a storm reaches: ``test_storm_points`` tells one, and dies at each call of it.
STORMS_ASK = {"group", "members", "partitions_of", "commit of groups"}
# A canary's way is proved by its absence: whatever is lost of it is told within minutes.
CANARIES_ASK = {"accepted", "newest_canaries", "sweep_canaries"}

# Every module that can speak to another machine. Their requests to people go through a pager, which has points.
TALKS = {
    "alerts.pagers.alertmanager",
    "alerts.pagers.http",
    "alerts.pagers.pagerduty",
    "alerts.pagers.second_channel",
    "alerts.pagers.webhook",
    "monitor.second_opinion.scorer",  # asked by commands only
    "monitor.sources.asyncapi",  # describes
    "monitor.sources.canary_topic",  # sends canaries, and is told of their absence
    "monitor.sources.client",
    "monitor.sources.dead_letters",  # after its row is written
    "monitor.sources.intake",
    "monitor.sources.kafka",
    "monitor.sources.parsing",
    "monitor.sources.security",
    "monitor.sources.unreadable",
    "monitor.web.server",  # listens
}
CLIENTS = {
    "aiokafka",
    "aiohttp",
    "apprise",
    "faststream",
    "http",
    "httpx2",
    "requests",
    "smtplib",
    "socket",
    "urllib3",
}


@dataclass(frozen=True, slots=True)
class Outcome:
    verdict: Verdict
    points: list[Point]
    died: bool


class Trial:
    """One story told to a worker that may die in it, and to the one that takes over.

    A crisis is dropped, paged, acknowledged and resolved; one is never answered; one is caught and goes quiet;
    one record is no event. The pager breaks the first request of each page.
    """

    def __init__(self, team: Crew, folder: Path) -> None:
        self.ledger = Ledger()
        self._team = team
        self._log = folder / "points"
        self._broken: set[str] = set()
        self._pager = FakePager(SECRET.encode(), team.clock, self._heard)
        self._incident: str | None = None

    async def run(self, at: str | None, most: int) -> Outcome:
        self._pager.start()
        team, now = self._team, self._team.clock.now()
        team.know(CRISES)
        owe_all(self.ledger, CRISES, now, WITHIN)
        second = timedelta(seconds=1)
        said = [
            *exchange("dropped", "crisis", "sleep tip", now - second),
            Said("silent", "user", "crisis", now),
            *exchange("caught", "crisis", "good", now - second),
        ]
        sent = await put(team.broker.bootstrap_servers, team.topic, said)
        await team.broker.send(team.topic, b"no event")
        log = {LOG: str(self._log), MOST: str(most)}
        worker = team.add(as_is=log | ({AT: at} if at else {}), PAGERS__WEBHOOK__URL=self._pager.url)
        people = asyncio.create_task(self._act())
        try:
            if at:
                await until(lambda: _status(worker) is not None, 60, 0.05)
                # A group of its own: nobody waits until the dead one's session is over.
                team.add(KAFKA__GROUP_ID=f"{team.topic}-2", PAGERS__WEBHOOK__URL=self._pager.url)
            await asyncio.wait_for(people, WITHIN.total_seconds())
            await until(lambda: self._done(sent + 1), WITHIN.total_seconds(), 0.1)
        finally:
            people.cancel()
            await asyncio.gather(people, return_exceptions=True)
            await self._pager.stop()
        return Outcome(self.ledger.verdict(), points_in(self._log), _status(worker) == STATUS)

    async def _heard(self, received: Received) -> None:
        await asyncio.sleep(ANSWER)
        content = received.content
        if content["kind"] != "page":
            return
        if content["dedup_key"] not in self._broken:
            self._broken.add(content["dedup_key"])
            raise ConnectionRefusedError
        ring = Ring(self._team.workers[-1], received.at, content)
        crisis = self._team.conversation(ring)
        self.ledger.hear(crisis, ring.key, ring.at)
        if crisis == "dropped":
            self._incident = content["incident"]

    async def _act(self) -> None:
        """Somebody acknowledges and resolves what they were called for, however often they have to press."""
        await until(lambda: self._incident is not None, WITHIN.total_seconds(), 0.02)
        assert self._incident is not None
        for action in ("ack", "resolve"):
            for _ in range(PRESSES):
                if await self._press(self._incident, action):
                    break
                await asyncio.sleep(0.2)

    async def _press(self, incident: str, action: str) -> bool:
        expires = self._team.clock.now() + WITHIN
        url = link(parse_secret(LINKS, "links"), self._team.workers[-1].url, incident, action, expires)
        with contextlib.suppress(httpx2.HTTPError):
            async with httpx2.AsyncClient(timeout=5) as client:
                return (await client.post(url)).status_code == 200
        return False

    def _done(self, sent: int) -> bool:
        """Two of three incidents are over; nothing is left to read or to send."""
        rows = self._team.rows
        return (
            not self.ledger.missing
            and self._team.read() == sent
            and rows("SELECT count(*) FROM incidents") == [(3,)]
            and rows("SELECT count(*) FROM incidents WHERE over") == [(2,)]
            and rows("SELECT count(*) FROM dead_letters") == [(1,)]
            and rows("SELECT count(*) FROM outbox WHERE due_at IS NOT NULL") == [(0,)]
        )


LINKS = base64.b64encode(b"l" * 32).decode()
Try = Callable[[str | None], Awaitable[Outcome]]


def trials(broker: Broker, folder: Path, database: Callable[[Path], str], most: int) -> Try:
    """Each in a topic, a database and processes of its own."""

    async def attempt(at: str | None) -> Outcome:
        place = folder / (at or "nowhere").replace(":", "").replace(" ", "-")
        place.mkdir()
        async with crew(
            broker,
            place,
            None,
            database(place),
            WATCHING__GRACE_SECONDS="0.3",
            WATCHING__REPLY_DEADLINE_SECONDS="1.5",
            WATCHING__QUIET_MINUTES="0.03",
            KEYS__LINKS=LINKS,
        ) as team:
            return await Trial(team, place).run(at, most)

    return attempt


async def test_a_worker_dies_at_every_point_on_sqlite(
    broker: Broker, tmp_path: Path, sqlite_template: Path, form: Form, tell: Tell
) -> None:
    def database(place: Path) -> str:
        shutil.copy(sqlite_template, place / "jiezhu.sqlite")
        return f"sqlite:///{place / 'jiezhu.sqlite'}"

    await _try_all(trials(broker, tmp_path, database, form.pick(1, TIMES)), "SQLite", tell)


@pytest.mark.postgres
async def test_a_worker_dies_at_every_point_on_postgres(
    broker: Broker, tmp_path: Path, postgres: Cluster, postgres_template: str, form: Form, tell: Tell
) -> None:
    if not form.long:
        pytest.skip("the same story on SQLite is told in the short form; make soak tells it on PostgreSQL")
    await _try_all(
        trials(broker, tmp_path, lambda _: postgres.copy(postgres_template), TIMES), "PostgreSQL", tell
    )


async def _try_all(attempt: Try, database: str, tell: Tell) -> None:
    whole = await attempt(None)
    assert whole.verdict.kept
    _check_that_all_is_reached(whole.points)
    places = asyncio.Semaphore(AT_ONCE)

    async def try_one(point: Point) -> Outcome:
        async with places:
            return await attempt(point.names[0])

    found = await asyncio.gather(*(try_one(point) for point in whole.points), return_exceptions=True)
    failed = [
        str(point) for point, one in zip(whole.points, found, strict=True) if isinstance(one, BaseException)
    ]
    outcomes = {
        str(point): one for point, one in zip(whole.points, found, strict=True) if isinstance(one, Outcome)
    }
    missed = [point for point, one in outcomes.items() if not one.died]
    lost = {point: one.verdict.lost for point, one in outcomes.items() if one.verdict.lost}
    wrong = {point: str(one.verdict) for point, one in outcomes.items() if not one.verdict.kept}
    extra = sum(one.verdict.requests for one in outcomes.values())
    tell(
        2,
        f"a worker dies at every chosen point, {database}",
        f"{len(whole.points)} points, {len(outcomes) - len(missed)} died, {len(lost) + len(failed)} lost, {extra} extra requests; "
        + "; ".join(map(str, whole.points)),
    )
    assert failed == [], next(one for one in found if isinstance(one, BaseException))
    assert wrong == {}
    # A second time of the same may not come: what it waits for can have been done the first time.
    assert [point for point in missed if not point.partition(" + ")[0].endswith(")")] == []
    assert all(one.verdict.requests <= 1 for one in outcomes.values())


def _check_that_all_is_reached(points: list[Point]) -> None:
    """The story must reach what is new: tell it so that it does, or say above why it need not."""
    names = {name.partition(":")[0] for point in points for name in point.names}
    calls = {name for name, _ in inspect.getmembers(Store, inspect.iscoroutinefunction)} - COMMANDS_ASK.keys()
    calls = {call for call in calls if not call.startswith("_")}
    sends = {name for name, _ in inspect.getmembers(Pager, inspect.iscoroutinefunction)} - {"close"}
    wanted = {*calls, *sends, *(f"commit of {part.name}" for part in fields(Work))}
    reached = {name.partition(" ")[2] for name in names}
    reached |= {name.partition(" of ")[0] for name in reached}
    assert wanted - reached - STORMS_ASK - CANARIES_ASK == set()
    assert sends == {"send"}


def test_nobody_speaks_to_other_machines_unseen() -> None:
    """A new way out of the process has no points: send through a pager, or add it to the list with its reason."""
    found = set()
    for package in (alerts, monitor):
        root = Path(package.__path__[0])
        for path in root.rglob("*.py"):
            name = ".".join([package.__name__, *path.relative_to(root).with_suffix("").parts])
            if not name.startswith("monitor.demo") and _imports(path) & CLIENTS:
                found.add(name)
    assert found - TALKS == set()


def _imports(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.partition(".")[0])
    return names


def _status(worker: Worker) -> int | None:
    return worker._process.poll() if worker._process else None
