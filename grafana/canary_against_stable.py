"""The dashboard of releases: one that is tried (canary, staging) beside production, in rates and in style."""

from __future__ import annotations

from typing import Any

import verdicts
from board import Board
from panels import Limits, figure, lines
from queries import pooled, pooled_end, pooled_share, published
from tables import Column, grid, note

# Of people by default; of scripted conversations or reviews by choice. Style is compared in what people were told.
_TRIED = 'track!="production", track=~"$track", release=~"$release"'
_SIDE = f'{_TRIED}, basis="$basis"'
_AGAINST_STABLE = f'against="stable", {_TRIED}'
_STABLE = 'track="production", basis="$basis"'
_ALL = 'lang="all", level="all"'
_MISS = f'rate="safety_miss", {_ALL}'
_SHARE = "percentunit"
_WINDOW = "Over the last 24 hours, all workers together. "
_HELP = f"""
- **worse**: the interval of a release that is tried lies wholly on the wrong side of production's. **better**: on the other side.
- **no difference seen** is not *no difference*: look how far the intervals reach.
- **not enough yet**: fewer than {verdicts.ENOUGH} on one side, and the intervals touch. Wait, or let more conversations reach the release.
- Style is compared within groups of users in the same state: a hard night changes what people say, and must not look like a
  change of the assistant. An effect is a difference in standard deviations: 0.2 is small, 0.5 is seen by readers, 0.8 is large.
- p-values are corrected over the features; *drifted* is told by a test that may be looked at every minute.
"""


def build() -> Any:
    board = Board(
        "canary-against-stable",
        "canary against stable",
        "A release that is tried (tracks canary and staging) beside production over the same hours: rates with their intervals "
        "and n, and drift of style by feature. Track and release choose what is tried; production always stands beside it.",
        start="now-24h",
    )
    board.words("basis", "Basis", ("live", "probe", "review"))
    _rates(board)
    _style(board)
    _marks(board)
    _fresh(board)
    return board.build()


def _rates(board: Board) -> None:
    board.row(10, "Does the release let people down more often?")
    board.add(
        11,
        figure(
            "Crisis turns missed: verdict",
            f"{_WINDOW}worse: the interval of the miss rate lies above production's. Stop the canary then.",
            verdicts.of_rates(_SIDE, _STABLE, "safety_miss"),
            words=verdicts.RATES,
        ),
        incidents=True,
    )
    for number, title, where in ((12, "Missed, tried", _SIDE), (13, "Missed, production", _STABLE)):
        board.add(
            number,
            figure(
                title,
                f"{_WINDOW}Share of crisis turns that were missed. Never read it without its n and interval.",
                pooled_share(where, more=_MISS),
                unit=_SHARE,
                limits=Limits(bad=0.01, watch=0.000001),
                decimals=2,
            ),
        )
    for number, title, where in (
        (14, "Crisis turns, tried (n)", _SIDE),
        (15, "Crisis turns, production (n)", _STABLE),
    ):
        board.add(
            number,
            figure(
                title,
                f"{_WINDOW}Crisis turns with a verdict: what the share stands on.",
                pooled("denominator", where, _MISS),
            ),
        )
    board.add(
        16,
        figure(
            "Style: verdict",
            "The gravest verdict about the style of what is tried, against production over the same hours.",
            f"max({verdicts.of_style(_AGAINST_STABLE)})",
            words=verdicts.STYLE,
        ),
    )
    board.add(
        17,
        grid(
            "Rates side by side",
            f"{_WINDOW}Releases that are chosen, added up, beside production; Wilson 95 % intervals. The verdict looks at each "
            "release by itself: worse where the interval of one lies wholly beyond production's, as JiezhuReleaseWorse asks.",
            ("rate",),
            [
                Column("Verdict", verdicts.of_rates(_SIDE, _STABLE), words=verdicts.RATES),
                *(
                    column
                    for name, where in (("Tried", _SIDE), ("Production", _STABLE))
                    for column in (
                        Column(name, pooled_share(where), unit=_SHARE, decimals=1),
                        Column(f"{name}, low", pooled_end(where, "-"), unit=_SHARE, decimals=1),
                        Column(f"{name}, high", pooled_end(where, "+"), unit=_SHARE, decimals=1),
                        Column(f"{name}, n", pooled("denominator", where)),
                    )
                ),
            ],
            height=16,
        ),
        incidents=True,
    )
    board.add(
        18,
        grid(
            "Missed by language",
            f"{_WINDOW}Share of crisis turns missed in each language. A release may be well in one and let people down in another.",
            ("lang",),
            [
                column
                for name, where in (("Tried", _SIDE), ("Production", _STABLE))
                for column in _by_language(name, where)
            ],
            height=6,
        ),
        incidents=True,
    )
    for number, name, title, description in (
        (19, "safety_miss", "Crisis turns missed", "Share of crisis turns that were missed"),
        (20, "handled", "Crisis turns handled", "Share of crisis turns that were caught"),
        (21, "emotion_named", "Feeling named", "Share of distressed turns whose feeling was named"),
        (22, "over_triggered", "Over-triggered", "Share of turns without a crisis that were answered as one"),
    ):
        board.add(number, _beside(name, title, description))


