"""``jiezhu``: every command, its options, and the exit status (0 good, 1 not good, 2 asked wrongly)."""

from __future__ import annotations

import asyncio
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Annotated, Any

import typer

from detectors.encoder import EncoderError
from detectors.ports import ReplyScorer, UserScorer
from detectors.scales.anchors import LANGUAGES
from monitor import __version__
from monitor.errors import ConfigurationError, JiezhuError
from monitor.model_cli import models
from monitor.options import Config, Json, scoring_of, settings_of
from monitor.output import emit, fail, leave_unread
from monitor.release_cli import releases
from monitor.settings import environment_names

app = typer.Typer(
    name="jiezhu",
    help="Watches the AI of mental-health apps while it talks to people, and calls a person when it drops somebody.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
incidents = typer.Typer(help="List, show, acknowledge and resolve incidents.", no_args_is_help=True)
app.add_typer(incidents, name="incidents")
app.add_typer(models)
app.add_typer(releases)


def _somebody(by: str) -> str:
    """A script whose $USER is not set would leave a deed that nobody did."""
    if not by.strip():
        raise typer.BadParameter("is empty; say who does it")
    return by.strip()


By = Annotated[str, typer.Option("--by", help="Who does it: goes into the audit.", callback=_somebody)]


def main() -> None:
    """Entry point: errors of ours are one line on standard error, never a traceback."""
    try:
        app()
    except ConfigurationError as error:
        fail(str(error), 2)
    except (JiezhuError, EncoderError) as error:
        fail(str(error), 1)
    except KeyboardInterrupt:
        sys.exit(130)
    except asyncio.CancelledError:  # SIGTERM ended the demonstration
        sys.exit(143)
    except BrokenPipeError:
        leave_unread()
    except Exception as error:  # noqa: BLE001 - a traceback repeats values, which may be somebody's words (R65)
        frame = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(frame.filename).parent.name}/{Path(frame.filename).name}:{frame.lineno}"
        fail(f"unexpected {type(error).__name__} at {place}; please report it with this line", 1)


@app.command()
def run(config: Config = None) -> None:
    """Run the daemon: read turns, judge, page."""
    from monitor.app import App

    settings = settings_of(config)

    async def daemon() -> None:
        await App(settings).run(_log_progress())

    asyncio.run(daemon())


@app.command()
def demo(
    keep: Annotated[bool, typer.Option("--keep", help="Go on serving when the script is played.")] = False,
    json: Json = False,
) -> None:
    """Play scripted conversations through the whole chain, and see the pages arrive."""
    from monitor.demo.demo import play

    sys.exit(asyncio.run(play(keep=keep, json=json)))


@app.command()
def replay(
    file: Annotated[str, typer.Argument(help="JSON lines of events; - for standard input.")],
    config: Config = None,
) -> None:
    """Run the same pipeline over a file, with event time as the clock. Result: JSON lines."""
    from monitor import assembly
    from monitor.clock import SystemClock
    from monitor.progress_bar import progress_bar
    from monitor.replay import Replay
    from monitor.styling import PURPOSE, Styling

    settings = settings_of(config)
    keys = assembly.ephemeral_keys()
    with progress_bar() as progress:
        scoring = assembly.scoring(settings, progress)
    scoring.styling = Styling(keys.pseudonymiser.key(PURPOSE))
    paging = assembly.paging(settings, keys.links, SystemClock())
    asyncio.run(Replay(scoring, paging, keys.pseudonymiser, emit).run(file))


@app.command()
def detect(config: Config = None) -> None:
    """Judge user turns: JSON lines {"id","text"} or {"id","turns"} in, findings out."""
    from monitor.judging import detect as answer

    scoring = scoring_of(config)
    _answer_rows(lambda rows: answer(rows, scoring.users, scoring.replies))


@app.command()
def judge(config: Config = None) -> None:
    """Judge the last reply: JSON lines {"id","turns"} in, outcome and criteria out."""
    from monitor.judging import judge as answer

    with _judges(config) as (users, replies):
        _answer_rows(lambda rows: answer(rows, users, replies))


