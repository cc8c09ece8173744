"""What the smaller commands do: settings in words, test pages, migration, incidents."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from alerts.canary import CHANNEL
from alerts.delivery import Attempt
from alerts.group import is_group
from alerts.incident import Incident
from alerts.ports import Pager
from monitor import assembly
from monitor.app import make_state_directory, prepare_tables
from monitor.clock import SystemClock
from monitor.environment import LEVEL, PREFIX
from monitor.errors import ConfigurationError, GroupConflict, JiezhuError
from monitor.group_keeper import GroupKeeper
from monitor.output import shown
from monitor.people import Answer, Deed, People
from monitor.settings import Settings, channel_names
from monitor.sources.security import build_security
from monitor.store.migration import current, migrate
from monitor.store.sql import SqlStore
from monitor.store.url import parse
from monitor.tallying import Tallying
from monitor.trouble import test_page

_UNFOLDED = 1000  # a pipe has no width: a line an incident, for grep and awk
VERDICTS = ("true_miss", "false_alarm", "duplicate", "other")


def describe_settings(settings: Settings) -> list[str]:
    """Check what loading alone cannot, and put the result into words. No secret shows."""
    clock = SystemClock()
    _check_database(settings)
    _check_security(settings)
    assembly.canary_mark(settings, assembly.keys(settings).pseudonymiser)
    assembly.pagers(settings, clock)
    policy = assembly.policy(settings)
    steps = [f"{', '.join(step.targets)} (then {step.after.total_seconds():.0f} s)" for step in policy.steps]
    database = "PostgreSQL" if settings.database_url.startswith("postgresql") else "SQLite"
    return [
        f"reads {settings.kafka.topic} as {settings.kafka.group_id}; dead letters to {settings.dead_letter_topic}",
        f"keeps state in {database}; words of incidents for {settings.retention.days:g} days",
        f"cases, incidents, findings and the trail for {settings.retention.records_days:g} days",
        f"a reply is due within {policy.reply_deadline.total_seconds():g} s",
        f"and within {policy.imminent_reply_deadline.total_seconds():g} s when somebody may act at any moment",
        f"a second message may follow within {policy.grace.total_seconds():g} s",
        f"channels, in order: {', '.join(channel_names(settings))}",
        f"escalates: {' → '.join(steps)}, again and again until somebody acknowledges",
        f"what is missing among the records of incidents is found within {settings.audit.period_seconds:g} s, and pages",
        _canary(settings),
        _publishing(settings),
        *_second_opinion(settings),
        f"serves HTTP on {settings.http.host}:{settings.http.port}",
        "the configuration is good",
    ]


def _canary(settings: Settings) -> str:
    given = settings.canary
    if not given.enabled:
        return "sends no canary (JIEZHU_CANARY__ENABLED): that the whole way is open is not proved"
    proof = f"to {given.pager}" if given.pager else "as far as the relay"
    outside = "a service outside is told" if given.heartbeat_url else "no service outside is told"
    return f"sends a canary into the topic every {given.every_seconds} s, {proof}; {outside}"


def _publishing(settings: Settings) -> str:
    given = settings.publishing
    if not given.enabled:
        return "publishes no rates of all workers (JIEZHU_PUBLISHING__ENABLED)"
    return f"one worker publishes rates of all, over {given.window_hours} h, every {given.period_seconds:g} s"


def _second_opinion(settings: Settings) -> list[str]:
    """What leaves this machine is said before it does."""
    given = settings.second_opinion
    if given.url is None:
        return []
    which = ["all on which our own judge is in doubt"] if given.doubtful else []
    which += [f"{given.share:.0%} of them as a sample"] if given.share else []
    asked = " and ".join(which) or "none of them, as is set"
    return [f"`judge` and `score` send replies to a language model elsewhere: {asked}"]


def _check_security(settings: Settings) -> None:
    """A certificate that cannot be read would be found by the first connection alone."""
    try:
        build_security(assembly.kafka(settings))
    except ConfigurationError as error:
        name = error.key.upper().replace(".", LEVEL)
        raise ConfigurationError(f"{PREFIX}{name}", str(error).partition(": ")[2]) from None


def _check_database(settings: Settings) -> None:
    try:
        parse(settings.database_url)
    except ConfigurationError as error:
        raise ConfigurationError("JIEZHU_DATABASE__URL", str(error).partition(": ")[2]) from None


async def send_test_page(settings: Settings) -> list[tuple[str, Attempt, float]]:
    """Ask every channel once."""
    clock = SystemClock()
    page = test_page(clock.now())

    async def ask(pager: Pager) -> tuple[str, Attempt, float]:
        begun = time.perf_counter()
        attempt = await pager.send(page)
        seconds = time.perf_counter() - begun
        await pager.close()
        return pager.name, attempt, round(seconds, 3)

    channels = [pager for pager in assembly.pagers(settings, clock) if pager.name != CHANNEL]
    return list(await asyncio.gather(*(ask(pager) for pager in channels)))


def migrate_tables(settings: Settings) -> str:
    try:
        make_state_directory(settings)
    except OSError as error:
        raise ConfigurationError(
            "JIEZHU_STATE_DIR", f"cannot be made ({error.strerror}); name a directory that can be written"
        ) from None
    before = current(settings.database_url)
    migrate(settings.database_url)
    after = current(settings.database_url)
    return f"up to date: {after}" if before == after else f"migrated: {before or 'nothing'} → {after}"


async def incident_rows(settings: Settings, *, open_only: bool, limit: int) -> list[dict[str, Any]]:
    async with open_store(settings) as store:
        return [_row(found) for found in await store.incidents(open_only=open_only, limit=limit)]


async def incident_detail(settings: Settings, key: str, *, words: bool) -> dict[str, Any]:
    async with open_store(settings) as store:
        found = await store.incident(key)
        if found is None:
            raise JiezhuError(f"no incident {key[:64]!r}; see `jiezhu incidents list --all`")
        detail = _row(found)
        detail["timeline"] = [
            {
                "at": row.at.isoformat(),
                "reason": row.reason,
                "actor": row.actor,
                "state": row.state,
                **row.detail,
            }
            for row in await store.timeline(key)
        ]
        if words:
            detail["words"] = [
                {
                    "at": excerpt.at.isoformat(),
                    "role": excerpt.role,
                    "text": excerpt.text,
                    **({"closed": excerpt.closed} if excerpt.closed else {}),
                }
                for excerpt in await store.excerpts(key)
            ]
        return detail


async def put(settings: Settings, key: str, action: str, by: str, verdict: str | None) -> str:
    """Acknowledge or resolve; raises JiezhuError for an incident that does not exist."""
    if verdict is not None:
        _check_verdict("--verdict", verdict)
    async with _people(settings) as (people, groups):
        if is_group(key):
            return await _put_group(groups, key, action, by)
        deed = await (people.acknowledge(key, by) if action == "ack" else people.resolve(key, by, verdict))
    state = _known(key, deed).state.value
    return f"{key}: {state}" if deed.answer is Answer.DONE else f"{key}: was {state} before"


async def review(settings: Settings, key: str, by: str, verdict: str) -> str:
    """Say what an incident was; raises JiezhuError for one that does not exist, or is not over yet."""
    _check_verdict("VERDICT", verdict)
    async with _people(settings) as (people, _):
        deed = await people.review(key, by, verdict)
    incident = _known(key, deed)
    if not incident.state.over:
        raise JiezhuError(
            f"{key} is {incident.state.value}; close it with `jiezhu incidents resolve --verdict`"
        )
    return (
        f"{key}: {incident.verdict}"
        if deed.answer is Answer.DONE
        else f"{key}: was {incident.verdict} before"
    )


def _check_verdict(name: str, verdict: str) -> None:
    if verdict not in VERDICTS:
        raise ConfigurationError(name, f"must be one of {', '.join(VERDICTS)}")


def _known(key: str, deed: Deed) -> Incident:
    if deed.incident is None:
        raise JiezhuError(f"no incident {key[:64]!r}; see `jiezhu incidents list --all`")
    return deed.incident


@asynccontextmanager
async def _people(settings: Settings) -> AsyncIterator[tuple[People, GroupKeeper]]:
    clock = SystemClock()
    async with open_store(settings) as store:
        paging = assembly.paging(settings, assembly.keys(settings).links, clock)
        people = People(
            store, paging, clock, tallying=Tallying(_passed_over) if settings.publishing.enabled else None
        )
        yield people, GroupKeeper(store, people, paging, clock)


def _passed_over() -> None:
    """A tally that a command cannot make is in its log, and nowhere else: no worker counts it."""


async def _put_group(keeper: GroupKeeper, key: str, action: str, by: str) -> str:
    if action != "ack":
        raise JiezhuError("a group is over when each of its incidents is: resolve those")
    group = await keeper.acknowledge(key, by)
    if group is None:
        raise JiezhuError(f"no group {key[:64]!r}; see the page that told of it")
    while not group.settled:
        try:
            group = await keeper.keep(group)
        except GroupConflict:  # a worker keeps it at the same moment
            group = await keeper.acknowledge(key, by) or group
    return f"{key}: {group.state}, {group.count} incidents"


def incident_table(rows: Sequence[dict[str, Any]]) -> None:
    table = Table(box=None, pad_edge=False)
    for column in ("incident", "state", "level", "outcome", "turns", "opened", "release", "taken by"):
        # Every other command asks for the whole key; what does not fit goes on in the next line, and none is cut.
        table.add_column(column, no_wrap=column == "incident", overflow="fold")
    for row in rows:
        cells = (
            row["incident"],
            f"{row['state']} (unreadable)" if row["unreadable"] else row["state"],
            row["level"],
            row["outcome"] or "",
            str(row["crisis_turns"]),
            row["opened_at"][:19].replace("T", " "),
            f"{row['release']} ({row['track']})",
            row["acknowledged_by"] or "",
        )
        table.add_row(*(Text(shown(cell)) for cell in cells))  # a release may look like markup
    console = Console()
    if not console.is_terminal:
        console.width = _UNFOLDED
    console.print(table if rows else "no incidents")


def print_detail(detail: dict[str, Any]) -> None:
    console = Console(highlight=False, markup=False)
    for name, value in detail.items():
        if name not in ("timeline", "words") and value not in (None, "") and value is not False:
            console.print(f"{name.replace('_', ' ')}: {shown(str(value))}")
    console.print("timeline:")
    for step in detail["timeline"]:
        console.print(f"  {step['at'][:19]}  {step['reason']} → {step['state']}  ({shown(step['actor'])})")
    if detail.get("words"):
        console.print("words:")
    for said in detail.get("words", ()):
        told = f"({said['closed']})" if "closed" in said else shown(said["text"])
        console.print(f"  {said['at'][:19]}  {said['role']}: {told}", soft_wrap=True)


def _row(found: Incident) -> dict[str, Any]:
    return {
        "incident": found.key,
        "state": found.state.value,
        "level": found.level.value,
        "outcome": found.outcome.value if found.outcome else None,
        "score": round(found.score, 3),
        "crisis_turns": found.crisis_turns,
        "opened_at": found.opened_at.isoformat(),
        "last_crisis_at": found.last_crisis_at.isoformat(),
        "paged_at": found.paged_at.isoformat() if found.paged_at else None,
        "escalation_step": found.step,
        "acknowledged_by": found.acknowledged_by,
        "acknowledged_at": found.acknowledged_at.isoformat() if found.acknowledged_at else None,
        "ended_at": found.ended_at.isoformat() if found.ended_at else None,
        "verdict": found.verdict,
        "release": found.release,
        "track": found.track,
        "language": found.lang,
        "region": found.region,
        "unreadable": found.unreadable,
    }


@asynccontextmanager
async def open_store(settings: Settings) -> AsyncIterator[SqlStore]:
    _expect_database(settings)
    prepare_tables(settings)
    store = assembly.store(settings, assembly.keys(settings).keyring)
    try:
        yield store
    finally:
        await store.close()


def _expect_database(settings: Settings) -> None:
    """A new, empty SQLite file would say "no incidents" to somebody who only stands in another directory."""
    if settings.database.url is None and not (settings.state_dir / "jiezhu.sqlite").exists():
        raise ConfigurationError(
            "JIEZHU_STATE_DIR",
            "holds no database; set it, or JIEZHU_DATABASE__URL, as it is set for `jiezhu run`",
        )
