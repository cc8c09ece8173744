"""What every command is given: its settings."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from monitor import log
from monitor.settings import Settings, load

if TYPE_CHECKING:
    from monitor.scoring import Scoring

Config = Annotated[
    Path | None, typer.Option("--config", "-c", help="TOML file; the environment stands above it.")
]
Json = Annotated[bool, typer.Option("--json", help="One JSON object a line, for scripts.")]


def settings_of(config: Path | None) -> Settings:
    settings = load(config, os.environ)
    log.configure(settings.log.level, settings.log.format)
    return settings


def scoring_of(config: Path | None) -> Scoring:
    from monitor import assembly
    from monitor.progress_bar import progress_bar

    settings = settings_of(config)
    with progress_bar() as progress:
        return assembly.scoring(settings, progress)
