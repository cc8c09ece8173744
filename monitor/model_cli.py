"""The commands about the model: prepare, train, fit-replies, evaluate. Imports stand in the commands, so that they start fast."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from monitor.errors import JiezhuError
from monitor.options import Config, Json, scoring_of, settings_of
from monitor.output import emit

models = typer.Typer()


@models.command()
def prepare(config: Config = None) -> None:
    """Build the encoder with our training merged in now, so that a worker starts at once. For images and caches."""
    scoring_of(config).close()


@models.command()
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
        Path | None, typer.Option("--from", help="A trained model to go on from, and to stay half-way to.")
    ] = None,
    seed: int = 20260,
    limit: Annotated[int | None, typer.Option(min=32, help="Rows learnt from, for a trial.")] = None,
    config: Config = None,
) -> None:
    """Fit the encoder to our corpora: hours on two cores. Run again, it goes on where it was."""
    from monitor.data_files import check_files

    files = tuple(data or ())
    check_files(files)
    from detectors.training.course import Course
    from detectors.training.run import Plan, run
    from monitor.model_commands import Watching

    given = settings_of(config).encoder
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


@models.command("fit-replies")
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

    given = settings_of(config).encoder
    with Watching() as progress:
        settle_heads(model / MODEL if model else SHIPPED, given.source, given.cache_dir, out, progress)
    typer.echo(f"fitted: {out.name}")


@models.command()
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
    from monitor.data_files import check_files

    files = tuple(data or ())
    check_files(files)
    from detectors.evaluation.evaluate import as_json
    from monitor import model_commands

    with model_commands.Watching() as progress:
        found, beside = model_commands.measure(
            settings_of(config).encoder, files, model, progress, every=every, keywords=keywords
        )
    if picture is not None:
        from detectors.evaluation.picture import draw

        draw(found.judged, picture)
    if card is not None:
        from detectors.evaluation import card as writer

        card.write_text(writer.card(found, beside), encoding="utf-8")
    if json:
        emit(as_json(found) | {"beside": {name: as_json(other) for name, other in beside.items()}})
    else:
        model_commands.print_evaluation(found, beside, slices=slices)
    short = model_commands.fallen_short(found)
    for line in short:
        typer.echo(f"falls short: {line}", err=True)
    sys.exit(1 if short else 0)
