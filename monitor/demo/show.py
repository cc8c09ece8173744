"""What the demonstration prints: for people, or one JSON object a line."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from typing import Any, Protocol

import orjson
from rich.console import Console
from rich.table import Table

from monitor.demo.pager import Received
from monitor.demo.script import Scene


class Outcome(Protocol):
    """What came of one scene."""

    @property
    def scene(self) -> Scene: ...
    @property
    def outcome(self) -> str | None: ...
    @property
    def pages(self) -> int: ...
    @property
    def tickets(self) -> int: ...
    @property
    def seconds(self) -> float | None: ...
    @property
    def as_expected(self) -> bool: ...


class Show:
    def __init__(self, *, json: bool) -> None:
        self._json = json
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(line_buffering=True)
        # Through a pipe rich assumes 80 columns, which breaks every line of the table.
        self._console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)

    def note(self, text: str) -> None:
        if self._json:
            self._emit({"type": "note", "text": text})
        else:
            self._console.print(f"[dim]{text}[/dim]")

    def page(self, received: Received, scene: Scene | None, seconds: float | None) -> None:
        content = received.content
        name = scene.name if scene else "?"
        if self._json:
            row = {
                name: content[name] for name in ("kind", "level", "outcome", "reason", "dedup_key", "release")
            }
            self._emit({"type": "page", "scene": name, "seconds": seconds, **row})
            return
        style = "bold red" if content["kind"] == "page" else "yellow"
        after = f"{seconds:5.2f} s" if seconds is not None else "    ?  "
        self._console.print(
            f"[{style}]{content['kind'].upper():6}[/] {after} after the turn · {_words(content['level'])} · "
            f"{_words(content['outcome'])} · {content['release']} [dim]({name})[/dim]"
        )

    def summary(self, observed: Sequence[Outcome], *, good: bool) -> None:
        if self._json:
            for one in observed:
                self._emit({"type": "scene", **_row(one)})
            self._emit({"type": "summary", "scenes": len(observed), "as_expected": good})
            return
        table = Table(box=None, pad_edge=False, title="expected / observed", title_justify="left")
        for column in ("conversation", "outcome", "pages", "tickets", "turn to page", ""):
            table.add_column(column)
        for one in observed:
            expected = one.scene.outcome.value if one.scene.outcome else None
            table.add_row(
                one.scene.name,
                f"{_words(expected)} / {_words(one.outcome)}",
                f"{one.scene.pages} / {one.pages}",
                f"{one.scene.tickets} / {one.tickets}",
                f"{one.seconds:.2f} s" if one.seconds is not None else "",
                "[green]as expected[/]" if one.as_expected else "[bold red]DIFFERS[/]",
            )
        self._console.print()
        self._console.print(table)
        self._console.print("[green]everything as expected[/]" if good else "[bold red]not as expected[/]")

    def addresses(self, urls: Sequence[str]) -> None:
        if self._json:
            self._emit({"type": "addresses", "workers": list(urls)})
            return
        for url in urls:
            self._console.print(f"[dim]{url}/metrics  {url}/readyz  {url}/asyncapi.json[/dim]")

    def _emit(self, row: dict[str, Any]) -> None:
        sys.stdout.buffer.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
        sys.stdout.buffer.flush()


def _words(value: str | None) -> str:
    return value.replace("_", " ") if value else "–"


def _row(one: Outcome) -> dict[str, Any]:
    return {
        "scene": one.scene.name,
        "expected": one.scene.outcome.value if one.scene.outcome else None,
        "observed": one.outcome,
        "pages_expected": one.scene.pages,
        "pages": one.pages,
        "tickets_expected": one.scene.tickets,
        "tickets": one.tickets,
        "seconds": one.seconds,
        "as_expected": one.as_expected,
    }
