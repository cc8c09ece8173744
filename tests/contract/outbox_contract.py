"""What every outbox must do, whatever it stands on. The relay relies on each line of it.

class TestSqliteOutbox(OutboxContract):
    @pytest.fixture
    async def outbox(self): ...
    async def add(self, outbox, *notifications): ...
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from dataclasses import replace
from datetime import timedelta
from typing import Any

from alerts.delivery import Answer, Attempt, Delivery, RetryPolicy, State, abandoned, answered, started
from alerts.page import Kind
from alerts.ports import Notification
from tests.support.fake_clock import EPOCH
from tests.support.pages import a_notification

LEASE = timedelta(seconds=15)
SECOND = timedelta(seconds=1)
POLICY = RetryPolicy()


def on_its_way(delivery: Delivery) -> Delivery:
    return started(delivery, EPOCH)


def failed(delivery: Delivery) -> Delivery:
    return answered(on_its_way(delivery), Attempt(Answer.UNAVAILABLE, "http_500"), EPOCH, POLICY)


def accepted(delivery: Delivery) -> Delivery:
    return answered(on_its_way(delivery), Attempt(Answer.ACCEPTED, "http_202"), EPOCH, POLICY)


class OutboxContract(ABC):
    @abstractmethod
    async def add(self, outbox: Any, *notifications: Notification) -> None:
        """Write notifications the way the product does."""

    async def ids(self, outbox: Any, now=EPOCH, limit: int = 100) -> list[str]:
        return [row.id for row in await outbox.claim(now, LEASE, limit)]

    async def test_a_new_row_is_handed_out_as_it_was_written(self, outbox):
        row = a_notification(
            "n-1",
            degraded=True,
            test=True,
            alike=3,
            step=2,
            escalates_at=EPOCH + SECOND,
            level="passive_ideation",
        )
        await self.add(outbox, row)
        assert list(await outbox.claim(EPOCH, LEASE, 10)) == [row]

    async def test_optional_facts_may_be_missing(self, outbox):
        row = a_notification(
            "n-1", deadline=None, link=None, ack_link=None, runbook=None, detected_at=None, missing=()
        )
        await self.add(outbox, row)
        assert list(await outbox.claim(EPOCH, LEASE, 10)) == [row]

    async def test_the_same_id_is_written_once(self, outbox):
        await self.add(outbox, a_notification("n-1"))
        await self.add(outbox, a_notification("n-1"))
        assert await self.ids(outbox) == ["n-1"]

    async def test_writing_an_id_again_does_not_undo_its_delivery(self, outbox):
        row = a_notification("n-1")
        await self.add(outbox, row)
        await outbox.record("n-1", accepted(row.delivery))
        await self.add(outbox, row)
        assert await self.ids(outbox) == []

    async def test_a_claimed_row_is_nobody_elses_until_the_lease_runs_out(self, outbox):
        await self.add(outbox, a_notification("n-1"))
        assert await self.ids(outbox) == ["n-1"]
        assert await self.ids(outbox, EPOCH + LEASE - SECOND) == []
        assert await self.ids(outbox, EPOCH + LEASE) == ["n-1"]

    async def test_a_row_on_its_way_keeps_its_lease_and_comes_back_after_it(self, outbox):
        row = a_notification("n-1")
        await self.add(outbox, row)
        await self.ids(outbox)
        await outbox.record("n-1", on_its_way(row.delivery))
        assert await self.ids(outbox, EPOCH + LEASE - SECOND) == []
        [again] = await outbox.claim(EPOCH + LEASE, LEASE, 10)
        assert again.delivery == on_its_way(row.delivery)

    async def test_a_row_to_be_tried_again_is_free_when_it_comes_due_and_not_before(self, outbox):
        row = a_notification("n-1")
        await self.add(outbox, row)
        await self.ids(outbox)
        later = replace(failed(row.delivery), next_at=EPOCH + 3 * SECOND)
        await outbox.record("n-1", later)
        assert await self.ids(outbox, EPOCH + 2 * SECOND) == []
        [again] = await outbox.claim(EPOCH + 3 * SECOND, LEASE, 10)
        assert again.delivery == later

    async def test_times_keep_their_microseconds_and_zone(self, outbox):
        row = a_notification("n-1")
        await self.add(outbox, row)
        at = EPOCH + timedelta(microseconds=123_457)
        await outbox.record("n-1", replace(failed(row.delivery), next_at=at, channel_since=at))
        [again] = await outbox.claim(at, LEASE, 10)
        assert again.delivery.next_at == again.delivery.channel_since == at

    async def test_an_accepted_row_never_comes_back(self, outbox):
        row = a_notification("n-1")
        await self.add(outbox, row)
        await self.ids(outbox)
        await outbox.record("n-1", accepted(row.delivery))
        assert await self.ids(outbox, EPOCH + timedelta(days=9)) == []

    async def test_an_abandoned_row_never_comes_back(self, outbox):
        row = a_notification("n-1", kind=Kind.RESOLVE)
        await self.add(outbox, row)
        await outbox.record("n-1", abandoned(row.delivery, "outlived"))
        assert await self.ids(outbox, EPOCH + timedelta(days=9)) == []

    async def test_a_late_word_of_a_stalled_relay_does_not_undo_what_is_final(self, outbox):
        row = a_notification("n-1")
        await self.add(outbox, row)
        await outbox.record("n-1", accepted(row.delivery))
        await outbox.record("n-1", failed(row.delivery))
        assert await self.ids(outbox, EPOCH + timedelta(days=9)) == []

    async def test_recording_a_row_that_is_gone_is_no_error(self, outbox):
        await outbox.record("never-written", accepted(Delivery(("first",))))
        assert await self.ids(outbox) == []

    async def test_never_more_than_asked_for(self, outbox):
        await self.add(outbox, *(a_notification(f"n-{number}") for number in range(5)))
        first = await self.ids(outbox, limit=2)
        second = await self.ids(outbox, limit=100)
        assert len(first) == 2
        assert sorted(first + second) == [f"n-{number}" for number in range(5)]

    async def test_pages_go_before_tickets_then_the_longest_due(self, outbox):
        await self.add(
            outbox,
            a_notification("ticket", kind=Kind.TICKET, created_at=EPOCH - 9 * SECOND),
            a_notification("newer", created_at=EPOCH - 1 * SECOND),
            a_notification("older", created_at=EPOCH - 5 * SECOND),
        )
        assert await self.ids(outbox) == ["older", "newer", "ticket"]

    async def test_a_row_due_again_waits_behind_those_due_longer(self, outbox):
        again = a_notification("again", created_at=EPOCH - 9 * SECOND)
        await self.add(outbox, again, a_notification("new", created_at=EPOCH - 2 * SECOND))
        await outbox.record("again", replace(failed(again.delivery), next_at=EPOCH - SECOND))
        assert await self.ids(outbox) == ["new", "again"]

    async def test_two_who_claim_at_once_never_get_the_same_row(self, outbox):
        await self.add(outbox, *(a_notification(f"n-{number}") for number in range(20)))
        claims = await asyncio.gather(*(self.ids(outbox, limit=7) for _ in range(4)))
        handed_out = [row for claim in claims for row in claim]
        assert len(handed_out) == len(set(handed_out))
        rest = await self.ids(outbox)
        assert sorted(handed_out + rest) == sorted(f"n-{number}" for number in range(20))

    async def test_the_oldest_is_the_one_that_nobody_has_accepted(self, outbox):
        first = a_notification("first", created_at=EPOCH - 60 * SECOND)
        update = a_notification("update", kind=Kind.RESOLVE, created_at=EPOCH - 50 * SECOND)
        second = a_notification("second", created_at=EPOCH - 20 * SECOND)
        await self.add(outbox, first, update, second)
        assert await outbox.oldest(EPOCH) == timedelta(seconds=60)
        await outbox.record("first", accepted(first.delivery))
        assert await outbox.oldest(EPOCH) == timedelta(seconds=50)
        await outbox.record("update", abandoned(update.delivery, "outlived"))
        await outbox.record("second", on_its_way(second.delivery))
        assert await outbox.oldest(EPOCH) == timedelta(seconds=20)
        await outbox.record("second", accepted(second.delivery))
        assert await outbox.oldest(EPOCH) == timedelta(0)

    async def test_an_empty_outbox_has_no_age(self, outbox):
        assert await outbox.oldest(EPOCH) == timedelta(0)

    async def test_the_state_of_a_row_survives_the_round_trip(self, outbox):
        row = a_notification("n-1")
        await self.add(outbox, row)
        moved = replace(
            failed(row.delivery),
            channel=3,
            attempts=17,
            channel_attempts=2,
            state=State.RETRYING,
            next_at=EPOCH,
        )
        await outbox.record("n-1", moved)
        [again] = await outbox.claim(EPOCH, LEASE, 10)
        assert again.delivery == moved
