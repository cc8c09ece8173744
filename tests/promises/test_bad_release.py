"""A bad release drops thousands within a minute (R61): few pages, all listed, the pager's limit kept, nobody lost."""

from __future__ import annotations

import asyncio
import html
import re
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

import httpx2
import pytest

from monitor.crypto.pseudonym import Kind
from monitor.settings import Grouping
from tests.support.crew import Crew, Ring, crew
from tests.support.form import Form, Tell
from tests.support.kafka import Broker
from tests.support.stream import Said, exchange, put
from tests.support.until import until

pytestmark = [pytest.mark.promise, pytest.mark.xdist_group("promises")]

RELEASE = (("release", "assistant-7.2"),)
OTHER = (("release", "assistant-7.1"),)
FIRST = timedelta(seconds=30)
PARTS = 20
ROW = re.compile(r"<tr><td><a href=\"([^\"]+)\">(jz-[^<]+)</a></td><td>([^<]*)</td>.*?<td>([^<]*)</td></tr>")


async def test_everybody_is_told_of_by_few_pages(
    broker: Broker, tmp_path: Path, url: str, form: Form, tell: Tell
) -> None:
    crises, seconds, after = form.pick((500, 6, 12), (10_000, 60, 180))
    shipped = Grouping()
    async with crew(
        broker,
        tmp_path,
        None,
        url,
        WATCHING__GRACE_SECONDS="0.5",
        DATABASE__TIMEOUT_SECONDS="10",
        ESCALATION__STEPS=f'[{{"targets": ["webhook"], "after_seconds": {after}}}]',
        GROUPING__REQUESTS_PER_MINUTE=str(shipped.requests_per_minute),
        GROUPING__SINGLE_PAGES=str(shipped.single_pages),
    ) as team:
        team.add()
        team.add(PAGERS__WEBHOOK__URL=team.pagers[0].url)
        await team.ready()
        begun = team.clock.now()
        names = await _drop(team, crises, seconds)
        await until(lambda: _told(team) >= len(names), 120, 0.2)
        await until(lambda: bool(_groups(team)), 30, 0.2)
        singles, groups = _singles(team), _groups(team)
        listed = await _listed(groups)
        due = {_incident(team, name) for name in names}
        keys = Counter(ring.key for ring in groups)
        rate = _busiest_minute(team.rings)
        tell(
            16,
            f"a bad release ({'postgres' if url.startswith('postgres') else 'sqlite'})",
            f"{len(names)} crises in {seconds} s: first page after "
            f"{(team.rings[0].at - begun).total_seconds():.1f} s, {len(singles)} single and {len(keys)} grouped "
            f"pages, {len(due - set(listed) - singles)} in no list, {sum(not one for one in listed.values())} "
            f"without an owner, {rate} requests in the busiest minute",
        )
        assert team.rings[0].at - begun <= FIRST
        assert due <= set(listed) | singles
        assert all(listed.values())
        assert _carried_at_once(team).isdisjoint(singles - _urgent(team))
        assert len(keys) <= 5
        assert len(singles) <= 40
        assert rate <= shipped.requests_per_minute
        assert _incident(team, "lone other release") in singles
        assert {_incident(team, f"now {number}") for number in range(3)} <= singles
        await _rings_again(team, groups, after)
        await _everybody_is_taken(team, groups, due - singles)


