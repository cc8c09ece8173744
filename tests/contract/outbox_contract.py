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

import pytest

from alerts.delivery import Answer, Attempt, Delivery, RetryPolicy, State, abandoned, answered, started
from alerts.group import group_updates
from alerts.page import Kind
from alerts.ports import Notification
from alerts.storm import HELD, Reason
from tests.support.fake_clock import EPOCH
from tests.support.pages import a_notification
from tests.support.storms import GROUPING, LINKS, a_row, rows

LEASE = timedelta(seconds=15)
SECOND = timedelta(seconds=1)
POLICY = RetryPolicy()


def on_its_way(delivery: Delivery) -> Delivery:
    return started(delivery, EPOCH)


def failed(delivery: Delivery) -> Delivery:
    return answered(on_its_way(delivery), Attempt(Answer.UNAVAILABLE, "http_500"), EPOCH, POLICY)


def accepted(delivery: Delivery) -> Delivery:
    return answered(on_its_way(delivery), Attempt(Answer.ACCEPTED, "http_202"), EPOCH, POLICY)


def fallen_over(delivery: Delivery) -> Delivery:
    """The first channel refused it; the next one is to be asked."""
    return answered(on_its_way(delivery), Attempt(Answer.REJECTED, "http_400"), EPOCH, POLICY)


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

    async def test_a_storm_is_admitted_as_decided(self, outbox):
        """Ten leave, the rest is a group's: never due again, and the group's page is due in its time."""
        given = rows(300)
        await self.add(outbox, *given)
        claimed = await outbox.claim(EPOCH, LEASE, 300)
        admitted = await outbox.admit(claimed, EPOCH, GROUPING.decide)
        assert len(admitted.send) == 10
        assert {row.page for row in admitted.send} <= {row.page for row in given}
        for row in admitted.send:
            await outbox.record(row.id, accepted(row.delivery))
        assert await self.ids(outbox, EPOCH + SECOND) == []
        [call] = await outbox.claim(EPOCH + timedelta(hours=1), LEASE, 300)
        assert (call.page.group, call.page.incident) == (1, admitted.groups[0].key)
        [page] = (await outbox.admit([call], EPOCH + timedelta(hours=1), GROUPING.decide)).send
        assert page.page.group == 290
        await outbox.record(page.id, accepted(page.delivery))
        assert await outbox.oldest(EPOCH + timedelta(hours=1)) == timedelta(0)

    async def test_what_was_admitted_counts_for_whoever_asks_next(self, outbox):
        await self.add(outbox, *rows(8))
        first = await outbox.admit(await outbox.claim(EPOCH, LEASE, 300), EPOCH, GROUPING.decide)
        await self.add(outbox, *rows(8, first=100))
        second = await outbox.admit(await outbox.claim(EPOCH, LEASE, 300), EPOCH, GROUPING.decide)
        assert (len(first.send), len(second.send)) == (8, 2)
        await self.add(outbox, *rows(8, first=200))
        third = await outbox.admit(await outbox.claim(EPOCH, LEASE, 300), EPOCH, GROUPING.decide)
        assert third.send == third.calls == ()
        assert {changed.told_by for changed in third.changed} == {second.groups[0].key}

    async def test_what_was_let_go_once_is_not_decided_about_anew(self, outbox):
        """Its relay died before it wrote that a request left: it leaves again, under its own key."""
        await self.add(outbox, *rows(10))
        await outbox.admit(await outbox.claim(EPOCH, LEASE, 10), EPOCH, GROUPING.decide)
        again = await outbox.claim(EPOCH + LEASE, LEASE, 10)
        admitted = await outbox.admit(again, EPOCH + LEASE, GROUPING.decide)
        assert (len(admitted.send), admitted.groups) == (10, ())

    async def test_those_who_decide_at_once_decide_one_after_another(self, outbox):
        await self.add(outbox, *rows(200))
        claims = [await outbox.claim(EPOCH, LEASE, 20) for _ in range(10)]
        done = await asyncio.gather(*(outbox.admit(claim, EPOCH, GROUPING.decide) for claim in claims))
        assert sum(len(one.send) for one in done) == 10
        assert len({group.key for one in done for group in one.groups}) == 1
        assert sum(len(one.calls) for one in done) == 1

    async def test_a_ring_that_waits_is_brought_forward_by_what_is_graver(self, outbox):
        await self.add(outbox, *rows(30))
        [call] = (await outbox.admit(await outbox.claim(EPOCH, LEASE, 300), EPOCH, GROUPING.decide)).calls
        assert call.delivery.next_at > EPOCH + SECOND
        now = EPOCH + SECOND
        await self.add(outbox, *rows(40, first=100, level="in_progress"))
        done = await outbox.admit(await outbox.claim(now, LEASE, 300), now, GROUPING.decide)
        assert done.calls == ()
        [waiting] = [row for row in await outbox.claim(now, LEASE, 300) if row.page.group]
        [row] = (await outbox.admit([waiting], now, GROUPING.decide)).send
        assert (row.id, row.page.level) == (call.id, "in_progress")

    async def test_a_request_about_the_same_incident_is_held_while_one_is_on_its_way(self, outbox):
        await self.add(outbox, a_row(1))
        [page] = await outbox.claim(EPOCH, LEASE, 10)
        await outbox.admit([page], EPOCH, GROUPING.decide)
        for recorded in (None, on_its_way(page.delivery)):
            if recorded is not None:
                await outbox.record(page.id, recorded)
            rise = a_row(1, alert="r9" if recorded is None else "r11")
            await self.add(outbox, rise)
            [held] = [row for row in await outbox.claim(EPOCH, LEASE, 10) if row.id == rise.id]
            admitted = await outbox.admit([held], EPOCH, GROUPING.decide)
            assert admitted.reasons == {rise.id: Reason.HELD}
        await outbox.record(page.id, accepted(page.delivery))
        later = EPOCH + HELD
        claimed = await outbox.claim(later, LEASE, 10)
        admitted = await outbox.admit(claimed, later, GROUPING.decide)
        assert sorted(admitted.reasons.values()) == [Reason.HELD, Reason.SINGLE]

    async def test_an_update_of_what_a_group_alone_told_of_is_never_due(self, outbox):
        await self.add(outbox, *rows(30))
        claimed = await outbox.claim(EPOCH, LEASE, 300)
        admitted = await outbox.admit(claimed, EPOCH, GROUPING.decide)
        for row in admitted.send:
            await outbox.record(row.id, accepted(row.delivery))
        numbers = [int(row.page.incident.split("-")[1]) for row in claimed]
        await self.add(outbox, *(a_row(number, kind=Kind.RESOLVE) for number in numbers))
        due = {row.page.incident for row in await outbox.claim(EPOCH + SECOND, LEASE, 300)}
        assert due == {row.page.incident for row in admitted.send}

    async def updates_of(self, outbox: Any, *given: Notification) -> list[tuple[str, tuple[str, ...]]]:
        """What is due once these updates are written: whom for, and over which channels."""
        await self.add(outbox, *given)
        later = await outbox.claim(EPOCH + timedelta(hours=1), LEASE, 300)
        return sorted(
            (row.target, row.delivery.route) for row in later if row.page.kind is given[0].page.kind
        )

    @pytest.mark.parametrize("kind", [Kind.ACKNOWLEDGE, Kind.RESOLVE])
    async def test_an_update_goes_to_the_channel_that_accepted_the_page_too(self, outbox, kind):
        page, rise = a_row(1), a_row(1, alert="r9")
        await self.add(outbox, page, rise)
        await outbox.record(page.id, accepted(fallen_over(page.delivery)))
        await outbox.record(rise.id, accepted(rise.delivery))
        told = [a_row(1, kind=kind), a_row(1, kind=kind, alert="r9")]
        given = [replace(row, delivery=Delivery(("anna",))) for row in told]
        found = await self.updates_of(outbox, *given)
        assert found == [("anna", ("anna",)), ("anna", ("anna",)), ("other", ("other",))]

    async def test_an_update_says_the_same_wherever_it_goes_and_is_written_once(self, outbox):
        page = a_row(1)
        await self.add(outbox, page)
        await outbox.record(page.id, accepted(fallen_over(page.delivery)))
        update = replace(a_row(1, kind=Kind.RESOLVE), delivery=Delivery(("anna",), next_at=EPOCH))
        await self.add(outbox, update)
        await self.add(outbox, update)
        own, further = sorted(await outbox.claim(EPOCH, LEASE, 10), key=lambda row: row.target)
        assert further == replace(own, id=further.id, delivery=replace(own.delivery, route=("other",)))
        assert await self.ids(outbox) == []

    async def test_a_channel_that_an_update_asks_anyway_is_asked_once(self, outbox):
        pages = [a_row(1), a_row(1, target="ben")]
        await self.add(outbox, *pages)
        await outbox.record(pages[0].id, accepted(fallen_over(pages[0].delivery)))
        await outbox.record(pages[1].id, accepted(fallen_over(pages[1].delivery)))
        given = [a_row(1, kind=Kind.RESOLVE), a_row(1, kind=Kind.RESOLVE, target="ben")]
        routes = [("sms-anna", "other"), ("other",)]
        told = [replace(row, delivery=Delivery(route)) for row, route in zip(given, routes, strict=True)]
        assert await self.updates_of(outbox, *told) == [("anna", routes[0]), ("ben", routes[1])]

    async def test_an_update_goes_where_the_page_may_have_arrived_and_not_where_nobody_was_asked(
        self, outbox
    ):
        """One page is on its way over the second channel; the other goes on to it and has not been there."""
        asked, waits = a_row(1), a_row(2)
        await self.add(outbox, asked, waits)
        await outbox.record(asked.id, on_its_way(fallen_over(asked.delivery)))
        await outbox.record(waits.id, fallen_over(waits.delivery))
        given = [replace(a_row(number, kind=Kind.RESOLVE), delivery=Delivery(("anna",))) for number in (1, 2)]
        found = await self.updates_of(outbox, *given)
        assert found == [("anna", ("anna",)), ("anna", ("anna",)), ("other", ("other",))]

    async def test_an_update_written_with_its_page_goes_where_the_page_went(self, outbox):
        """Both are written anew after an absence of the database, in which the page was accepted."""
        page = a_row(1)
        sent = replace(page, delivery=accepted(fallen_over(page.delivery)))
        update = replace(a_row(1, kind=Kind.ACKNOWLEDGE), delivery=Delivery(("anna",)))
        assert await self.updates_of(outbox, update, sent) == [("anna", ("anna",)), ("other", ("other",))]

    async def test_a_groups_update_goes_where_its_page_went(self, outbox):
        await self.add(outbox, *rows(30))
        done = await outbox.admit(await outbox.claim(EPOCH, LEASE, 300), EPOCH, GROUPING.decide)
        [call], [group] = done.calls, done.groups
        await outbox.record(call.id, accepted(fallen_over(call.delivery)))
        told = group_updates(group, Kind.ACKNOWLEDGE, LINKS, EPOCH)
        assert await self.updates_of(outbox, *told) == [("anna", ("anna",)), ("other", ("other",))]
