"""The dashboard of delivery: whether pages get out, to whom, how fast, and who is still being rung for."""

from __future__ import annotations

from typing import Any

from board import Board
from panels import Limits, figure, lines
from queries import MISSES, NOBODY, STEP, count, outcomes, part_of, quantile
from tables import Column, grid

_PAGES = 'jiezhu_pages_total{pager!="none"}'
_CHOSEN = 'jiezhu_pages_total{pager=~"$pager"}'
_ACCEPTED = 'jiezhu_pages_total{pager!="none", state="accepted"}'
_NO_PAGER = (
    '(pager_state:jiezhu_pages:new5m{state="retrying"} > 0) unless on (pager) '
    '(pager_state:jiezhu_pages:new5m{state="accepted"} > 0)'
)
_STEPS = 'jiezhu_incident_transitions_total{reason!="none"}'


def build() -> Any:
    board = Board(
        "delivery",
        "delivery",
        "From the decision to the pager's answer: requests, the outbox, times, pagers, groups in a storm, deadlines and escalation. "
        "A pager knows no release: track, release and language choose in the panel of misses alone.",
        start="now-6h",
        refresh="10s",
    )
    board.choice("pager", "Pager", "label_values(jiezhu_pages_total, pager)")
    _unheard(board)
    _pagers(board)
    _storms(board)
    _people(board)
    _promises(board)
    return board.build()


def _unheard(board: Board) -> None:
    board.row(10, "Is anybody unheard?")
    board.add(
        11,
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
        12,
        figure(
            "Pagers that take nothing",
            "Pagers that were asked in the last five minutes and accepted nothing. With the last one gone nobody is rung.",
            f"count({_NO_PAGER}) or {NOBODY}",
            limits=Limits(bad=1),
        ),
    )
    board.add(
        13,
        figure(
            "Half of the pages within",
            "From the decision to page until a pager has it, over the last hour. Promise: half within 0.5 s.",
            "max(job:jiezhu_detect_to_page_seconds:p50_increase1h)",
            unit="s",
            limits=Limits(bad=2, watch=0.5),
        ),
    )
    board.add(
        14,
        figure(
            "99 of 100 pages within",
            "From the decision to page until a pager has it, over the last hour. Promise: 99 of 100 within 2 s.",
            "max(job:jiezhu_detect_to_page_seconds:p99_increase1h)",
            unit="s",
            limits=Limits(bad=10, watch=2),
        ),
    )
    board.add(
        15,
        figure(
            "Accepted by pagers",
            "Pages, tickets and updates that a pager said it has, over the range shown.",
            count(_ACCEPTED, window="$__range"),
        ),
    )
    board.add(
        16,
        figure(
            "Gaps in the records",
            "Records of incidents that an auditor missed or that did not fit together, over the range shown.",
            count("jiezhu_record_gaps_total", window="$__range"),
            limits=Limits(bad=1),
        ),
        incidents=True,
    )
    board.add(
        17,
        lines(
            "Oldest notification by worker",
            "Age of the oldest notification that nobody has accepted. Above 30 s JiezhuPageNotGettingOut pages.",
            [("jiezhu_outbox_oldest_seconds", "{{instance}}")],
            unit="s",
            limits=Limits(bad=30, watch=5),
        ),
        incidents=True,
    )
    board.add(
        18,
        lines(
            "Time from decision to page",
            "From the decision to page until the pager said that it has it, over the last hour. Promise: half within "
            "0.5 s, 99 of 100 within 2 s.",
            [
                ("job:jiezhu_detect_to_page_seconds:p50_increase1h", "half within"),
                ("job:jiezhu_detect_to_page_seconds:p99_increase1h", "99 of 100 within"),
            ],
            unit="s",
            limits=Limits(bad=2, watch=0.5),
        ),
    )


def _pagers(board: Board) -> None:
    board.row(20, "What do pagers say?")
    board.add(
        21,
        lines(
            "Requests to pagers",
            "What pagers said, in each step. accepted: the pager has it. retrying: it has not said so, and the "
            "request is sent again under the same key.",
            [(count(_PAGES, "pager, state"), "{{pager}} {{state}}")],
            stacked=True,
            bars=True,
        ),
    )
    board.add(
        22,
        lines(
            "Accepted and retried, last minute",
            "As JiezhuPagerUnreachable counts them: a pager with requests retried and none accepted takes nothing.",
            [
                (
                    f'pager_state:jiezhu_pages:new1m{{state="{state}", pager=~"$pager"}}',
                    "{{pager}} {{state}}",
                )
                for state in ("accepted", "retrying")
            ],
        ),
    )
    board.add(
        23,
        grid(
            "Answers by reason",
            "Requests over the range shown, by pager, what became of them, and why. pending with pager none: the outbox itself "
            "could not be read or written.",
            ("pager", "state", "reason"),
            [Column("Requests", f"{count(_CHOSEN, 'pager, state, reason', '$__range')} > 0")],
        ),
    )


