"""A database with a worker, whoever forgets, and looks into every table."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import text

from alerts.case import Case
from alerts.delivery import Answer, Attempt, RetryPolicy, abandoned, answered, outlived, started
from alerts.incident import Incident, State
from detectors.conversation import Conversation
from monitor.crypto.pseudonym import Kind
from monitor.forgetting import Forgetting
from monitor.store.burials import Burial
from monitor.store.engine import migration_engine
from monitor.store.erasing import Erasing
from monitor.store.sql import SqlStore
from monitor.store.url import parse
from monitor.store.work import CaseWrite, Work
from tests.support.fake_clock import FakeClock
from tests.support.stores import KEYRING
from tests.support.worker import PSEUDONYMISER, Worker, hidden, incident_of, reply, user

TABLES = ("cases", "incidents", "findings", "audit", "outbox", "excerpts", "dead_letters")
DAYS = timedelta(days=30)
TELLING = 8


class Site:
    def __init__(self, url: str) -> None:
        self.url = url
        self.clock = FakeClock()
        self.store = SqlStore(url, KEYRING)
        self.worker = Worker(self.store, self.clock)
        self.erasing = Erasing(self.store.database, KEYRING)
        self.forgotten: set[str] = set()
        self.forgetting = Forgetting(
            self.erasing,
            self.worker.people,
            self.worker.timers._paging.policy,
            self.clock,
            keep=DAYS,
            forget=self.forgotten.update,
            undone=lambda oldest: setattr(self, "undone", oldest),
            unreadable=lambda rows: setattr(self, "unreadable", self.unreadable + rows),
            telling=TELLING,
        )
        self.undone: timedelta | None = None
        self.unreadable = 0

    async def say(self, conversation: str, *pairs: tuple[str, str], who: str = "somebody") -> None:
        """Exchanges, each a second after the other, now."""
        for said, replied in pairs:
            second = (self.clock.now() - FakeClock().now()).total_seconds()
            await self.worker.read(
                user(conversation, said, second, user_ref=who),
                reply(conversation, replied, second + 0.5, user_ref=who),
            )
            self.clock.jump(timedelta(seconds=4))
            await self.worker.timers.fire(self.clock.now())

    async def bury(self, name: str, kind: Kind = Kind.CONVERSATION, days: float = 7) -> str:
        now = self.clock.now()
        until = now + timedelta(days=days)
        [proof] = await self.erasing.bury(
            [Burial(PSEUDONYMISER.pseudonym(kind, name), kind.value, now, until, "li")]
        )
        return proof

    async def lay(self, pseudonym: str) -> str:
        """Bury by what a conversation is called here."""
        now = self.clock.now()
        [proof] = await self.erasing.bury([Burial(pseudonym, "conversation", now, now + DAYS, "li")])
        return proof

    async def taken(self, conversation: str) -> None:
        """Somebody was let down, rung for and taken in hand."""
        await self.say(conversation, ("crisis|words", "sleep tip|words"))
        await self.deliver()
        await self.worker.people.acknowledge(incident_of(conversation), "li")
        await self.deliver()

    async def keep(self, state: State, count: int) -> None:
        """Conversations whose keys are numbers, each with an incident."""
        now = self.clock.now()
        some = [
            Incident(f"jz-{number:020x}-1", f"{number:032x}", 1, now, now, state=state, rung=(5,))
            for number in range(count)
        ]
        await self.store.commit(
            Work(
                cases=[
                    CaseWrite(Case(Conversation(one.conversation), one), ("turns", 0), None) for one in some
                ],
                incidents=some,
            )
        )

    async def tell(self) -> None:
        await self.forgetting.tell()

    async def give_up(self) -> None:
        """As the relay does with an update that nobody needs any more."""
        for note in await self.store.claim(self.clock.now(), timedelta(0), 99):
            if outlived(note.page.kind, self.clock.now() - note.created_at, RetryPolicy()):
                await self.store.record(note.id, abandoned(note.delivery, "outlived"))

    async def sweep(self, seconds: float = 0) -> None:
        await self.forgetting.sweep()
        self.clock.jump(timedelta(seconds=seconds))

    async def deliver(self) -> None:
        for note in await self.store.claim(self.clock.now(), timedelta(seconds=1), 99):
            now = self.clock.now()
            sent = answered(
                started(note.delivery, now), Attempt(Answer.ACCEPTED, "http_202"), now, RetryPolicy()
            )
            await self.store.record(note.id, sent)

    def run(self, statement: str) -> list[tuple]:
        engine = migration_engine(parse(self.url))
        with engine.begin() as connection:
            done = connection.execute(text(statement))
            rows = [tuple(row) for row in done] if done.returns_rows else []
        engine.dispose()
        return rows

    def traces(self, conversation: str) -> list[str]:
        """Tables that still know a conversation, or an incident of it."""
        key, part = hidden(conversation), hidden(conversation)[:20]
        return [
            table
            for table in TABLES
            if any(key in str(row) or part in str(row) for row in self.run(f"SELECT * FROM {table}"))
        ]

    def proof(self, proof: str) -> tuple:
        [row] = self.run(f"SELECT done_at, kind, actor, detail FROM erasures WHERE id = '{proof}'")
        return row
