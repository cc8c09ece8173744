"""A progress bar on standard error while the encoder is prepared; silent when all is there or nobody looks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

_WORDS = {
    "wait": "waiting for another process",
    "download": "downloading the weights",
    "read": "reading the weights",
    "rebuild": "rebuilding the encoder",
    "load": "loading",
    "words": "writing the vocabulary",
    "export": "exporting to ONNX",
    "optimise": "optimising",
    "quantise": "quantising to int8",
}


@contextmanager
def progress_bar() -> Iterator[Callable[[str, int, int], None]]:
    """Yield a callback (stage, done, total); total 0 means unknown."""
    console = Console(stderr=True)
    columns = (
        TextColumn("preparing the encoder (once): {task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        tasks: dict[str, int] = {}

        def report(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                for task in tasks.values():
                    bar.update(task, visible=False)  # type: ignore[arg-type]
                tasks[stage] = bar.add_task(_WORDS.get(stage, stage), total=total or None)
                if not console.is_terminal:
                    console.print(f"preparing the encoder (once): {_WORDS.get(stage, stage)}")
            bar.update(tasks[stage], completed=done, total=total or None)  # type: ignore[arg-type]

        yield report