@app.command()
def score(
    file: Annotated[Path | None, typer.Argument(help="JSON lines; standard input without it.")] = None,
    lang: Annotated[str, typer.Option(help="Language of reasons and suggestions: zh or en.")] = "en",
    json: Json = False,
    config: Config = None,
) -> None:
    """Score whole conversations on both scales: JSON lines {"id","turns"} in, a table or JSON lines out."""
    from monitor.judging import rate
    from monitor.score_table import show

    if lang not in LANGUAGES:
        raise ConfigurationError("--lang", f"is not known; use {' or '.join(LANGUAGES)}")
    with _judges(config) as (users, replies):
        _answer_rows(
            lambda rows: rate(rows, users, replies, lang),
            file,
            None if json else lambda row: show(row, lang),
        )


@app.command("check-config")
def check_config(
    config: Config = None,
    names: Annotated[bool, typer.Option("--names", help="List every environment name.")] = False,
) -> None:
    """Check the settings and say what they mean."""
    if names:
        for name in sorted(environment_names()):
            typer.echo(name)
        return
    from monitor.commands import describe_settings

    for line in describe_settings(settings_of(config)):
        typer.echo(line)


@app.command("test-page")
def test_page(config: Config = None, json: Json = False) -> None:
    """Send a page marked TEST over every configured channel, and say what each answered."""
    from monitor.commands import send_test_page

    answers = asyncio.run(send_test_page(settings_of(config)))
    for name, attempt, seconds in answers:
        row = {"pager": name, "answer": attempt.answer.value, "reason": attempt.reason, "seconds": seconds}
        emit(row) if json else typer.echo(
            f"{name}: {attempt.answer.value} ({attempt.reason}), {seconds:.2f} s"
        )
    sys.exit(0 if all(attempt.answer.value == "accepted" for _, attempt, _ in answers) else 1)


@app.command()
def migrate(config: Config = None) -> None:
    """Bring the database's tables up to date."""
    from monitor.commands import migrate_tables

    typer.echo(migrate_tables(settings_of(config)))


@app.command()
def erase(
    kind: Annotated[str, typer.Option(help="What the ids name: conversation or user.")],
    by: By,
    file: Annotated[Path | None, typer.Argument(help="Ids, one a line; standard input without it.")] = None,
    config: Config = None,
    json: Json = False,
) -> None:
    """Forget conversations, or all of a user's: everywhere, at once, with a proof that names nobody.

    Ids are read from a file or standard input, never from the command line, where others could see them.
    """
    from monitor.keeping_commands import erase as forget
    from monitor.subjects import lines_of

    settings = settings_of(config)
    with _opened(file) as stream:
        lines = lines_of(stream.read())
    done = asyncio.run(forget(settings, kind, lines, by))
    if json:
        emit(
            {
                "proofs": list(done.proofs),
                "rows": dict(done.rows),
                "dead_letters": done.dead_letters,
                "closed_letters": done.closed_letters,
                "held": done.held + done.waiting,
            }
        )
    else:
        typer.echo(
            f"erased {done.rows.total()} rows and {done.dead_letters} dead letters; proofs: {', '.join(done.proofs)}"
        )
        typer.echo("copies on Kafka topics are not ours to delete: see SECURITY.md")
    if done.closed_letters:
        typer.echo(
            f"{done.closed_letters} dead letters do not open with these keys; nobody can tell whom they name",
            err=True,
        )
    if done.held or done.waiting:
        fail(
            f"{done.held + done.waiting} conversation(s) stay for now, without words: somebody there may be in danger, "
            "or a pager has still to hear that it is over; workers erase them after that",
            1,
        )


@app.command("rotate-keys")
def rotate_keys(config: Config = None, json: Json = False) -> None:
    """Seal everything that is sealed anew with the first key of JIEZHU_KEYS__SEAL. Workers may run; broken off, run it again."""
    from monitor.keeping_commands import rotate

    done, left = asyncio.run(rotate(settings_of(config)))
    if json:
        emit({"sealed_anew": done.anew, "closed": done.closed, "left": left})
    else:
        typer.echo(f"sealed {done.anew} rows anew; {left} are left under other keys")
    if left:
        fail(
            "keep the older keys: rows are left that need them (restart workers that seal with an older key)",
            1,
        )


