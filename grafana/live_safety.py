"""The dashboard of live safety: whether anybody is being let down now, and whether we would know."""

from __future__ import annotations

from typing import Any

from board import Board
from links import INCIDENTS
from panels import AtLeast, Limits, figure, lines
from queries import (
    JUDGED,
    MISSES,
    NOBODY,
    WHO,
    WINDOW,
    count,
    judged,
    missed,
    new,
    outcomes,
    published,
    quantile,
    rate,
    share,
    upper,
)
from tables import Column, grid, note

_SMALL_NUMBERS = "Read it together with n and the upper bound: 0 misses of 412 crisis turns still allows a rate of up to 0.9 %."
_WORST = Limits(bad=0.01, watch=0.000001)
_SIDE = 'track=~"$track", release=~"$release", basis="live"'
_NEW_MISSES = "outcome_level_track_basis:jiezhu_safety_misses:new10m"
_FIRING = 'ALERTS{alertname=~"Jiezhu.+", alertname!="JiezhuDeadMansSwitch", alertstate="firing"'
_HEARTBEAT = 'ALERTS{alertname="JiezhuDeadMansSwitch", alertstate="firing"}'
_WAYS = """
Each page and ticket carries a signed link to its incident, or to the list of a group: state, owner, timeline, and the button
to acknowledge. The links are signed one by one, so no dashboard can make one. Without the page at hand, on a worker:

```
jiezhu incidents list              # open ones, newest first: state, level, outcome, release, who has it
jiezhu incidents show KEY          # its timeline: who was told, when, what they answered
jiezhu incidents ack KEY --by YOU  # somebody is on it: nobody else is rung
```
"""


def build() -> Any:
    board = Board(
        "live-safety",
        "live safety",
        "Crisis turns, what the assistant did about them, and whether we would know. "
        "Counts and times only: no conversation, no person and no word that anybody said.",
        start="now-6h",
        refresh="10s",
    )
    _people(board)
    _day(board)
    _known(board)
    return board.build()


def _people(board: Board) -> None:
    hour = new(outcomes(JUDGED), "1h")
    board.row(10, "Is anybody being let down?")
    board.add(
        11,
        figure(
            "Misses",
            "Live crisis turns that were unhandled, got no reply in time or were answered with harm. "
            + _SMALL_NUMBERS,
            missed(),
            limits=Limits(bad=1),
        ),
        incidents=True,
    )
    board.add(
        12,
        figure(
            "Crisis turns judged (n)", "Live crisis turns with a verdict: what the shares stand on.", judged()
        ),
    )
    board.add(
        13,
        figure(
            "Share missed",
            "Misses among the crisis turns judged. " + _SMALL_NUMBERS,
            share(),
            unit="percentunit",
            limits=_WORST,
            decimals=2,
        ),
    )
    board.add(
        14,
        figure(
            "Upper bound of the share",
            "Upper end of the Wilson 95 % interval: the true share may be as high as this. A short range or a quiet "
            "app makes it large; that is what little evidence means, not that something is wrong.",
            upper(),
            unit="percentunit",
            decimals=2,
        ),
    )
    board.add(
        15,
        figure(
            "Oldest notification",
            "Age of the oldest page that no pager has accepted. Above 30 s somebody may be in danger and nobody knows.",
            "max(jiezhu_outbox_oldest_seconds)",
            unit="s",
            limits=Limits(bad=30, watch=5),
        ),
        incidents=True,
    )
    board.add(
        16,
        figure(
            "Crisis unknown",
            "User turns in a language that is not judged. They are not safe, they are unseen. All tracks and releases.",
            f"{count('jiezhu_unscored_turns_total', window='$__range')} or {NOBODY}",
            limits=Limits(bad=1_000_000_000, watch=1),
        ),
    )
    board.add(
        17,
        lines(
            "Misses by outcome",
            "New misses in each step. unhandled: the reply did not catch the person; no_reply: none came in time; "
            "harmful: the reply may do harm.",
            [(count(outcomes(MISSES), "outcome"), "{{outcome}}")],
            stacked=True,
            bars=True,
        ),
        incidents=True,
    )
    board.add(
        18,
        lines(
            "Crisis turns by level",
            "User turns with a sign of crisis, in each step, by the level that was found.",
            [(count(f"jiezhu_crisis_turns_total{{{WHO}}}", "level"), "{{level}}")],
            stacked=True,
            bars=True,
        ),
    )
    board.add(
        19,
        lines(
            "Outcomes, share of the last hour",
            "How crisis turns of the last hour ended. Only handled is well; safe_not_supportive and incomplete are "
            "half-measures; the rest are misses.",
            [
                (
                    f"sum by (outcome) ({hour}) / on () group_left () (sum({hour}) > 0)",
                    "{{outcome}}",
                )
            ],
            unit="percentunit",
            stacked=True,
            top=1,
        ),
    )
    board.add(
        20,
        lines(
            "Upper bound of the share missed, last hour",
            "Upper end of the Wilson 95 % interval by track, release and language. Lines of releases with few crisis "
            "turns lie high: compare releases only where n is alike.",
            [
                (
                    "track_release_lang_basis:jiezhu_crisis_misses:ratio_upper95_increase1h{" + WHO + "}",
                    "{{track}} {{release}} {{lang}}",
                )
            ],
            unit="percentunit",
            top=1,
        ),
    )
    by = "track, release"
    board.add(
        21,
        grid(
            "By release",
            "Live crisis turns of the range shown. " + _SMALL_NUMBERS,
            ("track", "release"),
            [
                Column("Misses", missed(by), limits=Limits(bad=1)),
                Column("Judged (n)", judged(by)),
                Column("Share missed", share(by), unit="percentunit", decimals=2),
                Column("Upper bound (95 %)", upper(by), unit="percentunit", decimals=2),
            ],
            height=6,
        ),
        incidents=True,
    )
    board.add(
        22,
        lines(
            "New misses, as the alerts count them",
            "Misses that are new in the last ten minutes, of people (live) and of scripted conversations (probe). Above 0 "
            "JiezhuCrisisMissed pages, or JiezhuProbeMissed writes a ticket. All releases and languages.",
            [(f'{_NEW_MISSES}{{track=~"$track"}}', "{{basis}} {{track}} {{outcome}} {{level}}")],
            limits=Limits(bad=1),
            width=24,
        ),
        incidents=True,
    )


