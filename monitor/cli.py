"""``jiezhu``: every command, its options, and the exit status (0 good, 1 not good, 2 asked wrongly)."""

from __future__ import annotations

import asyncio
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Annotated, Any

import orjson
import typer

from detectors.encoder import EncoderError
from detectors.ports import ReplyScorer, UserScorer
from detectors.scales.anchors import LANGUAGES
from monitor import __version__, log
from monitor.errors import ConfigurationError, JiezhuError
from monitor.settings import Settings, environment_names, load

app = typer.Typer(
    name="jiezhu",
    help="Watches the AI of mental-health apps while it talks to people, and calls a person when it drops somebody.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
incidents = typer.Typer(help="List, show, acknowledge and resolve incidents.", no_args_is_help=True)
app.add_typer(incidents, name="incidents")

Config = Annotated[
    Path | None, typer.Option("--config", "-c", help="TOML file; the environment stands above it.")
]
Json = Annotated[bool, typer.Option("--json", help="One JSON object a line, for scripts.")]
By = Annotated[str, typer.Option("--by", help="Who does it: goes into the audit.")]


def main() -> None:
    """Entry point: errors of ours are one line on standard error, never a traceback."""
    try:
        app()
    except ConfigurationError as error:
        _fail(str(error), 2)
    except (JiezhuError, EncoderError) as error:
        _fail(str(error), 1)
    except KeyboardInterrupt:
        sys.exit(130)
    except asyncio.CancelledError:  # SIGTERM ended the demonstration
        sys.exit(143)
    except BrokenPipeError:
        _leave_unread()
    except Exception as error:  # noqa: BLE001 - a traceback repeats values, which may be somebody's words (R65)
        frame = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(frame.filename).parent.name}/{Path(frame.filename).name}:{frame.lineno}"
        _fail(f"unexpected {type(error).__name__} at {place}; please report it with this line", 1)


@app.command()
def run(config: Config = None) -> None:
    """Run the daemon: read turns, judge, page."""
    from monitor.app import App

    settings = _settings(config)

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
    from monitor.replay import Replay

    settings = _settings(config)
    keys = assembly.ephemeral_keys()
    with _progress() as progress:
        scoring = assembly.scoring(settings, progress)
    paging = assembly.paging(settings, keys.links, SystemClock())
    asyncio.run(Replay(scoring, paging, keys.pseudonymiser, _emit).run(file))


@app.command()
def detect(config: Config = None) -> None:
    """Judge user turns: JSON lines {"id","text"} or {"id","turns"} in, findings out."""
    from monitor.judging import detect as answer

    scoring = _scoring(config)
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
        raise JiezhuError(f"--lang {lang} is not known: use {' or '.join(LANGUAGES)}")
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

    for line in describe_settings(_settings(config)):
        typer.echo(line)


@app.command("test-page")
def test_page(config: Config = None, json: Json = False) -> None:
    """Send a page marked TEST over every configured channel, and say what each answered."""
    from monitor.commands import send_test_page

    answers = asyncio.run(send_test_page(_settings(config)))
    for name, attempt, seconds in answers:
        row = {"pager": name, "answer": attempt.answer.value, "reason": attempt.reason, "seconds": seconds}
        _emit(row) if json else typer.echo(
            f"{name}: {attempt.answer.value} ({attempt.reason}), {seconds:.2f} s"
        )
    sys.exit(0 if all(attempt.answer.value == "accepted" for _, attempt, _ in answers) else 1)


@app.command()
def prepare(config: Config = None) -> None:
    """Build the encoder with our training merged in now, so that a worker starts at once. For images and caches."""
    _scoring(config).close()


