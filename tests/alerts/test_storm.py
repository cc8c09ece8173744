"""A storm in timetables: what rings singly, what a group tells of, when it rings again, and what never waits."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest

from alerts.delivery import Answer, Attempt, Delivery, RetryPolicy, State, answered, started
from alerts.group import Call, Group, Scope, acknowledged, is_group
from alerts.memory_outbox import MemoryOutbox
from alerts.page import Kind
from alerts.relay import Grouping
from alerts.storm import Admitted, Reason, StormPolicy, owed
from tests.support.fake_clock import EPOCH
from tests.support.storms import FIVE, LINKS, a_row, admitted, rows

SECOND = timedelta(seconds=1)
POLICY = StormPolicy()
SCOPE = Scope(Kind.PAGE, "production", False, "7.2")


@pytest.fixture
def outbox():
    return MemoryOutbox()


def reasons(done: Admitted) -> Counter[Reason]:
    return Counter(done.reasons.values())


async def accept(outbox: MemoryOutbox, done: Admitted, now=EPOCH) -> None:
    for row in done.send:
        delivery = answered(started(row.delivery, now), Attempt(Answer.ACCEPTED, "ok"), now, RetryPolicy())
        await outbox.record(row.id, delivery)


def the_group(outbox: MemoryOutbox):
    [group] = outbox._grouped.groups()
    return group


async def storm(outbox: MemoryOutbox, count: int, now=EPOCH, first: int = 0, **facts):
    done = await admitted(outbox, now, rows(count, now, first, **facts))
    await accept(outbox, done, now)
    return done


async def test_a_quiet_day_knows_no_groups(outbox):
    for hour in range(24):
        now = EPOCH + timedelta(hours=hour)
        done = await storm(outbox, 3, now, first=hour * 10)
        assert reasons(done) == {Reason.SINGLE: 3}
    assert outbox._grouped.groups() == ()


async def test_the_first_ring_singly_and_a_group_tells_of_the_rest(outbox):
    done = await storm(outbox, 500)
    assert reasons(done) == {Reason.SINGLE: 10, Reason.CARRIED: 490}
    group = the_group(outbox)
    assert (group.count, group.scope.release, group.scope.track) == (490, "7.2", "production")
    assert len(outbox._grouped.members(group.key)) == 490
    [call] = done.calls
    assert call.delivery.next_at == EPOCH + POLICY.gathering
    assert call.page.dedup_key == call.page.incident == group.key
    assert is_group(group.key)
    assert call.page.ack_link == f"https://jiezhu.example/{group.key}/ack"


async def test_what_is_carried_is_never_due_again(outbox):
    await storm(outbox, 50)
    again = await admitted(outbox, EPOCH + timedelta(hours=1))
    assert [row.page.group for row in again.send] == [40]
    states = Counter(row.delivery.state for row in outbox.rows() if row.told_by)
    assert states == {State.CARRIED: 40}


async def test_the_groups_page_says_what_stands_when_it_leaves(outbox):
    await storm(outbox, 20)
    await storm(outbox, 100, EPOCH + SECOND, first=20)
    later = EPOCH + POLICY.gathering
    done = await admitted(outbox, later, [a_row(999, later, level="plan_intent", score=0.99)])
    [page] = [row.page for row in done.send]
    assert (page.group, page.level, page.score) == (110, "active_ideation", 0.874)
    assert the_group(outbox).level == "plan_intent"  # joined in the same moment, after it had left


async def test_it_rings_again_under_another_key_when_it_has_grown_by_a_lot(outbox):
    await storm(outbox, 20)
    first = await admitted(outbox, EPOCH + POLICY.gathering)
    await accept(outbox, first)
    little = await storm(outbox, 29, EPOCH + 6 * SECOND, first=100)
    assert little.calls == ()
    lot = await storm(outbox, 1, EPOCH + 7 * SECOND, first=200)
    [call] = lot.calls
    assert call.page.dedup_key == f"{the_group(outbox).key}-2"
    assert call.delivery.next_at == EPOCH + POLICY.gathering + POLICY.renewal
    more = await storm(outbox, 1000, EPOCH + 8 * SECOND, first=1000)
    assert more.calls == (), "one ring is about to leave, and will tell of these, too"


async def test_once_the_storm_is_over_single_ones_ring_singly_although_the_group_still_does(outbox):
    """R61. Nothing stays switched off."""
    await storm(outbox, 500)
    await accept(outbox, await admitted(outbox, EPOCH + POLICY.gathering))
    for minute in range(1, 5):
        done = await storm(outbox, 1, EPOCH + timedelta(minutes=minute), first=1000 + minute)
        assert reasons(done) == {Reason.SINGLE: 1}
    assert the_group(outbox).ringing


async def test_it_rings_at_once_when_it_gets_graver(outbox):
    await storm(outbox, 20)
    await accept(outbox, await admitted(outbox, EPOCH + POLICY.gathering))
    now = EPOCH + 6 * SECOND
    done = await storm(outbox, 1, now, first=100, level="plan_intent")
    [call] = done.calls
    assert (call.page.level, call.delivery.next_at) == ("plan_intent", now)


@pytest.mark.parametrize("facts", [{"level": "in_progress"}, {"outcome": "harmful"}])
async def test_the_gravest_keep_places_of_their_own(outbox, facts):
    await storm(outbox, 500)
    now = EPOCH + SECOND
    mixed = [*rows(200, now, 1000), *rows(3, now, 2000, **facts)]
    done = await admitted(outbox, now, mixed)
    assert [row.page.incident for row in done.send] == [row.page.incident for row in mixed[-3:]]


async def test_the_gravest_come_first_among_those_that_are_due(outbox):
    given = [*rows(100), *rows(5, first=100, level="in_progress")]
    done = await admitted(outbox, EPOCH, given)
    assert [row.page.level for row in done.send[:5]] == ["in_progress"] * 5


async def test_so_many_of_the_gravest_that_they_are_told_of_together_ring_at_once(outbox):
    done = await storm(outbox, 100, level="in_progress")
    assert len(done.send) == 20
    assert [call.delivery.next_at for call in done.calls] == [EPOCH]


async def test_another_releases_first_pages_ring_while_one_storms(outbox):
    await storm(outbox, 500)
    done = await storm(outbox, 3, EPOCH + SECOND, first=1000, release="7.1")
    assert reasons(done) == {Reason.SINGLE: 3}


@pytest.mark.parametrize("facts", [{"track": "staging"}, {"probe": True}])
async def test_rehearsals_take_nothing_of_production(outbox, facts):
    await storm(outbox, 1000, **facts)
    done = await storm(outbox, 10, EPOCH, first=2000)
    assert reasons(done) == {Reason.SINGLE: 10}
    assert {group.scope.release for group in outbox._grouped.groups()} == {"7.2"}


async def test_staging_pages_that_are_grave_keep_to_their_lane(outbox):
    done = await storm(outbox, 100, track="staging", level="in_progress")
    assert len(done.send) <= 5


async def test_the_channels_limit_holds_whatever_the_releases_are_called(outbox):
    sent = []
    for second in range(120):
        now = EPOCH + second * SECOND
        given = [a_row(second * 100 + n, now, release=f"r{second}-{n}") for n in range(50)]
        done = await admitted(outbox, now, given)
        await accept(outbox, done, now)
        sent += [(now, row) for row in done.send]
    for start in range(60):
        span = [row for at, row in sent if EPOCH + start * SECOND <= at < EPOCH + (start + 60) * SECOND]
        assert len(span) <= POLICY.requests
    several = [group for group in outbox._grouped.groups() if group.scope.release is None]
    assert several
    assert all(
        row.told_by or row.delivery.state is State.ACCEPTED for row in outbox.rows() if not row.page.group
    )


async def test_every_target_is_called_for_the_group(outbox):
    both = [*rows(30), *rows(30, target="ben")]
    done = await admitted(outbox, EPOCH, both)
    assert {call.target for call in done.calls} == {"anna", "ben"}
    assert the_group(outbox).count <= 30


async def test_it_escalates_when_its_first_incident_does_and_not_for_each_of_them(outbox):
    for second in range(60):
        await storm(outbox, 10, EPOCH + second * SECOND, first=second * 10)
        await accept(outbox, await admitted(outbox, EPOCH + second * SECOND))
    carried = {row.page.incident for row in outbox.rows() if row.told_by}
    calls = []
    for second in range(60):
        now = EPOCH + FIVE + second * SECOND
        due = [a_row(n, now, target="ben", step=1) for n in range(second * 10, second * 10 + 10)]
        done = await admitted(outbox, now, [row for row in due if row.page.incident in carried])
        assert all(row.page.group for row in done.send), "its incidents do not ring beside it"
        calls += [(second, call) for call in done.calls]
    [(second, call)] = calls
    assert second <= 1
    assert (call.target, call.page.group) == ("ben", len(carried))


async def test_it_goes_on_calling_when_the_one_that_led_was_taken(outbox):
    """Whatever step its incidents are at: one that repeats is heard, unless somebody was called just before."""
    await storm(outbox, 20)
    group = the_group(outbox)
    member = int(outbox._grouped.members(group.key)[0].split("-")[1])
    now = EPOCH
    for step in (7, 3, 4):
        now += FIVE
        done = await admitted(outbox, now, [a_row(member, now, step=step)])
        assert len(done.calls) == 1, step
    assert len({call.id for call in outbox.rows() if call.page.group}) == 4


async def test_after_somebody_has_it_the_next_ones_ring_anew(outbox):
    await storm(outbox, 50)
    await accept(outbox, await admitted(outbox, EPOCH + POLICY.gathering))
    now = EPOCH + timedelta(minutes=10)
    outbox._grouped.put(acknowledged(the_group(outbox), "anna", now, settled=True))
    done = await storm(outbox, 50, now + SECOND, first=1000)
    assert reasons(done) == {Reason.SINGLE: 10, Reason.CARRIED: 40}
    assert len({group.key for group in outbox._grouped.groups()}) == 2


async def test_a_repeat_is_silent_only_while_its_group_is_being_taken(outbox):
    await storm(outbox, 50)
    await accept(outbox, await admitted(outbox, EPOCH + POLICY.gathering))
    group = the_group(outbox)
    member = int(outbox._grouped.members(group.key)[0].split("-")[1])
    taken = acknowledged(group, "anna", EPOCH + FIVE)
    outbox._grouped.put(taken)
    done = await admitted(outbox, EPOCH + FIVE + SECOND, [a_row(member, EPOCH + FIVE, step=1)])
    assert done.send == done.calls == ()
    outbox._grouped.put(acknowledged(group, "anna", EPOCH + FIVE, settled=True))
    later = EPOCH + 2 * FIVE
    done = await admitted(outbox, later, [a_row(member, later, step=2)])
    assert [row.page.incident for row in done.send] == [f"jz-{member:020}-1"], "nobody has this one after all"


async def test_a_rise_of_one_that_a_taken_group_told_of_rings_by_itself(outbox):
    await storm(outbox, 50)
    group = the_group(outbox)
    member = int(outbox._grouped.members(group.key)[0].split("-")[1])
    outbox._grouped.put(acknowledged(group, "anna", EPOCH + SECOND))
    now = EPOCH + timedelta(minutes=2)
    done = await admitted(outbox, now, [a_row(member, now, alert="r9", level="plan_intent")])
    assert f"jz-{member:020}-1-r9" in {row.page.dedup_key for row in done.send}


async def test_a_receiver_in_trouble_makes_no_group_of_what_it_was_asked(outbox):
    failing = Attempt(Answer.UNAVAILABLE, "http_500")
    now = EPOCH
    done = await admitted(outbox, now, rows(5))
    for _ in range(100):
        for row in done.send:
            failed = answered(started(row.delivery, now), failing, now, RetryPolicy())
            await outbox.record(row.id, failed)
        now += SECOND
        done = await admitted(outbox, now)
        assert Reason.CARRIED not in reasons(done)


async def test_updates_are_paced_and_none_is_lost(outbox):
    given = [a_row(n, kind=Kind.ACKNOWLEDGE) for n in range(100)]
    done = await admitted(outbox, EPOCH, given)
    assert 5 <= len(done.send) <= 30
    assert reasons(done)[Reason.PACED] == 100 - len(done.send)
    await accept(outbox, done)
    sent = len(done.send)
    for second in range(1, 600):
        now = EPOCH + second * SECOND
        done = await admitted(outbox, now)
        await accept(outbox, done, now)
        sent += len(done.send)
    assert sent == 100


async def test_one_request_of_an_incident_at_a_time_to_a_channel(outbox):
    page, rise = a_row(1), a_row(1, alert="r9")
    first = await admitted(outbox, EPOCH, [page])
    second = await admitted(outbox, EPOCH + SECOND, [rise])
    assert (len(first.send), reasons(second)) == (1, {Reason.HELD: 1})
    await accept(outbox, first)
    third = await admitted(outbox, EPOCH + 2 * SECOND)
    assert [row.id for row in third.send] == [rise.id]


async def test_another_channel_is_asked_at_the_same_time(outbox):
    done = await admitted(outbox, EPOCH, [a_row(1, target="anna"), a_row(1, target="ben")])
    assert len(done.send) == 2


async def test_what_was_put_off_stands_in_nobodys_way(outbox):
    await admitted(outbox, EPOCH, [a_row(1)])
    held = await admitted(outbox, EPOCH, [a_row(1, alert="r9"), a_row(1, alert="r11")])
    assert reasons(held) == {Reason.HELD: 2}
    [first, *_] = outbox.rows()
    await outbox.record(first.id, Delivery(("anna",), State.ACCEPTED))
    done = await admitted(outbox, EPOCH + SECOND)
    assert reasons(done) == {Reason.SINGLE: 1, Reason.HELD: 1}


async def test_tickets_are_grouped_too_and_ring_nobody(outbox):
    done = await storm(outbox, 300, kind=Kind.TICKET, alert="t")
    group = the_group(outbox)
    assert len(done.send) <= 10
    assert group.count == 300 - len(done.send)
    [call] = done.calls
    assert (call.page.kind, call.page.ack_link) == (Kind.TICKET, None)


async def test_updates_of_what_a_group_alone_told_of_are_not_sent(outbox):
    await storm(outbox, 50)
    carried = [row for row in outbox.rows() if row.told_by]
    numbers = [int(row.page.incident.split("-")[1]) for row in carried]
    outbox.add(a_row(number, kind=Kind.ACKNOWLEDGE) for number in numbers)
    outbox.add([a_row(0, kind=Kind.ACKNOWLEDGE)])
    done = await admitted(outbox, EPOCH + SECOND)
    assert [row.page.incident for row in done.send] == [a_row(0).page.incident]


async def test_a_page_about_the_monitor_itself_and_a_test_page_always_leave(outbox):
    from alerts.page import Trouble

    await storm(outbox, 500)
    given = [a_row(9000, trouble=Trouble.LINE_STOPPED), a_row(9001, test=True)]
    done = await admitted(outbox, EPOCH, given)
    assert reasons(done) == {Reason.SINGLE: 2}


async def test_the_same_rows_and_stand_give_the_same_answer():
    one, other = MemoryOutbox(), MemoryOutbox()
    given = rows(200)
    assert await admitted(one, EPOCH, given) == await admitted(other, EPOCH, given)


async def test_numbers_can_be_set(outbox):
    grouping = Grouping(StormPolicy(requests=1_000_000, singles=1_000_000), LINKS)
    done = await admitted(outbox, EPOCH, rows(5000), grouping)
    assert reasons(done) == {Reason.SINGLE: 5000}


async def test_each_step_calls_however_long_the_next_one_is(outbox):
    await storm(outbox, 100)
    await accept(outbox, await admitted(outbox, EPOCH + POLICY.gathering))
    now, steps = EPOCH, [timedelta(minutes=minutes) for minutes in (5, 30, 60, 5, 30, 60)]
    for step in range(1, len(steps)):
        now += steps[step - 1]
        due = [
            a_row(n, now, step=step, escalates_at=now + steps[step], waited=steps[step - 1].total_seconds())
            for n in range(50, 60)
        ]
        done = await admitted(outbox, now, due)
        assert [call.target for call in done.calls] == ["anna"], step
        await accept(outbox, await admitted(outbox, now + SECOND))


async def test_one_that_joined_later_is_called_for_by_the_step_that_has_run_out(outbox):
    """Its steps are below what was called for, and as long apart as anybody's."""
    await storm(outbox, 100)
    await accept(outbox, await admitted(outbox, EPOCH + POLICY.gathering))
    now = EPOCH + timedelta(minutes=35)
    first = await admitted(outbox, now, [a_row(50, now, step=2, waited=1800, escalates_at=now + 12 * FIVE)])
    assert len(first.calls) == 1
    await accept(outbox, await admitted(outbox, now), now)
    for minutes, calls in ((4, 0), (34, 1)):
        later = now + timedelta(minutes=minutes)
        waited, step = (300, 1) if minutes == 4 else (1800, 2)
        late = a_row(60, later, step=step, waited=waited, escalates_at=later + 12 * FIVE)
        assert len((await admitted(outbox, later, [late])).calls) == calls, minutes