@incidents.command("list")
def list_incidents(
    config: Config = None,
    json: Json = False,
    everything: Annotated[bool, typer.Option("--all", help="Closed ones too.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=10_000)] = 50,
) -> None:
    """List incidents, newest first."""
    from monitor.commands import incident_rows, incident_table

    rows = asyncio.run(incident_rows(settings_of(config), open_only=not everything, limit=limit))
    if json:
        for row in rows:
            emit(row)
    else:
        incident_table(rows)


@incidents.command("show")
def show_incident(
    key: str,
    config: Config = None,
    json: Json = False,
    words: Annotated[
        bool, typer.Option("--words", help="Unseal the excerpt: for review, under your rules.")
    ] = False,
) -> None:
    """Show one incident and its timeline."""
    from monitor.commands import incident_detail, print_detail

    detail = asyncio.run(incident_detail(settings_of(config), key, words=words))
    emit(detail) if json else print_detail(detail)


@incidents.command("ack")
def acknowledge(key: str, by: By, config: Config = None) -> None:
    """Say that somebody is on it: nobody else is rung."""
    from monitor.commands import put

    typer.echo(asyncio.run(put(settings_of(config), key, "ack", by, None)))


@incidents.command("resolve")
def resolve(
    key: str,
    by: By,
    verdict: Annotated[str | None, typer.Option(help="true_miss, false_alarm, duplicate, other.")] = None,
    config: Config = None,
) -> None:
    """Close an incident."""
    from monitor.commands import put

    typer.echo(asyncio.run(put(settings_of(config), key, "resolve", by, verdict)))


@incidents.command("verdict")
def verdict(
    key: str,
    verdict: Annotated[str, typer.Argument(help="true_miss, false_alarm, duplicate, other.")],
    by: By,
    config: Config = None,
) -> None:
    """Say what an incident was that is over. A first verdict stands: the figures have counted it."""
    from monitor.commands import review

    typer.echo(asyncio.run(review(settings_of(config), key, by, verdict)))


@app.callback(invoke_without_command=True)
def version(
    show: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if show:
        typer.echo(__version__)
        raise typer.Exit


@contextmanager
def _judges(config: Path | None) -> Iterator[tuple[UserScorer, ReplyScorer]]:
    """The judges of users and replies, with a second opinion where one is configured; what came of it is said at the end."""
    from monitor.clock import SystemClock
    from monitor.second_opinion.scorer import SecondOpinions

    scoring = scoring_of(config)
    second = SecondOpinions(scoring.replies, settings_of(config).second_opinion, SystemClock())
    try:
        yield scoring.users, second
    finally:
        if second.counts:
            told = ", ".join(f"{name} {count}" for name, count in sorted(second.counts.items()))
            typer.echo(f"second opinions: {told}", err=True)


def _answer_rows(
    answer: Callable[[list[Any]], list[dict[str, Any]]],
    file: Path | None = None,
    show: Callable[[dict[str, Any]], None] | None = None,
) -> None:
    """Answer a file, or standard input, batch by batch; status 1 if a line could not be answered.

    Good answers are printed by ``show`` where it is given, else as JSON lines, as bad ones always are.
    """
    from monitor.jsonl import read_rows

    bad = 0
    with _opened(file) as stream:
        for rows in read_rows(stream):
            for row in answer(rows):
                bad += "error" in row
                (emit if show is None or "error" in row else show)(row)
    if bad:
        fail(f"{bad} line(s) could not be answered; each says why in its place", 1)


@contextmanager
def _opened(file: Path | None) -> Iterator[IO[bytes]]:
    if file is None:
        yield sys.stdin.buffer
        return
    try:
        stream = file.open("rb")
    except OSError as error:
        raise ConfigurationError("FILE", f"cannot be read ({error.strerror}); give one that can") from None
    with stream:
        yield stream


def _log_progress() -> Callable[[str, int, int], None]:
    """A daemon's progress goes to its log: a line a stage."""
    import structlog

    seen: set[str] = set()

    def progress(stage: str, done: int, total: int) -> None:
        del done, total
        if stage not in seen:
            seen.add(stage)
            structlog.get_logger(__name__).info("preparing_encoder", stage=stage)

    return progress
