"""What every store must do, whatever it stands on. The pipeline, the timers and people rely on each line of it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from alerts.canary import Canary
from alerts.delivery import Delivery
from alerts.delivery import State as DeliveryState
from alerts.incident import State
from alerts.page import Kind
from alerts.ports import Notification
from detectors.finding import Level
from monitor.errors import CaseConflict, PositionConflict
from monitor.store.work import Advance, AuditRow, CaseWrite, DeadLetter, Excerpt, FindingRow, Wake, Work
from tests.support.cases import (
    NOW,
    PARTITION,
    SECOND,
    a_case,
    a_full_case,
    a_long_case,
    a_streaming_case,
    an_incident,
)
from tests.support.pages import a_notification


def a_write(case, wake_at=None, partition=PARTITION) -> CaseWrite:
    return CaseWrite(case, partition, wake_at)


def _a_test_page(canary: Canary) -> Notification:
    row = a_notification(canary.notification)
    return replace(row, page=replace(row.page, incident=canary.incident, canary=True))


def an_audit_row(reason="opened", incident="jz-1-1", at=NOW) -> AuditRow:
    return AuditRow(incident, at, reason, "worker", "watching", {"step": 1})


def an_excerpt(event="e-1", incident="jz-1-1", at=NOW, text="words") -> Excerpt:
    return Excerpt(incident, event, "user", at, text)


def a_dead_letter(offset=7, at=NOW) -> DeadLetter:
    return DeadLetter(PARTITION, offset, "not_json", at, b"\xff\x00")


def a_finding(finding_id="f-1") -> FindingRow:
    return FindingRow(
        finding_id,
        "c-1",
        None,
        "turn",
        NOW,
        "none",
        0.5,
        0.25,
        None,
        "scored",
        "r\x001",
        "canary",
        "zh",
        {"k": [1]},
    )


class StoreContract:
    """Give a fixture ``store``."""

    async def test_an_empty_store_knows_nothing(self, store):
        assert await store.positions([PARTITION]) == {}
        assert await store.cases(["c-1"]) == {}
        assert list(await store.due(NOW, 10)) == []
        assert await store.next_wake() is None
        assert await store.incident("jz-1-1") is None
        assert list(await store.incidents(open_only=False, limit=9)) == []
        assert await store.partition_of("c-1") is None
        assert list(await store.timeline("jz-1-1")) == []
        assert list(await store.excerpts("jz-1-1")) == []
        assert await store.alike("r", NOW) == 0
        assert await store.expire(NOW) == 0
        await store.probe(NOW)
        await store.probe(NOW)

    async def test_asking_for_nothing_gives_nothing(self, store):
        assert await store.positions([]) == {}
        assert await store.cases([]) == {}
        await store.commit(Work())

    async def test_ping_tells_how_long_an_answer_takes(self, store):
        assert timedelta(0) <= await store.ping() < timedelta(seconds=3)

    # positions

    async def test_positions_move_on_by_partition(self, store):
        await store.commit(Work(advances=[Advance(("t", 0), 0, 5), Advance(("t", 1), 0, 7)]))
        await store.commit(Work(advances=[Advance(("t", 0), 5, 9), Advance(("u", 0), 0, 1)]))
        wanted = [("t", 0), ("t", 1), ("u", 0), ("u", 9)]
        assert await store.positions(wanted) == {("t", 0): 9, ("t", 1): 7, ("u", 0): 1}

    @pytest.mark.parametrize("expected", [0, 4, 6])
    async def test_a_position_that_moved_voids_the_whole_work(self, store, expected):
        await store.commit(Work(advances=[Advance(("t", 0), 0, 5)]))
        work = Work(
            advances=[Advance(("t", 1), 0, 3), Advance(("t", 0), expected, 9)],
            cases=[a_write(a_case())],
            notifications=[a_notification()],
            audit=[an_audit_row()],
            excerpts=[an_excerpt()],
        )
        with pytest.raises(PositionConflict) as caught:
            await store.commit(work)
        assert caught.value.partitions == {("t", 0)}
        assert await store.positions([("t", 0), ("t", 1)]) == {("t", 0): 5}
        assert await store.cases(["c-1"]) == {}
        assert list(await store.claim(NOW, SECOND, 9)) == []
        assert list(await store.timeline("jz-1-1")) == []
        assert list(await store.excerpts("jz-1-1")) == []

    async def test_a_position_that_was_never_read_is_not_made_up(self, store):
        with pytest.raises(PositionConflict) as caught:
            await store.commit(Work(advances=[Advance(("t", 0), 5, 9)]))
        assert caught.value.partitions == {("t", 0)}

    async def test_of_many_who_advance_at_once_one_wins(self, store):
        work = Work(advances=[Advance(("t", number), 0, 5) for number in range(4)], audit=[an_audit_row()])
        results = await asyncio.gather(*(store.commit(work) for _ in range(4)), return_exceptions=True)
        assert sorted(type(result).__name__ for result in results) == [
            "NoneType",
            *["PositionConflict"] * 3,
        ]
        assert len(await store.timeline("jz-1-1")) == 1

    async def test_of_many_who_move_a_position_on_at_once_one_wins(self, store):
        for reached in range(0, 12, 3):
            work = Work(
                advances=[Advance(("t", number), reached, reached + 3) for number in range(4)],
                audit=[an_audit_row()],
            )
            results = await asyncio.gather(*(store.commit(work) for _ in range(4)), return_exceptions=True)
            assert results.count(None) == 1
        assert len(await store.timeline("jz-1-1")) == 4

    # cases

    @pytest.mark.parametrize(
        "case",
        [
            a_case(),
            a_full_case(),
            a_long_case("c-1", 40),
            a_streaming_case("c-1", "I ", "am\x00", "\ud800 here", "的"),
        ],
    )
    async def test_a_case_comes_back_as_it_was_with_the_next_version(self, store, case):
        await store.commit(Work(cases=[a_write(case)]))
        assert await store.cases(["c-1", "c-9"]) == {"c-1": replace(case, version=1)}

    async def test_the_words_of_a_stream_go_once_nothing_came_for_a_while(self, store):
        streaming = a_streaming_case("c-1", "I ", "am here")
        await store.commit(Work(cases=[a_write(streaming, wake_at=NOW), a_write(a_case("c-2"))]))
        assert await store.expire_pieces(NOW) == 0
        assert await store.expire_pieces(NOW + SECOND) == 1
        assert await store.expire_pieces(NOW + SECOND) == 0
        (entry,) = streaming.conversation.entries
        wordless = a_case("c-1", 1, entries=(replace(entry, pieces=()),))
        assert await store.cases(["c-1"]) == {"c-1": wordless}
        assert await store.due(NOW, 9) == [Wake("c-1", PARTITION, NOW)], "its deadline stands"
        await store.commit(Work(cases=[a_write(replace(streaming, version=1))]))
        assert await store.cases(["c-1"]) == {"c-1": replace(streaming, version=2)}, (
            "who wrote has heard more"
        )

    async def test_the_words_of_streams_go_partition_by_partition(self, store):
        places = [("t", 0), ("t", 1), ("u", 0)]
        cases = [
            a_write(a_streaming_case(f"c-{number}", "words"), partition=place)
            for number, place in enumerate(places)
        ]
        await store.commit(Work(cases=cases))
        assert await store.expire_pieces(NOW + SECOND, ()) == 0
        assert await store.expire_pieces(NOW + SECOND, [("t", 1), ("u", 1)]) == 1
        found = await store.cases(["c-0", "c-1", "c-2"])
        assert [bool(found[key].conversation.entries[0].pieces) for key in sorted(found)] == [
            True,
            False,
            True,
        ]
        assert await store.expire_pieces(NOW + SECOND) == 2

    async def test_a_case_is_written_over_the_version_that_was_read(self, store):
        await store.commit(Work(cases=[a_write(a_streaming_case("c-1", "words"))]))
        await store.commit(Work(cases=[a_write(replace(a_full_case(), version=1)), a_write(a_case("c-2"))]))
        found = await store.cases(["c-1", "c-2"])
        assert found == {"c-1": replace(a_full_case(), version=2), "c-2": a_case("c-2", 1)}

    @pytest.mark.parametrize("version", [0, 2, 7])
    async def test_a_case_that_somebody_else_wrote_voids_the_whole_work(self, store, version):
        await store.commit(Work(cases=[a_write(a_case())]))
        stale = Work(
            advances=[Advance(("t", 0), 0, 5)],
            cases=[a_write(a_case("c-2")), a_write(a_case(version=version, seen=("e",)))],
            incidents=[an_incident()],
        )
        with pytest.raises(CaseConflict) as caught:
            await store.commit(stale)
        assert caught.value.conversations == {"c-1"}
        assert await store.cases(["c-1", "c-2"]) == {"c-1": a_case(version=1)}
        assert await store.positions([("t", 0)]) == {}
        assert await store.incident("jz-1-1") is None

    async def test_a_version_of_a_case_that_is_gone_conflicts(self, store):
        with pytest.raises(CaseConflict):
            await store.commit(Work(cases=[a_write(a_case(version=3))]))

    async def test_the_same_case_twice_in_one_work_is_refused(self, store):
        with pytest.raises(CaseConflict):
            await store.commit(Work(cases=[a_write(a_case()), a_write(a_case())]))
        assert await store.cases(["c-1"]) == {}

    async def test_a_known_case_twice_in_one_work_is_refused(self, store):
        await store.commit(Work(cases=[a_write(a_case())]))
        with pytest.raises(CaseConflict):
            await store.commit(
                Work(cases=[a_write(a_case(version=1)), a_write(a_case(version=1, seen=("e",)))])
            )
        assert await store.cases(["c-1"]) == {"c-1": a_case(version=1)}

    async def test_writers_that_cross_each_other_end(self, store):
        """Two workers with the same cases in opposite order: one wins each round, none hangs."""
        keys = [f"c-{number}" for number in range(12)]
        for version in range(4):
            forward = Work(cases=[a_write(a_case(key, version)) for key in keys])
            backward = Work(cases=[a_write(a_case(key, version)) for key in reversed(keys)])
            results = await asyncio.gather(
                store.commit(forward), store.commit(backward), return_exceptions=True
            )
            assert sorted(type(result).__name__ for result in results) == ["CaseConflict", "NoneType"]

    async def test_a_case_knows_its_partition(self, store):
        await store.commit(Work(cases=[a_write(a_case(), partition=("t", 4))]))
        assert await store.partition_of("c-1") == ("t", 4)
        assert await store.partitions_of(["c-1", "unknown"]) == {"c-1": ("t", 4)}

    # wakes

    async def test_what_is_due_comes_earliest_first(self, store):
        moments = {"a": NOW + SECOND, "b": NOW - SECOND, "c": NOW, "d": None}
        await store.commit(Work(cases=[a_write(a_case(key), at) for key, at in moments.items()]))
        assert await store.next_wake() == NOW - SECOND
        assert list(await store.due(NOW, 9)) == [
            Wake("b", PARTITION, NOW - SECOND),
            Wake("c", PARTITION, NOW),
        ]
        assert list(await store.due(NOW + SECOND, 1)) == [Wake("b", PARTITION, NOW - SECOND)]

    async def test_a_wake_goes_when_the_case_is_written_without_one(self, store):
        await store.commit(Work(cases=[a_write(a_case(), NOW)]))
        await store.commit(Work(cases=[a_write(a_case(version=1))]))
        assert await store.next_wake() is None
        assert list(await store.due(NOW + SECOND, 9)) == []

    async def test_times_compare_by_the_microsecond_and_come_out_in_utc(self, store):
        at = datetime(2026, 3, 1, 11, 0, 0, 999_999, tzinfo=timezone(timedelta(hours=8)))
        await store.commit(Work(cases=[a_write(a_case(), at)]))
        assert list(await store.due(at - timedelta(microseconds=1), 9)) == []
        [wake] = await store.due(at, 9)
        assert wake.at == at
        assert wake.at.utcoffset() == timedelta(0) or type(store).__name__ == "MemoryStore"

    @pytest.mark.parametrize("year", [1, 1969, 9999])
    async def test_a_producers_wrong_clock_does_no_harm(self, store, year):
        at = datetime(year, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
        await store.commit(Work(cases=[a_write(a_case(), at)], excerpts=[an_excerpt(at=at)]))
        assert await store.next_wake() == at
        assert list(await store.excerpts("jz-1-1")) == [an_excerpt(at=at)]

    # incidents

    async def test_an_incident_is_written_and_written_over(self, store):
        await store.commit(Work(incidents=[an_incident()]))
        changed = an_incident(
            state=State.PAGING, level=Level.PREPARATION, crisis_turns=10, paged_at=NOW, region="CN"
        )
        await store.commit(Work(incidents=[an_incident(), changed]))
        assert await store.incident("jz-1-1") == changed

    async def test_incidents_come_newest_first_and_the_open_ones_alone_when_asked(self, store):
        states = [State.PAGING, State.RESOLVED, State.WATCHING, State.CLOSED, State.ACKNOWLEDGED]
        rows = [an_incident(f"i-{n}", opened_at=NOW + n * SECOND, state=s) for n, s in enumerate(states)]
        await store.commit(Work(incidents=rows))
        assert [i.key for i in await store.incidents(open_only=False, limit=9)] == [
            "i-4",
            "i-3",
            "i-2",
            "i-1",
            "i-0",
        ]
        assert [i.key for i in await store.incidents(open_only=True, limit=2)] == ["i-4", "i-2"]

    async def test_an_incident_that_ends_is_open_no_more(self, store):
        await store.commit(Work(incidents=[an_incident()]))
        await store.commit(Work(incidents=[an_incident(state=State.RESOLVED)]))
        assert list(await store.incidents(open_only=True, limit=9)) == []

    async def test_alike_counts_a_releases_incidents_since(self, store):
        rows = [
            an_incident(f"i-{n}", release=release, opened_at=NOW + n * SECOND)
            for n, release in enumerate(["new", "new", "old", "new"])
        ]
        await store.commit(Work(incidents=rows))
        assert await store.alike("new", NOW + SECOND) == 2
        assert await store.alike("never", NOW) == 0

    # audit, findings, excerpts, dead letters

    async def test_pages_that_nobody_has_are_withdrawn_and_what_is_said_with_it_goes_out(self, store):
        waiting, other = (
            a_notification("waiting", incident="jz-1-1"),
            a_notification("other", incident="jz-2-1"),
        )
        accepted = a_notification(
            "accepted", incident="jz-1-1", delivery=Delivery(("first",), DeliveryState.ACCEPTED)
        )
        ticket = a_notification("ticket", incident="jz-1-1", kind=Kind.TICKET)
        await store.commit(Work(notifications=[waiting, other, accepted, ticket]))
        over = a_notification("over", incident="jz-1-1", kind=Kind.RESOLVE)
        await store.commit(Work(withdrawals=["jz-1-1"], notifications=[over]))
        claimed = await store.claim(NOW, SECOND, 10)
        assert {note.id for note in claimed} == {"other", "ticket", "over"}

    async def test_the_timeline_keeps_the_order_of_writing(self, store):
        first, second, third = an_audit_row("opened"), an_audit_row("rang"), an_audit_row("acknowledged")
        await store.commit(Work(audit=[first, an_audit_row(incident="other"), second]))
        await store.commit(Work(audit=[third]))
        assert list(await store.timeline("jz-1-1")) == [first, second, third]

    async def test_what_is_written_twice_is_there_once(self, store):
        work = Work(
            notifications=[a_notification(), a_notification()],
            findings=[a_finding(), a_finding(), a_finding("f-2")],
            excerpts=[an_excerpt(), an_excerpt()],
            dead_letters=[a_dead_letter(), a_dead_letter()],
        )
        await store.commit(work)
        await store.commit(replace(work, excerpts=[an_excerpt(text="other words")]))
        assert len(await store.claim(NOW, SECOND, 9)) == 1
        assert list(await store.excerpts("jz-1-1")) == [an_excerpt()]
        assert await store.expire(NOW + SECOND) == 2

    async def test_excerpts_come_unsealed_and_in_order(self, store):
        rows = [an_excerpt("e-2", at=NOW + SECOND, text="后"), an_excerpt("e-1", at=NOW, text="\ud800\x00")]
        await store.commit(Work(excerpts=[*rows, an_excerpt(incident="other")]))
        assert list(await store.excerpts("jz-1-1")) == [rows[1], rows[0]]

    async def test_a_purge_takes_the_words_of_its_incident_and_no_others(self, store):
        await store.commit(Work(excerpts=[an_excerpt(), an_excerpt(incident="other")]))
        await store.commit(Work(excerpts=[an_excerpt("e-2")], purges=["jz-1-1"]))
        assert list(await store.excerpts("jz-1-1")) == []
        assert list(await store.excerpts("other")) == [an_excerpt(incident="other")]

    async def test_what_is_older_expires_and_what_is_as_old_stays(self, store):
        work = Work(
            excerpts=[an_excerpt("e-1", at=NOW - SECOND), an_excerpt("e-2", at=NOW)],
            dead_letters=[a_dead_letter(1, NOW - SECOND), a_dead_letter(2, NOW)],
        )
        await store.commit(work)
        assert await store.expire(NOW) == 2
        assert [row.event for row in await store.excerpts("jz-1-1")] == ["e-2"]
        assert await store.expire(NOW) == 0

    async def test_when_a_notification_was_accepted(self, store):
        await store.commit(Work(notifications=[a_notification("n-1"), a_notification("n-2")]))
        await store.claim(NOW, SECOND, 9)
        done = Delivery(("first",), state=DeliveryState.ACCEPTED, accepted_at=NOW)
        await store.record("n-1", done)
        assert await store.accepted(["n-1", "n-2", "n-3"]) == {"n-1": NOW}
        assert await store.accepted([]) == {}

    async def test_canaries_are_swept_and_nothing_else(self, store):
        canaries = [Canary(1_000 + number, number % 2) for number in range(4)]
        names = ["cafe0123456789abcdef0123456789ab", *(one.conversation for one in canaries)]
        rows = [a_notification("n-1"), *(_a_test_page(one) for one in canaries)]
        await store.commit(Work(cases=[a_write(a_case(name)) for name in names], notifications=rows))
        await store.sweep_canaries(canaries[2])
        assert set(await store.cases(names)) == {names[0], names[3], names[4]}
        left = {row.id for row in await store.claim(NOW, SECOND, 9)}
        assert left == {"n-1", canaries[2].notification, canaries[3].notification}

    async def test_the_last_success_of_a_partition_outlasts_the_sweep(self, store):
        canaries = [Canary(1_000 + number, number % 2) for number in range(6)]
        await store.commit(Work(notifications=[a_notification("n-1"), *map(_a_test_page, canaries)]))
        await store.claim(NOW, SECOND, 9)
        done = Delivery(("first",), state=DeliveryState.ACCEPTED, accepted_at=NOW)
        for name in ("n-1", *(one.notification for one in canaries[:4])):
            await store.record(name, done)
        await store.record(canaries[4].notification, Delivery(("first",), state=DeliveryState.ABANDONED))
        newest = await store.newest_canaries()
        assert set(newest) == set(canaries[2:4])
        await store.sweep_canaries(Canary(2_000, 0), [canaries[3]])
        assert await store.newest_canaries() == [canaries[3]]
        await store.sweep_canaries(Canary(2_000, 0))
        assert await store.newest_canaries() == []

    async def test_a_canary_that_waits_is_no_page_that_waits(self, store):
        await store.commit(Work(notifications=[_a_test_page(Canary(1_000, 0))]))
        assert await store.oldest(NOW + SECOND) == timedelta(0)

    async def test_a_whole_batch_is_written_together(self, store):
        work = Work(
            advances=[Advance(PARTITION, 0, 40)],
            cases=[a_write(a_long_case(f"c-{number}", 6)) for number in range(40)],
            incidents=[an_incident(f"i-{number}") for number in range(5)],
            notifications=[a_notification(f"n-{number}") for number in range(5)],
            findings=[a_finding(f"f-{number}") for number in range(9)],
            audit=[an_audit_row()],
            excerpts=[an_excerpt()],
            dead_letters=[a_dead_letter()],
        )
        await store.commit(work)
        assert len(await store.cases([f"c-{number}" for number in range(40)])) == 40
        assert len(await store.claim(NOW, SECOND, 9)) == 5
        assert len(await store.incidents(open_only=True, limit=9)) == 5
