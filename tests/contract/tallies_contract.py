"""What every store of tallies must do: figures are exact through whatever dies, because of these lines."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest

from monitor.errors import CaseConflict
from monitor.store.work import CaseWrite, Work
from monitor.tally.cell import HOUR, Cell, Style, Tally, Where, hour_of
from monitor.tally.codec import tally_of_json
from monitor.tally.election import LEASE, Lease
from monitor.tally.hours import Hour, Place
from tests.support.cases import NOW, PARTITION, a_case

HERE = Where("canary", "7.2", "en", "crisis", "live")
MINE, THEIRS = Lease(1, "me", NOW + LEASE), Lease(2, "them", NOW + 2 * LEASE)


def a_tally(count: int = 1, where: Where = HERE) -> Tally:
    tally = Tally(hour_of(NOW))
    tally.at(where).counts["outcome:handled:plan_intent"] = count
    tally.at(where).mark("A:crisis", 3)
    tally.at(where).took(1200)
    return tally


def a_row(count: int, style: bytes | None = None) -> Hour:
    return Hour(Cell(Counter({"outcome:handled:plan_intent": count})), style)


def a_place(hours_ago: int = 0, **changes: str) -> Place:
    return Place(hour_of(NOW) - hours_ago * HOUR, HERE._replace(**changes))


class TalliesContract:
    """Give fixtures ``store`` and ``tallies``, which are of one database."""

    async def test_nothing_waits_and_nobody_is_elected(self, tallies):
        assert await tallies.lease() is None
        assert (await tallies.waiting(), list(await tallies.take(9))) == (0, [])
        assert list(await tallies.since(NOW - 9 * HOUR)) == []

    async def test_a_work_s_tally_is_written_with_it(self, store, tallies):
        tally = a_tally(3)
        tally.styles.append(
            (HERE, Style("none", "none", 0.25, "en", "1abc", "memory", "terse", ("a", "b"), 2))
        )
        await store.commit(Work(tally=tally))
        [(_, body)] = await tallies.take(9)
        assert tally_of_json(body) == tally

    async def test_nothing_of_a_work_that_is_void(self, store, tallies):
        with pytest.raises(CaseConflict):
            await store.commit(
                Work(cases=[CaseWrite(a_case("c-1", version=7), PARTITION, None)], tally=a_tally())
            )
        assert await tallies.waiting() == 0

    async def test_one_that_adds_nothing_is_no_row(self, store, tallies):
        await store.commit(Work(tally=Tally(hour_of(NOW))))
        assert await tallies.waiting() == 0

    async def test_the_oldest_come_first_and_stay_until_they_are_added_up(self, store, tallies):
        for count in (1, 2, 3):
            await store.commit(Work(tally=a_tally(count)))
        first = await tallies.take(2)
        assert [tally_of_json(body).at(HERE).counts.total() for _, body in first] == [1, 2]
        assert await tallies.take(2) == first
        assert await tallies.waiting() == 3

    async def test_a_lease_is_written_over_the_one_that_was_seen_only(self, tallies):
        assert await tallies.elect(None, MINE)
        assert not await tallies.elect(None, THEIRS)
        assert await tallies.lease() == MINE
        assert not await tallies.elect(Lease(1, "me", NOW), THEIRS)
        assert await tallies.elect(MINE, THEIRS)
        assert await tallies.lease() == THEIRS

    async def test_tallies_are_added_up_once(self, store, tallies):
        await tallies.elect(None, MINE)
        await store.commit(Work(tally=a_tally()))
        [(one, _)] = await tallies.take(9)
        assert await tallies.fold(1, [one], {a_place(): a_row(1, b"style")})
        assert await tallies.waiting() == 0
        assert not await tallies.fold(1, [one], {a_place(): a_row(2)}), "it is gone"
        assert await tallies.hours([a_place(), a_place(lang="zh")]) == {a_place(): a_row(1, b"style")}

    async def test_a_row_is_written_over_and_others_stay(self, store, tallies):
        await tallies.elect(None, MINE)
        assert await tallies.fold(1, [], {a_place(): a_row(1), a_place(lang="zh"): a_row(5)})
        assert await tallies.fold(1, [], {a_place(): a_row(2, b"s")})
        assert await tallies.hours([a_place(), a_place(lang="zh")]) == {
            a_place(): a_row(2, b"s"),
            a_place(lang="zh"): a_row(5),
        }

    async def test_whoever_is_no_longer_elected_writes_nothing(self, store, tallies):
        await tallies.elect(None, MINE)
        await store.commit(Work(tally=a_tally()))
        [(one, _)] = await tallies.take(9)
        await tallies.elect(MINE, THEIRS)
        assert not await tallies.fold(1, [one], {a_place(): a_row(1)})
        assert (await tallies.waiting(), await tallies.hours([a_place()])) == (1, {})
        assert await tallies.fold(2, [one], {a_place(): a_row(1)})

    async def test_nobody_writes_before_somebody_is_elected(self, tallies):
        assert not await tallies.fold(1, [], {a_place(): a_row(1)})
        assert await tallies.hours([a_place()]) == {}

    async def test_the_window_and_what_is_older(self, tallies):
        await tallies.elect(None, MINE)
        rows = {a_place(ago, release=f"r{ago}"): a_row(ago) for ago in (0, 1, 2, 30)}
        await tallies.fold(1, [], rows)
        found = await tallies.since(hour_of(NOW) - 2 * HOUR)
        assert dict(found) == {
            place: hour.cell for place, hour in rows.items() if place.where.release != "r30"
        }
        pairs = await tallies.pairs([hour_of(NOW), hour_of(NOW) - 9 * HOUR])
        assert {hour: set(some) for hour, some in pairs.items()} == {
            hour_of(NOW): {("canary", "r0")},
            hour_of(NOW) - 9 * HOUR: set(),
        }
        assert await tallies.drop(NOW - timedelta(hours=29)) == 1
        assert len(await tallies.since(NOW - 99 * HOUR)) == 3

    async def test_rows_that_hold_styles_and_those_of_a_release(self, tallies):
        await tallies.elect(None, MINE)
        rows = {
            a_place(3, state="all"): a_row(1, b"a"),
            a_place(1): a_row(2),
            a_place(1, state="all"): a_row(3, b"b"),
            a_place(1, release="8.0"): a_row(4, b"c"),
            a_place(1, track="production"): a_row(5),
            a_place(0): a_row(6),
        }
        await tallies.fold(1, [], rows)
        since = hour_of(NOW) - 2 * HOUR
        assert set(await tallies.sketched(since)) == {
            a_place(1, state="all"),
            a_place(1, release="8.0"),
        }
        found = await tallies.between(HERE.track, HERE.release, hour_of(NOW) - 3 * HOUR, hour_of(NOW))
        assert [place for place, _ in found] == [
            a_place(3, state="all"),
            *(a_place(1, state="all"), a_place(1)),
        ]
        assert dict(found) == {place: rows[place] for place, _ in found}

    async def test_many_rows_at_once(self, tallies):
        await tallies.elect(None, MINE)
        rows = {a_place(release=f"r{number}"): a_row(number) for number in range(1, 251)}
        await tallies.fold(1, [], rows)
        assert await tallies.hours(rows) == rows

    async def test_a_release_that_cannot_be_written_as_it_is_stays_one(self, store, tallies):
        await store.commit(Work(tally=a_tally(where=HERE._replace(release="a\ufffdb"))))
        [(one, body)] = await tallies.take(9)
        [where] = tally_of_json(body).cells
        await tallies.elect(None, MINE)
        place = Place(hour_of(NOW), where)
        assert await tallies.fold(1, [one], {place: a_row(1)})
        assert await tallies.hours([place]) == {place: a_row(1)}

    async def test_what_nobody_adds_up_is_not_kept_for_ever(self, store, tallies):
        await store.commit(Work(tally=a_tally()))
        assert await store.expire(NOW - HOUR) == 0
        assert await tallies.waiting() == 1
        assert await store.expire(NOW + HOUR) == 0, "words are counted, and it has none"
        assert await tallies.waiting() == 0