@pytest.mark.parametrize("facts", [{"track": "staging"}, {"probe": True}])
async def test_rehearsals_take_no_group_of_production(outbox, facts):
    for number in range(6):
        await storm(outbox, 30, first=1000 * number, release=f"pr{number}", **facts)
    await storm(outbox, 60, first=10_000)
    assert "7.2" in {group.scope.release for group in outbox._grouped.groups()}


async def test_ticket_groups_do_not_count_against_those_of_pages(outbox):
    for number in range(POLICY.groups):
        now = EPOCH + number * timedelta(minutes=1)
        facts = {"release": f"t{number}", "target": "desk", "kind": Kind.TICKET, "alert": "t"}
        await storm(outbox, 30, now, first=1000 * number, **facts)
    await storm(outbox, 60, EPOCH + FIVE, first=10_000)
    assert "7.2" in {group.scope.release for group in outbox._grouped.groups()}


async def test_what_is_graver_rings_though_the_groups_had_their_share(outbox):
    await storm(outbox, 60)
    await accept(outbox, await admitted(outbox, EPOCH + POLICY.gathering))
    now = EPOCH + 6 * SECOND
    for number in range(8):
        await storm(outbox, 30, now, first=1000 * (number + 1), release=f"r{number}")
    await storm(outbox, 30, now, first=20_000, outcome="harmful", release="r9")
    done = await storm(outbox, 100, now, first=30_000, level="in_progress")
    assert [call.delivery.next_at for call in done.calls if call.page.release == "7.2"] == [now]


