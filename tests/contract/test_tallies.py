"""Tallies in memory, on SQLite and on PostgreSQL: the same contract."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import text

from monitor.store.memory_tallies import MemoryTallies
from monitor.store.tallies import SqlTallies
from monitor.store.work import Work
from monitor.tally.cell import Tally, Where, hour_of
from tests.contract.stores import InMemory, OnPostgres, OnSqlite
from tests.contract.tallies_contract import TalliesContract
from tests.support.fake_clock import EPOCH, FakeClock
from tests.support.tallies import a_publisher


class TestMemoryTallies(InMemory, TalliesContract):
    @pytest.fixture
    def tallies(self, store):
        return MemoryTallies(store)


class _Sql(TalliesContract):
    @pytest.fixture
    def tallies(self, store):
        return SqlTallies(store.database)

    async def test_an_hour_that_is_damaged_begins_anew_and_takes_no_other_with_it(self, store, tallies):
        clock = FakeClock()
        publisher = a_publisher(tallies, clock)

        async def tell(release: str) -> None:
            tally = Tally(hour_of(EPOCH))
            tally.at(Where("production", release, "en", "none", "live")).counts["reply:new"] = 40
            await store.commit(Work(tally=tally))
            await clock.advance(timedelta(minutes=1))
            await publisher.look()

        def shown() -> set[str]:
            found = (one for one in publisher.collect() if one.name == "jiezhu_rate_denominator")
            return {sample.labels["release"] for one in found for sample in one.samples}

        await tell("1")
        await tell("2")
        assert shown() == {"1", "2"}
        damage = text("UPDATE tally_hours SET body = '{\"counts\": 1}' WHERE release = '1'")
        await store.database.write(lambda connection: connection.execute(damage))
        await tell("2")
        assert shown() == {"2"}
        assert publisher._observer.failed == 0
        await tell("1")
        assert (await tallies.waiting(), shown(), publisher._observer.failed) == (0, {"1", "2"}, 1)
        [(_, hour)] = await tallies.between("production", "1", hour_of(EPOCH), clock.now())
        assert hour.cell.counts["reply:new"] == 40


class TestSqliteTallies(OnSqlite, _Sql):
    pass


@pytest.mark.postgres
class TestPostgresTallies(OnPostgres, _Sql):
    pass
