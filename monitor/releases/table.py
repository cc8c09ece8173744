"""A comparison, and a list of baselines, in a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from detectors.drift.verdict import Decision, DriftVerdict
from monitor.releases import cells, words
from monitor.releases.comparison import Comparison
from monitor.releases.row import Family, Finding, Row

_WIDEST: Final = 1000  # a pipe has no width: a line a figure, for grep and awk
_STYLES: Final = {Finding.WORSE: "bold red", Finding.BETTER: "green", Finding.NOT_ENOUGH: "dim"}
_TITLES: Final = {Family.RATE: "rates", Family.MARK: "marks", Family.LATENCY: "latency of replies"}


def show(found: Comparison) -> None:
    console = _console()
    console.print(Text(words.headline(found), style="bold"))
    for side in (found.reference, found.current):
        console.print(
            Text(
                f"  {side.title}: {side.replies} replies, {side.since:%Y-%m-%d %H:%M} to {side.until:%Y-%m-%d %H:%M} UTC"
            )
        )
    for note in words.notes(found):
        console.print(Text(f"note: {note}", style="yellow"))
    for family, title in _TITLES.items():
        rows = found.of(family)
        if rows:
            console.print()
            console.print(_figures(title, rows))
    console.print()
    console.print(Text(words.style(found), style="bold"))
    if found.style is not None:
        _show_style(console, found.style)
    console.print()
    for limit in words.LIMITS:
        console.print(Text(limit, style="dim"))


def show_baselines(rows: Sequence[dict[str, Any]]) -> None:
    table = _table("name", "release", "track", "pinned (UTC)", "hours (UTC)", "replies", "jiezhu", "encoder")
    for row in rows:
        since, until = (row[name][:16].replace("T", " ") for name in ("since", "until"))
        models = row["models"]
        told = (row["name"], row["release"], row["track"], row["pinned_at"][:16].replace("T", " "))
        span = f"{since} to {until}"
        replies = "unreadable" if row["replies"] is None else str(row["replies"])
        _add(table, (*told, span, replies, models.get("jiezhu", ""), models.get("encoder", "")))
    _console().print(table if rows else "no baseline is pinned; pin one by `jiezhu baseline pin RELEASE`")


def _figures(title: str, rows: Iterable[Row]) -> Table:
    table = _table(title, "basis", "reference", "current", "difference (95 %)", "p corrected", "finding")
    for row in rows:
        told = (
            words.title(row),
            row.basis,
            cells.figure(row, row.reference),
            cells.figure(row, row.current),
            cells.difference(row),
            cells.chance(row.p_corrected),
            words.finding(row),
        )
        _add(table, told, _STYLES.get(row.finding, ""))
    return table


def _show_style(console: Console, verdict: DriftVerdict) -> None:
    console.print(
        Text(
            f"  compared {verdict.used[1]} of {verdict.replies[1]} replies with {verdict.used[0]} of {verdict.replies[0]}, "
            f"in {len(verdict.strata)} groups of users alike in state and language"
        )
    )
    if verdict.decision is Decision.NOT_ENOUGH and not verdict.features:
        return
    table = _table(
        "style", "reference", "current", "effect in deviations (interval)", "p corrected", "finding"
    )
    for one in words.by_effect(verdict):
        told = (words.plain(one.feature.value), f"{one.second:.3f}", f"{one.first:.3f}", cells.effect(one))
        style = "bold red" if one.drifted else ""
        _add(table, (*told, cells.chance(one.p_corrected), words.reason(one.reason)), style)
    console.print(table)
    if verdict.meaning is not None:
        meaning = verdict.meaning
        console.print(
            Text(f"  what is said (embedding): {words.reason(meaning.reason)}, p {cells.chance(meaning.p)}")
        )
    if verdict.phrases:
        phrases = _table("phrase or sentence", "reference", "current")
        for phrase in verdict.phrases:
            _add(
                phrases,
                (f"{phrase.kind} {phrase.name}", cells.share(phrase.second), cells.share(phrase.first)),
            )
        console.print(phrases)


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False)
    for place, column in enumerate(columns):
        table.add_column(column, overflow="fold", no_wrap=place == 0)
    return table


def _add(table: Table, told: Iterable[str], style: str = "") -> None:
    table.add_row(*map(Text, told), style=style)  # a release may look like markup


def _console() -> Console:
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = _WIDEST
    return console
