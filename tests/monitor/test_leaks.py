"""What people said, and who they are, is in no log, metric, page, answer, and in no database as plain text (M7).

Words and raw ids go through the whole chain: turns, poison, a scorer and a pager that fail, a database that is
away. Then everything that left the chain is searched for them.
"""

from __future__ import annotations

import asyncio
import io
import logging
import sqlite3
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
import structlog
from prometheus_client import generate_latest
from pydantic import SecretStr

from alerts.pagers.webhook import Webhook, WebhookSettings
from alerts.signing import link
from monitor import log
from monitor.decode import Decoded
from monitor.decode.native import NativeDecoder
from monitor.errors import StoreError, StoreUnavailable
from monitor.health import Health
from monitor.store.sql import SqlStore
from monitor.web import incident as incident_page
from monitor.web.app import build
from tests.support.fake_clock import FakeClock
from tests.support.scripted_server import ScriptedServer, Status
from tests.support.stores import KEYRING
from tests.support.until import until
from tests.support.worker import Worker, event, hidden, incident_of, reply, user

WORDS = ("canary sings at dusk", "金丝雀在黄昏唱歌")
NAMES = ("Jane Q. Canarysdottir", "金丝雀小姐")
IDS = ("conv-canary-1", "会话-金丝雀-2", "user-canary-3", "event-canary-4", "message-canary-5")
PHONE = "+49 1555 0102938"
CANARIES = (*WORDS, *NAMES, *IDS, PHONE)
KEY = b"k" * 32


@pytest.fixture
def logged() -> Iterator[io.StringIO]:
    """Our configuration of the logs, with every logger there is at debug level."""
    root = logging.getLogger()
    before = (root.handlers[:], root.level)
    stream = io.StringIO()
    log.configure("debug", "json", stream)
    root.setLevel(logging.DEBUG)
    levels = {name: logging.getLogger(name).level for name in list(root.manager.loggerDict)}
    for name in levels:
        logging.getLogger(name).setLevel(logging.DEBUG)
    yield stream
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)
    root.handlers[:], _ = before
    root.setLevel(before[1])
    structlog.reset_defaults()


class Talkative(NativeDecoder):
    """A parser that breaks over some records, with all they hold in what it raises."""

    def decode(self, value: bytes | None, **given: Any) -> Decoded:
        if value and PHONE.encode() in value:
            raise ValueError(f"cannot parse {value.decode()!r}") from KeyError(NAMES[0])
        return super().decode(value, **given)


class Chain:
    """A worker on a real database and a real receiver, and all that came out of it."""

    def __init__(self, store: SqlStore, receiver: ScriptedServer, database: Path) -> None:
        clock = FakeClock()
        settings = WebhookSettings(url=SecretStr(f"{receiver.url}/x"), secret=SecretStr("s" * 32))
        self.worker = Worker(store, clock, pagers=[Webhook(settings, clock)], decoder=Talkative())
        self.store = store
        self._receiver = receiver
        self._database = database

    async def speak(self) -> None:
        """Good turns and poison, in two languages, by somebody who says who they are."""
        await self.worker.start()
        for place, (words, name, conversation) in enumerate(zip(WORDS, NAMES, IDS, strict=False)):
            facts = {"user_ref": IDS[2], "release": "r1"}
            await self.worker.read(
                user(conversation, f"hello|{words}", place, event_id=f"{IDS[3]}-{place}", **facts),
                user(
                    conversation,
                    f"crisis|{words}, {name}",
                    place + 0.2,
                    event_id=f"{IDS[3]}c{place}",
                    **facts,
                ),
                reply(conversation, f"sleep tip|{words}", place + 0.4, event_id=f"{IDS[3]}r{place}", **facts),
                reply(conversation, words, 1, message_id=IDS[4], final=False, event_id=f"{IDS[3]}p{place}"),
                user(conversation, f"breaks|{words}", place + 0.6, event_id=f"{IDS[3]}b{place}"),
                reply(conversation, f"breaks|{words}", place + 0.8, event_id=f"{IDS[3]}bb{place}"),
                f'{{"event_id": "{IDS[3]}", "text": "{words}, {name}"'.encode(),
                f'{{"event_id": 5, "conversation_id": "{conversation}", "text": "{words}"}}'.encode(),
                event(conversation, words, words, 0),
                words.encode("utf-16"),
                user(
                    conversation, f"crisis|call {name} at {PHONE}", place + 0.9, event_id=f"{IDS[3]}t{place}"
                ),
            )

    async def page(self) -> None:
        self.worker.clock.jump(timedelta(seconds=10))
        await self.worker.timers.fire(self.worker.clock.now())
        self.worker.relay.wake()
        await until(lambda: len(self._receiver.requests) >= 2)

    async def fail(self) -> None:
        """The database refuses, with the words in its message, as drivers do."""
        commit = self.store.commit

        async def refuse(work):
            cause = ValueError(f"Key (text)=({WORDS[0]}) of {NAMES[1]} exists")
            raise StoreUnavailable("the database does not answer") from cause

        self.store.commit = refuse
        await self.worker.read(user(IDS[0], f"crisis|{WORDS[1]}", 20))
        self.store.commit = commit

    async def break_tables(self) -> None:
        with sqlite3.connect(self._database) as connection:
            connection.execute("DROP TABLE excerpts")
        await self.worker.lifeboat.close()
        self.worker.lifeboat._voyage = None
        await self.worker.join()
        try:
            await self.worker.pump()
        except StoreError as error:
            structlog.get_logger("source").error("batch_failed", exc_info=error)

    async def visit(self) -> str:
        worker, said = self.worker, []
        app = build(
            worker.metrics.registry,
            lambda: Health(()),
            lambda: Health(()),
            lambda: "{}",
            incident_page.routes([KEY], self.store, worker.people, worker.clock),
        )
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            for conversation in IDS[:2]:
                for action in ("show", "ack", "resolve"):
                    expires = worker.clock.now() + timedelta(hours=1)
                    url = link(KEY, "http://127.0.0.1", incident_of(conversation), action, expires)
                    for method in ("GET", "POST"):
                        answer = await client.request(method, url)
                        said.append(answer.text + repr(answer.headers))
            said += [(await client.get(path)).text for path in ("/", "/metrics", "/livez", "/readyz")]
        return "\n".join(said)

    def stored(self) -> bytes:
        files = sorted(self._database.parent.glob(f"{self._database.name}*"))
        assert len(files) >= 2, "the write-ahead log is there, too"
        return b"".join(file.read_bytes() for file in files)

    def sent(self) -> str:
        return "\n".join(f"{r.target} {r.headers} {r.body.decode()}" for r in self._receiver.requests)