def _storms(board: Board) -> None:
    board.row(30, "Is there a storm, and what does it carry?")
    due = "jiezhu_page_admissions_total"
    board.add(
        31,
        lines(
            "Requests that came due",
            "In each step. single: it left by itself; carried: a grouped page tells of it; held: another about the same "
            "incident is on its way; paced: an update that waits, as the channel has had enough for now.",
            [(count(due, "reason"), "{{reason}}")],
            stacked=True,
            bars=True,
        ),
    )
    board.add(
        32,
        lines(
            "Share told by groups, last hour",
            "How much of what came due is told of by grouped pages. Above a half a release is letting many down at once: "
            "acknowledge the group, share out its list, roll the release back.",
            [(part_of(f'{due}{{reason="carried"}}', due), "carried by groups")],
            unit="percentunit",
            top=1,
            limits=Limits(bad=0.5, watch=0.1),
        ),
        incidents=True,
    )


def _people(board: Board) -> None:
    board.row(40, "Who is still being rung for?")
    board.add(
        41,
        lines(
            "Incidents by state entered",
            "Incidents entering a state, in each step. paging without acknowledged: nobody has answered yet.",
            [(count("jiezhu_incident_transitions_total", "state"), "{{state}}")],
            stacked=True,
            bars=True,
        ),
        incidents=True,
    )
    board.add(
        42,
        lines(
            "Why incidents moved",
            "The named reason of each step, in each step of time: a deadline that passed, an escalation, somebody's answer.",
            [(count(_STEPS, "reason"), "{{reason}}")],
            stacked=True,
            bars=True,
        ),
    )
    board.add(
        43,
        lines(
            "How late deadlines are decided",
            "Deadlines (no reply in time, nobody acknowledged): half and 99 of 100 were decided at most this late.",
            [
                (quantile(0.5, "jiezhu_deadline_delay_seconds"), "half within"),
                (quantile(0.99, "jiezhu_deadline_delay_seconds"), "99 of 100 within"),
            ],
            unit="s",
            limits=Limits(bad=5, watch=1),
        ),
    )
    board.add(
        44,
        lines(
            "Misses that pages are about",
            "Live crisis turns let down, in each step, by track and release: what the pages above tell of.",
            [(count(outcomes(MISSES), "track, release", STEP), "{{track}} {{release}}")],
            stacked=True,
            bars=True,
        ),
        incidents=True,
    )
    board.add(
        45,
        lines(
            "Gaps in the records by kind",
            "Records of incidents that an auditor missed or that did not fit together, in each step, by kind. Any is "
            "somebody's hand in the database, or a fault.",
            [(count("jiezhu_record_gaps_total", "gap"), "{{gap}}")],
            bars=True,
            limits=Limits(bad=1),
            width=24,
        ),
        incidents=True,
    )


def _promises(board: Board) -> None:
    """Shares that were late, over the windows of the alerts that watch a month's budget."""
    board.row(50, "Do the promises hold?")
    for number, title, what, histogram, budget in (
        (
            51,
            "Turns judged late",
            "Turns judged more than 10 s after they were said",
            "jiezhu_event_age_seconds",
            0.01,
        ),
        (
            52,
            "Pages late",
            "Pages accepted more than 10 s after the decision",
            "jiezhu_detect_to_page_seconds",
            0.001,
        ),
        (
            53,
            "Canaries late",
            "Made-up crises that took more than 10 s to their pager",
            "jiezhu_canary_seconds",
            0.01,
        ),
    ):
        board.add(
            number,
            lines(
                title,
                f"{what}, of all in the hour, the six hours and the three days before. {budget:.1%} is what is promised: orange "
                "beyond it, red where a month's allowance would be gone in two days.",
                [(_late(histogram, window), name) for window, name in _WINDOWS],
                unit="percentunit",
                limits=Limits(bad=14.4 * budget, watch=budget),
                width=8,
            ),
        )


_WINDOWS = (("1h", "hour"), ("6h", "six hours"), ("3d", "three days"))


def _late(histogram: str, window: str) -> str:
    in_time = f'sum(increase({histogram}_bucket{{le=~"10|10\\\\.0"}}[{window}]))'
    return f"1 - {in_time} / (sum(increase({histogram}_count[{window}])) > 0)"