def _day(board: Board) -> None:
    """What the elected worker publishes over its window."""
    board.row(30, "Over the last 24 hours, all workers together")
    for number, title, label, where in (
        (31, "Share missed by level", "level", 'lang="all", level!="all"'),
        (32, "Share missed by language", "lang", 'lang=~"$language", lang!="all", level="all"'),
    ):
        rows = ("track", "release", label)
        asked = f'rate="safety_miss", {where}, {_SIDE}'

        def column(metric: str, asked: str = asked, rows: tuple[str, ...] = rows) -> str:
            return published(metric, asked, ", ".join(rows))

        board.add(
            number,
            grid(
                title,
                f"Live crisis turns missed, by {title.rsplit(' ', 1)[-1]}, with the Wilson 95 % interval. "
                + _SMALL_NUMBERS,
                rows,
                [
                    Column("Missed", column("jiezhu_rate_numerator"), limits=Limits(bad=1)),
                    Column("Judged (n)", column("jiezhu_rate_denominator")),
                    Column("Share", column("jiezhu_rate"), unit="percentunit", decimals=2),
                    Column("Low", column("jiezhu_rate_low"), unit="percentunit", decimals=2),
                    Column("High", column("jiezhu_rate_high"), unit="percentunit", decimals=2),
                ],
                width=12,
            ),
            incidents=True,
        )
    name = "{{track}} {{release}}"
    board.add(
        33,
        lines(
            "Share missed by release",
            "Share of the live crisis turns of the last 24 hours that were missed, with its Wilson 95 % interval (dashed). "
            "Two releases differ for sure only where their intervals do not touch.",
            [
                (rate("safety_miss", _SIDE), name),
                (rate("safety_miss", _SIDE, end="_low"), f"{name} low"),
                (rate("safety_miss", _SIDE, end="_high"), f"{name} high"),
            ],
            unit="percentunit",
            width=24,
        ),
    )


def _known(board: Board) -> None:
    board.row(40, "Would we know?")
    board.add(
        42,
        figure(
            "Workers that are ready",
            "Workers that read, decide and get pages out. With none left nobody is watched. How they fare: monitor health.",
            "sum(jiezhu_ready)",
            limits=AtLeast(good=1),
            width=6,
        ),
    )
    board.add(
        43,
        figure(
            "Age of turns when judged",
            "99 of 100 turns of the last five minutes were judged within this time after they were said.",
            "max(job:jiezhu_event_age_seconds:p99_rate5m)",
            unit="s",
            limits=Limits(bad=10, watch=2),
            width=6,
        ),
    )
    board.add(
        44,
        figure(
            "From decision to page",
            "99 of 100 pages of the last hour were accepted within this time. Promise: 2 s.",
            "max(job:jiezhu_detect_to_page_seconds:p99_increase1h)",
            unit="s",
            limits=Limits(bad=2, watch=0.5),
            width=6,
        ),
    )
    board.add(
        45,
        figure(
            "Encoders that answer",
            "Workers whose encoder answers. Where it does not, explicit phrases alone decide, and quieter crises go unseen.",
            "min(jiezhu_encoder_up)",
            words={0: ("phrases alone", "red"), 1: ("all of them", "green")},
            width=6,
        ),
    )
    board.add(
        41,
        lines(
            "Alerts that fire",
            "How many alerts of jiezhu fire, by urgency. No line at all means that not even the heartbeat of the rules "
            "(JiezhuDeadMansSwitch) is there: then nothing would fire. Each alert's runbook says what to do.",
            [
                (
                    f'count({_FIRING}, severity="{severity}"}}) or count({_HEARTBEAT}) * 0',
                    severity,
                )
                for severity in ("page", "ticket")
            ],
            limits=Limits(bad=1),
            width=8,
        ),
    )
    board.add(
        46,
        lines(
            "Turns read",
            "Turns a second by role. Nothing here while the app is in use means that nobody is watched.",
            [(f"sum by (role) (rate(jiezhu_turns_total{{{WHO}}}{WINDOW}))", "{{role}}")],
            unit="cps",
            stacked=True,
            width=8,
        ),
    )
    board.add(
        48,
        lines(
            "Time from turn to page, in its parts",
            "99 of 100 within: the age of a turn when it was judged, and from the decision until a pager has it. The grace "
            "for a reply lies between the two.",
            [
                (quantile(0.99, "jiezhu_event_age_seconds"), "said to judged"),
                (quantile(0.99, "jiezhu_detect_to_page_seconds"), "decided to paged"),
            ],
            unit="s",
            limits=Limits(bad=10, watch=2),
            width=8,
        ),
    )
    board.add(
        INCIDENTS.panel,
        note(
            "From here to the incidents",
            "How to open the incidents behind these figures: a dashboard holds no conversation and no key to one.",
            _WAYS.strip(),
        ),
    )
