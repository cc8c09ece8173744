"""The commands about releases: compare, and baseline pin, list, diff. Imports stand in the commands, so that they start fast."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from monitor.options import Config, Json, settings_of
from monitor.output import emit

if TYPE_CHECKING:
    from monitor.releases.comparison import Comparison

releases = typer.Typer()
baselines = typer.Typer(
    help="Pin what a release is like, and hold later ones against it.", no_args_is_help=True
)
releases.add_typer(baselines, name="baseline")

Since = Annotated[str | None, typer.Option(help="From this time on (ISO 8601, UTC without an offset).")]
Until = Annotated[str | None, typer.Option(help="Until before this time; until now without it.")]
Hours = Annotated[
    float | None,
    typer.Option(min=1, max=9600, help="So many hours back instead of --since; 168 without either."),
]
Html = Annotated[Path | None, typer.Option("--html", help="Write a one-page report with plots to this file.")]


@releases.command()
def compare(
    release_a: Annotated[str, typer.Argument(help="The reference.")],
    release_b: Annotated[str, typer.Argument(help="What is held against it.")],
    track_a: Annotated[str | None, typer.Option("--track-a", help="Where A ran on several.")] = None,
    track_b: Annotated[str | None, typer.Option("--track-b", help="Where B ran on several.")] = None,
    since: Since = None,
    until: Until = None,
    hours: Hours = None,
    html: Html = None,
    json: Json = False,
    config: Config = None,
) -> None:
    """Hold one release against another: rates, marks, latency and style, each difference with its interval."""
    from monitor.release_commands import Asked, compare_releases

    asked = Asked(since, until, hours)
    found = asyncio.run(
        compare_releases(settings_of(config), (release_a, release_b), (track_a, track_b), asked)
    )
    _tell(found, html, json=json)


@baselines.command("pin")
def pin_baseline(
    release: str,
    track: Annotated[str | None, typer.Option(help="Where it ran on several.")] = None,
    name: Annotated[str | None, typer.Option(help="What to call it; as the release without it.")] = None,
    since: Since = None,
    until: Until = None,
    json: Json = False,
    config: Config = None,
) -> None:
    """Keep what a release is like: counts, the sketch of its style, and the models that judged it. All hours that are kept, without --since."""
    from monitor.release_commands import Asked, pin

    row = asyncio.run(pin(settings_of(config), release, track, name, Asked(since, until)))
    if json:
        emit(row)
    else:
        typer.echo(f"pinned {row['name']}: {row['replies']} replies of {row['release']} ({row['track']})")


@baselines.command("list")
def list_baselines(json: Json = False, config: Config = None) -> None:
    """List what is pinned, the newest first."""
    from monitor.release_commands import baselines as rows_of
    from monitor.releases.table import show_baselines

    rows = asyncio.run(rows_of(settings_of(config)))
    if json:
        for row in rows:
            emit(row)
    else:
        show_baselines(rows)


@baselines.command("diff")
def diff_baseline(
    name: str,
    release: Annotated[
        str | None, typer.Argument(help="Held against it; without it, what its track runs now.")
    ] = None,
    other: Annotated[
        str | None, typer.Option("--baseline", help="Another baseline instead of a release.")
    ] = None,
    track: Annotated[str | None, typer.Option(help="Where the release ran on several.")] = None,
    since: Since = None,
    until: Until = None,
    hours: Hours = None,
    html: Html = None,
    json: Json = False,
    config: Config = None,
) -> None:
    """Hold a release, or another baseline, against a pinned one; says if the models that judged are others."""
    from monitor.release_commands import Asked, diff

    asked = Asked(since, until, hours)
    _tell(asyncio.run(diff(settings_of(config), name, release, other, track, asked)), html, json=json)


def _tell(found: Comparison, html: Path | None, *, json: bool) -> None:
    from monitor.releases.record import record
    from monitor.releases.table import show

    if html is not None:
        from monitor.clock import SystemClock
        from monitor.releases.page import write_page  # draws: a table needs none of that

        write_page(found, html, SystemClock().now())
    emit(record(found)) if json else show(found)
