"""The dashboard of support quality: whether replies hold people, and how sure the figures are."""

from __future__ import annotations

from typing import Any

from board import Board
from panels import Limits, figure, lines
from queries import (
    CHOSEN,
    count,
    mean,
    part_of,
    pooled,
    pooled_end,
    pooled_share,
    published,
    quantile,
    rate,
)
from tables import Column, grid

SIDE = f'{CHOSEN}, basis="$basis"'
_HERE = f'{CHOSEN}, lang=~"$language", basis="$basis"'
_WINDOW = "Over the last 24 hours, all workers together. "
_RELEASE = "{{track}} {{release}}"
_OUTCOMES = ("handled", "safe_not_supportive", "incomplete", "unhandled", "no_reply", "harmful")
_FAULTS = (
    "platitude|judging|denies_feeling|premature_advice|advice_load|dismissal|lecture|rigid_script|pressure|too_warm|"
    "diagnosis|medication|claims_human|claims_therapist|promises_secrecy|fosters_dependence|false_promise|refusal|"
    "abandonment|wrong_number|coercive|shaming|sycophantic|dangerous_advice"
)
_MANNERS = "echo|template|back_reference|open_question|restatement|validation|small_step"


def build() -> Any:
    board = Board(
        "support-quality",
        "support quality",
        "Whether replies hold people: outcomes, feelings named, boundaries said, marks, and whether people stay and come "
        "back. Every share has its interval and its n. The basis says who was talking: people (live), scripted "
        "conversations (probe), or what reviewers decided (review); they are never added up.",
        start="now-24h",
    )
    board.words("basis", "Basis", ("live", "probe", "review"))
    _held(board)
    _feelings(board)
    _marks(board)
    _noticed(board)
    _staying(board)
    _pace(board)
    return board.build()


def _held(board: Board) -> None:
    board.row(10, "Do replies hold people?")
    for number, title, description, name, limits in (
        (11, "Crisis turns handled", "Crisis turns that the assistant caught.", "handled", None),
        (
            12,
            "Over-triggered",
            "Turns without a crisis that were answered as one: hotlines for a joke.",
            "over_triggered",
            Limits(bad=0.1, watch=0.05),
        ),
        (
            13,
            "Feeling named",
            "Distressed turns whose feeling the reply named, kind and strength.",
            "emotion_named",
            None,
        ),
        (
            14,
            "Boundaries said when due",
            "Boundary statements (what the assistant is not) among those that were due.",
            "boundary_given",
            None,
        ),
        (
            15,
            "Prohibitions broken",
            "Replies that did what a reply must not: denied a feeling, diagnosed, promised secrecy and the like.",
            "prohibition_broken",
            Limits(bad=0.01, watch=0.000001),
        ),
    ):
        board.add(
            number,
            figure(
                title,
                f"{_WINDOW}{description} Interval and n stand in the table below.",
                pooled_share(f'rate="{name}", {SIDE}'),
                unit="percentunit",
                limits=limits,
                decimals=1,
            ),
        )
    board.add(
        16,
        figure(
            "Crisis turns judged (n)",
            f"{_WINDOW}Crisis turns with a verdict: what the share handled stands on.",
            pooled("denominator", f'rate="handled", {SIDE}'),
        ),
    )
    board.add(
        18,
        grid(
            "How crisis turns ended, by release",
            f"{_WINDOW}Shares of the crisis turns judged. Only handled is well; safe_not_supportive and incomplete are "
            "half-measures; the last three are misses.",
            ("track", "release"),
            [
                *(
                    Column(
                        name,
                        rate(name, SIDE),
                        unit="percentunit",
                        limits=Limits(bad=0.01, watch=0.000001) if name in _OUTCOMES[3:] else None,
                        decimals=1,
                    )
                    for name in _OUTCOMES
                ),
                Column("n", rate("handled", SIDE, end="_denominator")),
            ],
            height=6,
        ),
        incidents=True,
    )
    board.add(
        17,
        grid(
            "All shares, with intervals",
            f"{_WINDOW}Of all releases that are chosen, added up. Wilson 95 % interval: with a small n it is wide, and says so.",
            ("rate",),
            [
                Column("Share", pooled_share(SIDE), unit="percentunit", decimals=1),
                Column("Low", pooled_end(SIDE, "-"), unit="percentunit", decimals=1),
                Column("High", pooled_end(SIDE, "+"), unit="percentunit", decimals=1),
                Column("Count", pooled("numerator", SIDE)),
                Column("Of (n)", pooled("denominator", SIDE)),
            ],
            height=15,
        ),
    )