async def renewal_waits(outbox):
    """Ten times as many as were told of: it will ring again half a minute after it did."""
    await storm(outbox, 20)
    await accept(outbox, await admitted(outbox, EPOCH + POLICY.gathering))
    [call] = (await storm(outbox, 100, EPOCH + 6 * SECOND, first=100)).calls
    assert call.delivery.next_at == EPOCH + POLICY.gathering + POLICY.renewal
    return call


async def test_what_is_graver_does_not_wait_for_a_ring_that_waits(outbox):
    call = await renewal_waits(outbox)
    now = EPOCH + 8 * SECOND
    done = await storm(outbox, 1, now, first=500, level="plan_intent")
    assert done.calls == ()
    done = await admitted(outbox, now)
    assert [(row.id, row.page.level) for row in done.send] == [(call.id, "plan_intent")]
    await accept(outbox, done, now)
    assert (await admitted(outbox, EPOCH + timedelta(minutes=1))).send == (), "it does not ring a second time"


async def test_the_gravest_do_not_wait_for_a_first_ring_to_gather(outbox):
    await storm(outbox, 100)
    now = EPOCH + SECOND
    given = [*rows(25, now, 1000, level="in_progress"), *rows(25, now, 2000)]
    await accept(outbox, await admitted(outbox, now, given), now)
    assert [row.page.level for row in (await admitted(outbox, now)).send if row.page.group] == ["in_progress"]