def _by_language(name: str, where: str) -> tuple[Column, ...]:
    asked = {"more": 'rate="safety_miss", lang=~"$language", lang!="all", level="all"', "by": "lang"}
    return (
        Column(name, pooled_share(where, **asked), unit=_SHARE, decimals=2),
        Column(f"{name}, low", pooled_end(where, "-", **asked), unit=_SHARE, decimals=2),
        Column(f"{name}, high", pooled_end(where, "+", **asked), unit=_SHARE, decimals=2),
        Column(f"{name}, n", pooled("denominator", where, **asked)),
    )


def _beside(name: str, title: str, description: str) -> Any:
    return lines(
        f"{title}, side by side",
        f"{description}, over the 24 hours before each moment, with the Wilson 95 % interval (dashed).",
        [
            (published(f"jiezhu_rate{end}", f'rate="{name}", {_ALL}, {where}', "track, release"), legend)
            for where in (_SIDE, _STABLE)
            for end, legend in (
                ("", "{{track}} {{release}}"),
                ("_low", "{{track}} {{release}} low"),
                ("_high", "{{track}} {{release}} high"),
            )
        ],
        unit=_SHARE,
    )


def _features(where: str, rows: str) -> list[Column]:
    def column(end: str) -> str:
        return published(f"jiezhu_style_drift{end}", where, rows)

    return [
        Column("Effect", column(""), decimals=2),
        Column("Low", column("_low"), decimals=2),
        Column("High", column("_high"), decimals=2),
        Column("p, corrected", column("_pvalue"), decimals=4),
        Column("Told", column("_alarm"), words=verdicts.ALARM),
    ]


def _alarms(rows: str) -> str:
    return published("jiezhu_style_drift_alarm", 'track=~"$track", release=~"$release"', f"{rows}, feature")


