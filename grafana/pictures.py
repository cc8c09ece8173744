"""Draw the dashboards' data: ``python grafana/pictures.py http://127.0.0.1:9090 [--to DIRECTORY] [--minutes 60]``.

Every panel's queries are asked as they stand in the JSON, and drawn one PNG a dashboard. The pictures are ours:
Grafana takes no part, so they show what it would be told and not how it looks there.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
from asking import Asker, Span
from drawing import draw
from matplotlib.figure import Figure
from PIL import Image

HERE = Path(__file__).parent
_DPI = 100
_POINTS = 90  # of a line
_COLOURS = 96


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Draw the dashboards' data from their own queries.")
    parser.add_argument("prometheus", help="its address")
    parser.add_argument("--to", type=Path, default=HERE / "pictures", help="a directory")
    parser.add_argument("--board", action="append", help="one of the dashboards; all by default")
    parser.add_argument("--panel", type=int, help="this one alone, as large as the page; by its id")
    parser.add_argument("--minutes", type=float, default=60, help="how far back")
    parser.add_argument("--end", type=float, default=None, help="seconds since 1970; now by default")
    parser.add_argument("--window", type=float, default=60, help="seconds that rates are taken over")
    parser.add_argument("--scrape", type=float, default=10, help="how often Prometheus looks, in seconds")
    parser.add_argument("--data", default="a running system", help="what the data are of, for the caption")
    given = parser.parse_args(arguments)
    end = float(int(given.end or time.time()))
    seconds = given.minutes * 60
    step = max(1.0, round(seconds / _POINTS))
    span = Span(end - step * (seconds // step), end, step, max(given.window, 2 * step), given.scrape)
    when = f"{datetime.fromtimestamp(span.start, UTC):%Y-%m-%d %H:%M:%S} to {datetime.fromtimestamp(end, UTC):%H:%M:%S} UTC"
    caption = f"Drawn by grafana/pictures.py from the dashboard's own queries, not by Grafana. Data: {given.data}, {when}."
    given.to.mkdir(parents=True, exist_ok=True)
    with httpx2.Client(base_url=given.prometheus, timeout=30) as client:
        asker = Asker(client, span)
        for path in sorted((HERE / "dashboards").glob("*.json")):
            if given.board and path.stem not in given.board:
                continue
            board = json.loads(path.read_text(encoding="utf-8"))
            target = given.to / f"{path.stem}.png"
            if given.panel:
                board = _alone(board, given.panel)
                target = given.to / f"{path.stem}-{given.panel}.png"
            _save(draw(board, asker.panel, span, caption), target)
            print(f"{target} {target.stat().st_size // 1000} kB")
    return 0


def _alone(board: dict[str, Any], number: int) -> dict[str, Any]:
    """Return the dashboard as a link to one of its panels shows it. Raises ValueError if it has no such panel."""
    found = [panel for panel in board["panels"] if panel["id"] == number]
    if not found:
        raise ValueError(f"{board['uid']} has no panel {number}; name one of those in its JSON")
    return {**board, "panels": [{**found[0], "gridPos": {**found[0]["gridPos"], "x": 0, "y": 0, "w": 24}}]}


def _save(figure: Figure, target: Path) -> None:
    """A palette makes it a third as large and no worse to read."""
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=_DPI, format="png")
    drawn.seek(0)
    with Image.open(drawn) as image:
        image.convert("RGB").quantize(_COLOURS).save(target, optimize=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