async def test_a_ring_that_should_have_left_long_ago_is_not_waited_for(outbox):
    """It was sent without the outbox, or its row is lost."""
    call = await renewal_waits(outbox)
    await outbox.record(call.id, Delivery(call.delivery.route, State.ACCEPTED))
    done = await storm(outbox, 1, EPOCH + 2 * FIVE, first=600)
    done = await storm(outbox, 30, EPOCH + 2 * FIVE, first=700)
    assert [call.page.dedup_key for call in done.calls] == [f"{the_group(outbox).key}-3"]


async def test_a_rise_of_one_in_a_group_that_rings_is_told_of_once(outbox):
    both = [*rows(100), *rows(100, target="ben")]
    await accept(outbox, await admitted(outbox, EPOCH, both))
    await accept(outbox, await admitted(outbox, EPOCH + POLICY.gathering))
    member = int(outbox._grouped.members(the_group(outbox).key)[0].split("-")[1])
    now = EPOCH + 6 * SECOND
    calls = (await admitted(outbox, now, [a_row(member, now, alert="r9")])).calls
    assert {call.page.dedup_key for call in calls} == {f"{the_group(outbox).key}-2"}
    assert {call.target for call in calls} == {"anna", "ben"}
    later = EPOCH + POLICY.gathering + POLICY.renewal
    assert {call.delivery.next_at for call in calls} == {later}
    await accept(outbox, await admitted(outbox, later), later)
    again = await admitted(outbox, later, [a_row(member, now, alert="r9", target="ben")])
    assert again.calls == (), "the same rise, for the other of them"