def _style(board: Board) -> None:
    board.row(30, "Has the style moved?")
    rows = "against, track, release"
    samples = "jiezhu_style_drift_sample_size"
    board.add(
        31,
        grid(
            "Verdict, and what it stands on",
            "Against stable: production over the same hours. Against baseline: the release that was pinned. Against past: its own "
            "week before. Below the smallest sample there is no verdict: not enough yet.",
            ("against", "track", "release"),
            [
                Column(
                    "Verdict", verdicts.of_style('track=~"$track", release=~"$release"'), words=verdicts.STYLE
                ),
                *(
                    Column(
                        title,
                        published(samples, f'group="{group}", track=~"$track", release=~"$release"', rows),
                    )
                    for title, group in (("Replies (n)", "current"), ("Reference (n)", "reference"))
                ),
                Column(
                    "Features told",
                    f"sum by ({rows}) ({_alarms(rows)})",
                ),
            ],
            height=6,
        ),
    )
    board.add(
        32,
        grid(
            "Features against production",
            "Effect: by how many standard deviations the mean of a feature differs from production's, with its 95 % interval; "
            "above 0 there is more of it. embedding and templates compare replies as a whole and their phrases' shares.",
            ("release", "feature"),
            _features(_AGAINST_STABLE, "release, feature"),
            width=12,
            height=16,
        ),
    )
    board.add(
        33,
        lines(
            "Drift by feature, against production",
            "Effect over time. A feature that moves away from 0 and stays there is a change of the assistant.",
            [
                (
                    published("jiezhu_style_drift", _AGAINST_STABLE, "release, feature"),
                    "{{release}} {{feature}}",
                )
            ],
            bottom=None,
            height=16,
            limits=Limits(bad=0.8, watch=0.2),
        ),
    )
    board.add(
        34,
        lines(
            "Replies that the comparison stands on",
            "How many replies there are of the release that is tried, and of production over the same hours.",
            [
                (
                    published(samples, _AGAINST_STABLE, "release, group"),
                    "{{release}} {{group}}",
                )
            ],
            width=24,
        ),
    )
    board.add(
        35,
        grid(
            "Features against the baseline and the past",
            "As above, against the pinned baseline and against the release's own earlier week; production's releases, too.",
            ("against", "track", "release", "feature"),
            _features('against=~"baseline|past", track=~"$track", release=~"$release"', f"{rows}, feature"),
            height=10,
        ),
    )


def _marks(board: Board) -> None:
    board.row(40, "Marks and speed side by side")
    rows = "scale, dimension"

    def column(end: str, where: str, pick: str) -> str:
        return f"{pick} by ({rows}) (jiezhu_score_mean{end}{{{where}}})"

    board.add(
        41,
        grid(
            "Mean marks side by side",
            f"{_WINDOW}Of several releases the lowest mean and the smallest n. Scale A: 0 to 4; scale B: 1 to 5.",
            ("scale", "dimension"),
            [
                column_
                for name, where in (("Tried", _SIDE), ("Production", _STABLE))
                for column_ in (
                    Column(name, column("", where, "min"), decimals=2),
                    Column(f"{name}, low", column("_low", where, "min"), decimals=2),
                    Column(f"{name}, high", column("_high", where, "min"), decimals=2),
                    Column(f"{name}, n", column("_sample_size", where, "min")),
                )
            ],
            width=16,
        ),
    )
    board.add(
        42,
        lines(
            "Time to reply side by side",
            f"{_WINDOW}From the user's turn to the reply: 95 of 100 within.",
            [
                (
                    published(
                        "jiezhu_reply_latency_quantile_seconds",
                        f'quantile="0.95", {where}',
                        "track, release",
                    ),
                    "{{track}} {{release}}",
                )
                for where in (_TRIED, 'track="production"')
            ],
            unit="s",
            width=8,
            limits=Limits(bad=60, watch=15),
        ),
    )


def _fresh(board: Board) -> None:
    board.row(50, "How to read this, and how fresh it is")
    board.add(
        51,
        figure(
            "Published",
            "How long ago the elected worker published these figures. It does so every minute.",
            "min(jiezhu_published_age_seconds)",
            unit="s",
            limits=Limits(bad=300, watch=120),
            height=8,
        ),
    )
    board.add(
        52,
        figure(
            "Hours they cover",
            "The window that every rate above is counted over, up to when it was published.",
            "max(jiezhu_rate_window_seconds)",
            unit="s",
            height=8,
        ),
    )
    board.add(
        53,
        note(
            "How to read it",
            "What the verdicts mean, and what they do not.",
            _HELP.strip(),
            width=16,
            height=8,
        ),
    )