async def _drop(team: Crew, crises: int, seconds: int) -> list[str]:
    """Each in a conversation of its own, evenly over the time; a few of them grave, one of another release."""
    names = [f"storm {number}" for number in range(crises)]
    size = -(-crises // PARTS)
    begun = team.clock.now()
    for part in range(PARTS):
        due = begun + timedelta(seconds=seconds) * part / PARTS
        await asyncio.sleep(max(0.0, (due - team.clock.now()).total_seconds()))
        now = team.clock.now()
        said: list[Said] = []
        for name in names[part * size : (part + 1) * size]:
            said += _exchange(name, "crisis", now, RELEASE)
        if part == PARTS // 2:
            for number in range(3):
                said += _exchange(f"now {number}", "in_progress", now, RELEASE)
            said += _exchange("lone other release", "crisis", now, OTHER)
        await put(team.broker.bootstrap_servers, team.topic, said)
    return [*names, *(f"now {number}" for number in range(3)), "lone other release"]


def _exchange(name: str, user: str, now: datetime, facts: tuple[tuple[str, str], ...]) -> list[Said]:
    return [
        Said(one.conversation, one.role, one.text, one.at - timedelta(seconds=1), one.number, facts)
        for one in exchange(name, user, "sleep tip", now)
    ]


def _told(team: Crew) -> int:
    """Incidents that a request went out for, or that a group tells of."""
    [(count,)] = team.rows(
        "SELECT count(DISTINCT incident) FROM outbox WHERE told_by IS NOT NULL OR due_at IS NULL"
    )
    [(groups,)] = team.rows("SELECT count(*) FROM groups")
    return int(count) - int(groups)


def _singles(team: Crew) -> set[str]:
    return {str(ring.content["incident"]) for ring in team.pages() if not ring.content["group"]}


def _carried_at_once(team: Crew) -> set[str]:
    """Incidents whose first call a group told of. One that rang by itself joins its release's when it escalates."""
    rows = team.rows("SELECT incident FROM outbox WHERE told_by IS NOT NULL AND id LIKE '%:page:0:%'")
    return {str(row[0]) for row in rows}


def _urgent(team: Crew) -> set[str]:
    return {str(r.content["incident"]) for r in team.pages() if r.content["level"] == "in_progress"}


def _groups(team: Crew) -> list[Ring]:
    return [ring for ring in team.pages() if ring.content["group"]]


def _incident(team: Crew, name: str) -> str:
    hidden = team.pseudonymiser.pseudonym(Kind.CONVERSATION, name)
    return f"jz-{hidden[:20]}-1"


def _busiest_minute(rings: Sequence[Ring]) -> int:
    times = sorted(ring.at for ring in rings)
    minute = timedelta(minutes=1)
    return max(sum(start <= at < start + minute for at in times[index:]) for index, start in enumerate(times))


async def _listed(groups: Sequence[Ring]) -> dict[str, str]:
    """Every incident in every group's list with its owner, read as whoever was rung reads it."""
    listed: dict[str, str] = {}
    async with httpx2.AsyncClient(timeout=10) as client:
        for whole in {str(ring.content["incident"]): str(ring.content["link"]) for ring in groups}.values():
            for number in range(1, 1000):
                text = (await client.get(f"{whole}&page={number}")).text
                found = ROW.findall(text)
                listed |= {key: html.unescape(owner) for _, key, _, owner in found}
                if f"Page {number + 1}" not in text:
                    break
    return listed


async def _rings_again(team: Crew, groups: Sequence[Ring], after: float) -> None:
    """While nobody acknowledges, the group escalates as an incident would."""
    known = {str(ring.content["incident"]) for ring in groups}
    due = min(ring.at for ring in groups) + timedelta(
        seconds=after * 0.7
    )  # its first incident opened before it rang
    await until(
        lambda: any(ring.at >= due and ring.content["incident"] in known for ring in _groups(team)),
        after + 60,
        0.2,
    )


async def _everybody_is_taken(team: Crew, groups: Sequence[Ring], due: set[str]) -> None:
    """One press on the list's button: nobody in it rings any more, and the pager is told once."""
    for whole in {str(ring.content["incident"]): str(ring.content["ack_link"]) for ring in groups}.values():
        async with httpx2.AsyncClient(timeout=10) as client:
            assert (await client.post(whole)).status_code == 200
    query = "SELECT incident FROM audit WHERE state = 'acknowledged' AND actor = 'link'"
    await until(lambda: due <= {row[0] for row in team.rows(query)}, 120, 0.5)
    told = Counter(ring.key for ring in team.rings if ring.content["kind"] == "acknowledge")
    carried = due - _singles(team)  # who rang by itself meanwhile is told of by itself
    assert not any(key.startswith(tuple(carried)) for key in told), "an update for each incident in a group"
    assert all(len([k for k in told if k == key]) == 1 for key in told)


def test_the_row_of_the_list_is_what_is_read_here() -> None:
    """If the list looks otherwise, the promise above would be read from nothing."""
    row = '<tr><td><a href="/x">jz-1</a></td><td>paging</td><td>a</td><td>b</td><td>c</td><td>anna</td></tr>'
    assert ROW.findall(row) == [("/x", "jz-1", "paging", "anna")]
