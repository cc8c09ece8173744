"""A comparison as one HTML page that needs nothing else: no network, no script. It prints."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from monitor.errors import JiezhuError
from monitor.releases import cells, plots, words
from monitor.releases.comparison import Comparison
from monitor.releases.row import Family, Finding

_TEMPLATES = Environment(
    loader=PackageLoader("monitor.releases"),
    autoescape=select_autoescape(),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


_FAMILIES = (("Rates", Family.RATE), ("Marks", Family.MARK), ("Latency of replies", Family.LATENCY))


def page(found: Comparison, at: datetime) -> str:
    return _TEMPLATES.get_template("comparison.html").render(
        found=found,
        at=at,
        words=words,
        cells=cells,
        Finding=Finding,
        families=[(title, found.of(family)) for title, family in _FAMILIES if found.of(family)],
        pictures={
            # our own drawing, in which every label was escaped by the drawer
            "Rates": Markup(plots.rates_plot(found)),  # noqa: S704
            "Marks": Markup(plots.marks_plot(found)),  # noqa: S704
            "Style": Markup(plots.style_plot(found.style) if found.style else ""),  # noqa: S704
        },
    )


def write_page(found: Comparison, file: Path, at: datetime) -> None:
    """Raises ``JiezhuError`` where the file cannot be written."""
    try:
        file.write_text(page(found, at), encoding="utf-8")
    except OSError as error:
        raise JiezhuError(
            f"the page cannot be written ({error.strerror}): name a file in a directory that may be written"
        ) from None