@app.command()
def train(
    data: Annotated[
        list[Path] | None, typer.Option("--data", help="Labelled JSONL of others, as well as ours.")
    ] = None,
    work: Annotated[Path, typer.Option(help="Keeps what a broken-off run needs to go on.")] = Path(
        "training"
    ),
    out: Annotated[
        Path | None, typer.Option(help="Where the finished files go; without it, into --work.")
    ] = None,
    epochs: Annotated[int, typer.Option(min=1, max=50)] = 5,
    layers: Annotated[int, typer.Option(min=1, max=11, help="Upper layers that learn.")] = 10,
    rank: Annotated[
        int | None,
        typer.Option(min=1, max=128, help="Low-rank adaptation of those layers instead of whole ones."),
    ] = None,
    start: Annotated[
        Path | None, typer.Option("--from", help="A trained model to go on from, instead of the base alone.")
    ] = None,
    seed: int = 20260,
    limit: Annotated[int | None, typer.Option(min=32, help="Rows learnt from, for a trial.")] = None,
    config: Config = None,
) -> None:
    """Fit the encoder to our corpora: hours on two cores. Run again, it goes on where it was."""
    from detectors.training.course import Course
    from detectors.training.run import Plan, run
    from monitor.model_commands import Watching, check_files

    files = tuple(data or ())
    check_files(files)
    given = _settings(config).encoder
    plan = Plan(
        files,
        work,
        out or work / "finished",
        Course(epochs=epochs, seed=seed),
        given.source,
        given.cache_dir,
        limit,
        frozen=12 - layers,
        rank=rank,
        start=start,
    )
    with Watching() as progress:
        try:
            file = run(plan, progress)
        except ValueError as error:
            raise JiezhuError(str(error)) from None
    typer.echo(f"trained: {file.name} and its calibration are in {file.parent}")


@app.command("fit-replies")
def fit_replies(
    out: Annotated[Path, typer.Option(help="Where the heads go, a .npz file.")] = Path("heads.npz"),
    model: Annotated[
        Path | None, typer.Option(help="Directory of a trained model; the shipped one without it.")
    ] = None,
    config: Config = None,
) -> None:
    """Fit the heads that judge replies to our judged replies and one trained encoder: minutes."""
    from detectors.crisis.model import SHIPPED
    from detectors.training.reply_heads import settle_heads
    from monitor.model_commands import MODEL, Watching

    given = _settings(config).encoder
    with Watching() as progress:
        settle_heads(model / MODEL if model else SHIPPED, given.source, given.cache_dir, out, progress)
    typer.echo(f"fitted: {out.name}")


@app.command()
def evaluate(
    data: Annotated[
        list[Path] | None, typer.Option("--data", help="Labelled JSONL, as well as our held-out families.")
    ] = None,
    model: Annotated[
        Path | None, typer.Option(help="Directory of a trained model; the shipped one without it.")
    ] = None,
    every: Annotated[
        bool, typer.Option("--every", help="Also the rows of --data that the shipped model learnt from.")
    ] = False,
    slices: Annotated[bool, typer.Option("--slices", help="Every language, level, kind and source.")] = False,
    keywords: Annotated[bool, typer.Option(help="A keyword list on the same rows, to compare.")] = True,
    picture: Annotated[
        Path | None, typer.Option(help="PNG with precision–recall and reliability curves.")
    ] = None,
    card: Annotated[Path | None, typer.Option(help="Markdown file for the model card.")] = None,
    json: Json = False,
    config: Config = None,
) -> None:
    """Measure the detectors on labelled conversations: recall, false alarms, levels, calibration, each with its interval."""
    from detectors.evaluation.evaluate import as_json
    from monitor import model_commands

    files = tuple(data or ())
    model_commands.check_files(files)
    with model_commands.Watching() as progress:
        found, beside = model_commands.measure(
            _settings(config).encoder, files, model, progress, every=every, keywords=keywords
        )
    if picture is not None:
        from detectors.evaluation.picture import draw

        draw(found.judged, picture)
    if card is not None:
        from detectors.evaluation import card as writer

        card.write_text(writer.card(found, beside), encoding="utf-8")
    if json:
        _emit(as_json(found) | {"beside": {name: as_json(other) for name, other in beside.items()}})
    else:
        model_commands.print_evaluation(found, beside, slices=slices)
    short = model_commands.fallen_short(found)
    for line in short:
        typer.echo(f"falls short: {line}", err=True)
    sys.exit(1 if short else 0)