async def test_whoever_joins_is_seen_by_who_is_writing_the_group(outbox):
    await storm(outbox, 500)
    await accept(outbox, await admitted(outbox, EPOCH + POLICY.gathering))
    group = the_group(outbox)
    member = int(outbox._grouped.members(group.key)[0].split("-")[1])
    now = EPOCH + 6 * SECOND
    await admitted(outbox, now, [a_row(member, now, step=1)])
    assert the_group(outbox).version > group.version


def test_the_ring_that_a_group_is_owed():
    told = Group(
        "jz-group-1", SCOPE, EPOCH, EPOCH, "active_ideation", count=40, rings=1, ring_at=EPOCH, told=10
    )
    told = replace(told, told_gravity=told.gravity, calls=(Call("anna", ("anna",), EPOCH),))
    now = EPOCH + POLICY.renewal
    again, [call] = owed(told, now, POLICY, LINKS)
    assert (call.page.dedup_key, call.page.group, call.delivery.next_at) == ("jz-group-1-2", 40, now)
    assert (again.rings, again.told) == (2, 0)
    assert owed(told, now - SECOND, POLICY, LINKS) is None
    assert owed(again, now + FIVE, POLICY, LINKS) is None, "it is on its way"
    assert owed(replace(told, count=39), now, POLICY, LINKS) is None
    assert owed(acknowledged(told, "anna", now), now, POLICY, LINKS) is None
    assert owed(replace(told, count=10, level="plan_intent"), now, POLICY, LINKS) is not None
