"""Numbers as a panel of Grafana writes them, for the units that our dashboards use."""

from __future__ import annotations

_TIMES = ((86400.0, "d"), (3600.0, "h"), (60.0, "min"))
_SIZES = ((2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"))


def written(value: float, unit: str, decimals: int | None = None) -> str:
    """Write ``value`` with its unit. Raises KeyError for a unit that no dashboard of ours has."""
    return _WAYS[unit](value, decimals)


def _plain(value: float, decimals: int | None) -> str:
    if decimals is not None:
        return f"{round(value, decimals) + 0.0:,.{decimals}f}"  # no minus before a zero
    return f"{value:,.0f}" if value == round(value) or abs(value) >= 1000 else f"{value:.3g}"


def _share(value: float, decimals: int | None) -> str:
    places = decimals
    if places is None:
        places = 0 if value == 0 or abs(value) >= 0.1 else 1 if abs(value) >= 0.01 else 2
    return f"{value * 100:.{places}f} %"


def _seconds(value: float, decimals: int | None) -> str:
    if value == 0:
        return "0 s"
    if abs(value) < 1:
        return f"{value * 1000:.{decimals or 0}f} ms"
    return next(
        (f"{value / size:.3g} {name}" for size, name in _TIMES if abs(value) >= 2 * size), f"{value:.3g} s"
    )


def _bytes(value: float, decimals: int | None) -> str:
    return next(
        (f"{value / size:.{decimals or 0}f} {name}" for size, name in _SIZES if abs(value) >= size),
        f"{value:.0f} B",
    )


_WAYS = {
    "short": _plain,
    "percentunit": _share,
    "s": _seconds,
    "cps": lambda value, decimals: f"{_plain(value, decimals)} /s",
    "bytes": _bytes,
}