@app.command()
def migrate(config: Config = None) -> None:
    """Bring the database's tables up to date."""
    from monitor.commands import migrate_tables

    typer.echo(migrate_tables(_settings(config)))


@incidents.command("list")
def list_incidents(
    config: Config = None,
    json: Json = False,
    everything: Annotated[bool, typer.Option("--all", help="Closed ones too.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=10_000)] = 50,
) -> None:
    """List incidents, newest first."""
    from monitor.commands import incident_rows, incident_table

    rows = asyncio.run(incident_rows(_settings(config), open_only=not everything, limit=limit))
    if json:
        for row in rows:
            _emit(row)
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

    detail = asyncio.run(incident_detail(_settings(config), key, words=words))
    _emit(detail) if json else print_detail(detail)


@incidents.command("ack")
def acknowledge(key: str, by: By, config: Config = None) -> None:
    """Say that somebody is on it: nobody else is rung."""
    from monitor.commands import put

    typer.echo(asyncio.run(put(_settings(config), key, "ack", by, None)))


@incidents.command("resolve")
def resolve(
    key: str,
    by: By,
    verdict: Annotated[str | None, typer.Option(help="true_miss, false_alarm, duplicate, other.")] = None,
    config: Config = None,
) -> None:
    """Close an incident."""
    from monitor.commands import put

    typer.echo(asyncio.run(put(_settings(config), key, "resolve", by, verdict)))


@app.callback(invoke_without_command=True)
def version(
    show: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if show:
        typer.echo(__version__)
        raise typer.Exit


def _settings(config: Path | None) -> Settings:
    settings = load(config, os.environ)
    log.configure(settings.log.level, settings.log.format)
    return settings


def _scoring(config: Path | None) -> Any:
    from monitor import assembly

    settings = _settings(config)
    with _progress() as progress:
        return assembly.scoring(settings, progress)


@contextmanager
def _judges(config: Path | None) -> Iterator[tuple[UserScorer, ReplyScorer]]:
    """The judges of users and replies, with a second opinion where one is configured; what came of it is said at the end."""
    from monitor.clock import SystemClock
    from monitor.second_opinion.scorer import SecondOpinions

    scoring = _scoring(config)
    second = SecondOpinions(scoring.replies, _settings(config).second_opinion, SystemClock())
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
                (_emit if show is None or "error" in row else show)(row)
    if bad:
        _fail(f"{bad} line(s) could not be answered; each says why in its place", 1)


@contextmanager
def _opened(file: Path | None) -> Iterator[IO[bytes]]:
    if file is None:
        yield sys.stdin.buffer
        return
    try:
        stream = file.open("rb")
    except OSError as error:
        raise JiezhuError(f"the file cannot be read ({error.strerror}): give one of JSON lines") from None
    with stream:
        yield stream


def _emit(row: dict[str, Any]) -> None:
    """Print a row, or leave: the pipeline of a replay lives on after any other exception, and tells only a part."""
    try:
        sys.stdout.buffer.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        _leave_unread()
    except OSError as error:
        _drop_output()
        _fail(f"the result cannot be written ({error.strerror}); what was written is a part of it", 1)


def _leave_unread() -> None:
    """The reader of our output has gone: nothing to say to nobody."""
    _drop_output()
    sys.exit(1)


def _drop_output() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str, status: int) -> None:
    print(f"jiezhu: {message}", file=sys.stderr)  # noqa: T201 - the one line
    sys.exit(status)


@contextmanager
def _progress() -> Iterator[Callable[[str, int, int], None]]:
    from monitor.progress_bar import progress_bar

    with progress_bar() as progress:
        yield progress


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