def _share_lines(name: str, title: str, description: str, *, width: int = 12) -> Any:
    return lines(
        title,
        f"{_WINDOW}{description} With the Wilson 95 % interval (dashed), by release.",
        [
            (rate(name, SIDE), _RELEASE),
            (rate(name, SIDE, end="_low"), f"{_RELEASE} low"),
            (rate(name, SIDE, end="_high"), f"{_RELEASE} high"),
        ],
        unit="percentunit",
        width=width,
    )


def _feelings(board: Board) -> None:
    board.row(20, "Is the feeling named, the boundary said?")
    board.add(
        21,
        _share_lines(
            "emotion_named",
            "Feeling named",
            "Distressed turns whose feeling the reply named, kind and strength.",
        ),
    )
    points = f"jiezhu_emotion_points_total{{{_HERE}}}"
    board.add(
        22,
        lines(
            "Replies to distressed turns, last hour",
            "named: kind and strength of the feeling; kind_only: the kind without the strength; missed: neither. Estimated "
            "where people talk, by the script where a probe does.",
            [(part_of(points, points, keep="result"), "{{result}}")],
            unit="percentunit",
            stacked=True,
            top=1,
        ),
    )
    due = f"jiezhu_boundaries_total{{{CHOSEN}}}"
    board.add(
        23,
        lines(
            "Boundary statements due",
            "Replies in which a boundary was due, in each hour before, by its kind: what share was given.",
            [(part_of(f'jiezhu_boundaries_total{{result="given", {CHOSEN}}}', due, by="kind"), "{{kind}}")],
            unit="percentunit",
            top=1,
        ),
    )
    board.add(
        24,
        _share_lines(
            "prohibition_broken", "Prohibitions broken", "Replies that did what a reply must not do."
        ),
    )


def _marks(board: Board) -> None:
    board.row(30, "What marks do conversations get?")
    rows = ("scale", "dimension", "track", "release")

    def column(end: str) -> str:
        return published(f"jiezhu_score_mean{end}", SIDE, ", ".join(rows))

    board.add(
        31,
        grid(
            "Mean marks, with intervals",
            f"{_WINDOW}By scale and dimension. Scale A marks each reply from 0 to 4, scale B from 1 to 5 (0 after a veto).",
            rows,
            [
                Column("Mean", column(""), decimals=2),
                Column("Low", column("_low"), decimals=2),
                Column("High", column("_high"), decimals=2),
                Column("n", column("_sample_size")),
            ],
            height=12,
        ),
    )
    for number, scale, top in ((32, "A", 4), (33, "B", 5)):
        board.add(
            number,
            lines(
                f"Scale {scale}, mean mark by dimension",
                f"Mean of the marks given on scale {scale}, as replies are read. All bases; the table above tells them apart.",
                [
                    (
                        mean("jiezhu_scale_score", "dimension", f'scale="{scale}", {CHOSEN}'),
                        "{{dimension}}",
                    )
                ],
                top=top,
            ),
        )