def found(content: str | bytes) -> list[str]:
    """Canaries in plain, escaped as JSON does, or in the encodings that a record may come in."""
    raw = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    return [
        canary
        for canary in CANARIES
        if any(
            form in raw
            for form in (
                canary.encode(),
                canary.encode("utf-16-le"),
                canary.encode("unicode_escape"),
                canary.encode("unicode_escape").upper(),
            )
        )
    ]


@pytest.fixture
async def chain(sqlite_url):
    database = Path(sqlite_url.removeprefix("sqlite:///"))
    async with ScriptedServer() as receiver:
        receiver.script(
            Status(500, body=WORDS[0].encode()),
            Status(400, {"X-Echo": "canary sings at dusk"}, WORDS[1].encode()),
            then=Status(202, body=NAMES[1].encode()),
        )
        store = SqlStore(sqlite_url, KEYRING)
        chain = Chain(store, receiver, database)
        yield chain
        await chain.worker.stop()
        await store.close()


async def test_nothing_leaks_anywhere(chain, logged):
    """R65. Parser, scorer, pager and database raise with words, names and a number in what they say."""
    await chain.speak()
    await chain.page()
    await chain.fail()
    seen = await chain.visit()
    await chain.break_tables()
    log_of_a_crash(logged)

    assert chain.worker.results, "turns were read"
    dead = [letter.reason for result in chain.worker.results for letter in result.read.dead]
    assert len(dead) == 10
    assert dead.count("decoder_failed") == 2
    assert "scorer_failed" in logged.getvalue()
    assert "database_away" in logged.getvalue()
    assert "batch_failed" in logged.getvalue()
    assert found(logged.getvalue()) == []
    assert found(chain.sent()) == []
    assert found(seen) == []
    assert found(generate_latest(chain.worker.metrics.registry)) == []
    assert found(chain.stored()) == []
    assert found(repr(chain.worker.results)) == []


def log_of_a_crash(logged: io.StringIO) -> None:
    """Exceptions hold values, ours and the libraries'; what a library says holds more."""
    before = len(logged.getvalue())
    try:
        {}[f"{NAMES[0]} said {WORDS[0]}"]
    except KeyError as error:
        structlog.get_logger("ours").error("failed", exc_info=error)
        structlog.get_logger("ours").exception("failed")
        logging.getLogger("theirs").exception("failed")
    logging.getLogger("theirs").warning("record %r of %s", WORDS[1], NAMES[1])
    logging.getLogger("theirs").warning(f"record {WORDS[1]!r}")  # noqa: G004 - as libraries do
    asyncio.get_running_loop().call_exception_handler(
        {"message": f"never retrieved: {WORDS[0]}", "exception": ValueError(WORDS[0])}
    )
    # A thread of the store may still be saying that it gave its connection back.
    told = [line for line in logged.getvalue()[before:].splitlines() if '"logger": "sqlalchemy.' not in line]
    assert len(told) == 6


async def test_the_words_are_there_to_be_found(chain):
    """The search works: what reviewers may unseal holds them, and so does what came in."""
    await chain.speak()
    kept = await chain.store.excerpts(incident_of(IDS[0]))
    assert found("\n".join(excerpt.text for excerpt in kept))
    assert found(b"".join(record.value or b"" for record in chain.worker.topic.records)) == list(CANARIES)
    assert hidden(IDS[0]) not in CANARIES


@pytest.mark.parametrize("leak", ["text", "escaped", "utf-16"])
def test_the_search_finds_every_form(leak):
    content = {"text": WORDS[1], "escaped": ascii(WORDS[1]), "utf-16": WORDS[1].encode("utf-16")}[leak]
    assert found(content) == [WORDS[1]]