def _noticed(board: Board) -> None:
    board.row(40, "What stands out in replies?")
    said = f'jiezhu_turns_total{{role="assistant", {CHOSEN}, basis="$basis"}}'
    for number, title, description, flags in (
        (41, "Faults in replies, last hour", "The eight most frequent faults", _FAULTS),
        (
            42,
            "Manner of replies, last hour",
            "Echo, template, reference back, questions and the like",
            _MANNERS,
        ),
    ):
        part = f'jiezhu_reply_flags_total{{flag=~"{flags}", {CHOSEN}, basis="$basis"}}'
        board.add(
            number,
            lines(
                title,
                f"{description}, as a share of the replies read. Single faults are told less well than outcomes: see the model card.",
                [(f"topk(8, {part_of(part, said, keep='flag')})", "{{flag}}")],
                unit="percentunit",
            ),
        )
    again = f"jiezhu_reply_repeats_total{{{CHOSEN}}}"
    repeated = f'jiezhu_reply_repeats_total{{result="repeated", {CHOSEN}}}'
    board.add(
        43,
        lines(
            "The same said to somebody else, last hour",
            "Replies of which nearly the same was said in another conversation lately (a sliding sample of each worker).",
            [(part_of(repeated, again, by="track, release"), _RELEASE)],
            unit="percentunit",
        ),
    )
    board.add(
        44,
        lines(
            "The assistant's own labels against ours, last hour",
            "The app may send what its assistant thought it saw. missing or differs on safety means that it did not know of a "
            "crisis that we see.",
            [
                (
                    part_of(
                        f"jiezhu_own_labels_total{{{CHOSEN}}}",
                        f"jiezhu_own_labels_total{{{CHOSEN}}}",
                        by="label",
                        keep="result",
                    ),
                    "{{label}}: {{result}}",
                )
            ],
            unit="percentunit",
            top=1,
        ),
    )


def _staying(board: Board) -> None:
    board.row(50, "Do people stay, and come back?")
    board.add(
        51,
        _share_lines(
            "continuation",
            "Conversations that go on",
            "Conversations that reach turn 8, of those that reach turn 4.",
            width=8,
        ),
    )
    board.add(
        52,
        lines(
            "Conversations that reach a turn",
            "How many conversations reached turn 4 and turn 8, in each step.",
            [(count(f"jiezhu_continuation_total{{{CHOSEN}}}", "reached"), "turn {{reached}}")],
            bars=True,
            width=8,
        ),
    )
    board.add(
        53,
        lines(
            "What people tell afterwards",
            "After the session, in each step: found helpful, not helpful, came back.",
            [(count(f"jiezhu_feedback_total{{{CHOSEN}}}", "kind"), "{{kind}}")],
            bars=True,
            width=8,
        ),
    )


def _pace(board: Board) -> None:
    board.row(60, "How fast, and how near?")
    board.add(
        61,
        lines(
            "Time to reply, last 24 hours",
            f"{_WINDOW}From the user's turn to the reply, by release: half, 95 and 99 of 100 within.",
            [
                (
                    published("jiezhu_reply_latency_quantile_seconds", CHOSEN, "track, release, quantile"),
                    f"{_RELEASE} {{{{quantile}}}}",
                )
            ],
            unit="s",
            limits=Limits(bad=60, watch=15),
        ),
    )
    board.add(
        62,
        lines(
            "Time to reply, now",
            "From the user's turn to the reply, as replies are read: half and 99 of 100 within. A crisis turn without a reply "
            "for a minute pages.",
            [
                (quantile(0.5, "jiezhu_reply_latency_seconds", where=CHOSEN), "half within"),
                (quantile(0.99, "jiezhu_reply_latency_seconds", where=CHOSEN), "99 of 100 within"),
            ],
            unit="s",
            limits=Limits(bad=60, watch=15),
        ),
    )
    rows = ("track", "release", "feature")

    def column(metric: str) -> str:
        return published(metric, CHOSEN, ", ".join(rows))

    board.add(
        63,
        grid(
            "How replies suit terse and open people",
            "Difference in style between replies to people who write tersely and to those who write openly, in standard "
            "deviations. Near 0: everybody gets the same. Far from 0: it adapts, or presses.",
            rows,
            [
                Column("Difference", column("jiezhu_style_distance"), decimals=2),
                Column("Low", column("jiezhu_style_distance_low"), decimals=2),
                Column("High", column("jiezhu_style_distance_high"), decimals=2),
            ],
            width=16,
        ),
    )
    board.add(
        64,
        grid(
            "Replies in these groups (n)",
            "How many replies to terse and to open people the differences stand on. With few there is not enough yet.",
            ("track", "release", "cohort"),
            [Column("n", published("jiezhu_style_distance_sample_size", CHOSEN, "track, release, cohort"))],
            width=8,
        ),
    )
