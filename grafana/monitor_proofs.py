"""The monitor's own test of its whole way, its figures of releases, and what its processes take: rows of a dashboard."""

from __future__ import annotations

from board import Board
from panels import Limits, figure, lines
from queries import NOBODY, WINDOW, count, quantile
from tables import Column, grid

_LOST_CANARIES = 'jiezhu_canaries_total{result!~"sent|accepted"}'
_HEARD = 'jiezhu_canary_heartbeats_total{result="heard"}'
_UNHEARD = 'jiezhu_canary_heartbeats_total{result="not_heard"}'
_HERE = 'instance=~"$worker"'


def canary_rows(board: Board) -> None:
    board.row(50, "Does the made-up crisis (canary) arrive?")
    board.add(
        51,
        lines(
            "Way of the canary",
            "From a made-up crisis being due in the topic until its test page was accepted: half and 99 of 100 within. "
            "Only where the canary is switched on.",
            [
                (quantile(0.5, "jiezhu_canary_seconds"), "half within"),
                (quantile(0.99, "jiezhu_canary_seconds"), "99 of 100 within"),
            ],
            unit="s",
            limits=Limits(bad=30, watch=10),
            width=8,
        ),
    )
    board.add(
        52,
        lines(
            "Canary overdue",
            "Since when the next canary of a partition should have arrived, by the best of the workers' answers; below 0 while "
            "it has time. Above 0 JiezhuCanaryMissing pages: people there may not be watched.",
            [
                (
                    "min by (partition) (jiezhu_canary_overdue_seconds)",
                    "partition {{partition}}",
                )
            ],
            unit="s",
            bottom=None,
            limits=Limits(bad=0.001),
            width=8,
        ),
        incidents=True,
    )
    board.add(
        53,
        lines(
            "Since a canary last arrived",
            "How long ago the last canary of a partition was accepted. It grows to the number of partitions times the interval.",
            [
                (
                    "min by (partition) (jiezhu_canary_last_success_age_seconds)",
                    "partition {{partition}}",
                )
            ],
            unit="s",
            width=8,
        ),
    )
    board.add(
        54,
        lines(
            "Canaries by result",
            "In each step. not_sent: the broker is away or refuses; tried_again and given_up: the canary's own pager refuses; "
            "sent without accepted: something between Kafka and the pager is broken.",
            [(count("jiezhu_canaries_total", "result"), "{{result}}")],
            bars=True,
        ),
    )
    board.add(
        55,
        lines(
            "Canaries lost, and heartbeats to the service outside",
            "In each step: canaries that did not get through at once, and heartbeats that the service outside heard or not. "
            "Unheard for its grace, that service rings somebody.",
            [
                (f"{count(_LOST_CANARIES)} or {NOBODY}", "canaries not through"),
                (
                    f"{count(_HEARD)} or {NOBODY}",
                    "heartbeats heard",
                ),
                (
                    f"{count(_UNHEARD)} or {NOBODY}",
                    "heartbeats not heard",
                ),
            ],
            bars=True,
        ),
    )


def figure_rows(board: Board) -> None:
    board.row(60, "Are the figures of releases fresh?")
    board.add(
        61,
        figure(
            "Workers that publish",
            "One elected worker publishes the figures of all. None for minutes: JiezhuPublisherMissing writes a ticket; two: JiezhuPublisherDoubled.",
            "sum(jiezhu_publisher)",
            words={0: ("nobody", "red"), 1: ("one", "green"), 2: ("two", "orange")},
            height=8,
        ),
    )
    board.add(
        62,
        lines(
            "Since the figures were published",
            "They are published every minute. Older than five minutes, releases are compared by what was.",
            [("min(jiezhu_published_age_seconds)", "age")],
            unit="s",
            limits=Limits(bad=300, watch=120),
            width=10,
        ),
    )
    board.add(
        63,
        lines(
            "Tallies waiting",
            "Batches whose facts are written and not yet added to the figures. It grows while nobody is elected; none is lost.",
            [("max(jiezhu_tally_waiting)", "waiting")],
            limits=Limits(bad=5000, watch=1000),
            width=10,
        ),
    )
    board.add(
        64,
        lines(
            "Tallies that failed",
            "Batches that went on without their facts, in each step: the page path never waits for a figure. Those turns are "
            "missing from the rates above, so they are a little off.",
            [(count("jiezhu_tally_failures_total"), "failed")],
            bars=True,
            limits=Limits(bad=1),
        ),
    )
    board.add(
        65,
        lines(
            "Processor time of style and drift",
            "Share of a worker's processor time that the work on style takes. It is kept below 2 %.",
            [
                (
                    f"{_rate('jiezhu_style_seconds_total')} / ({_rate('process_cpu_seconds_total')} > 0)",
                    "{{instance}}",
                )
            ],
            unit="percentunit",
            limits=Limits(bad=0.02),
        ),
    )


def _rate(counter: str) -> str:
    return f'sum by (instance) (rate({counter}{{job="jiezhu", {_HERE}}}{WINDOW}))'


def process_rows(board: Board) -> None:
    board.row(70, "What do the processes take?")
    board.add(
        71,
        lines(
            "Processor",
            "Cores that each worker uses. The encoder is most of it.",
            [(f'rate(process_cpu_seconds_total{{job="jiezhu", {_HERE}}}{WINDOW})', "{{instance}}")],
            width=8,
        ),
    )
    board.add(
        72,
        lines(
            "Memory",
            "Resident memory of each worker. It is flat once the encoder is loaded.",
            [(f'process_resident_memory_bytes{{job="jiezhu", {_HERE}}}', "{{instance}}")],
            unit="bytes",
            width=8,
        ),
    )
    board.add(
        73,
        grid(
            "Versions",
            "Which version of jiezhu and of its detectors each worker runs: after an update they are alike.",
            ("version", "detectors"),
            [Column("Workers", "count by (version, detectors) (jiezhu_build_info)")],
            width=8,
        ),
    )
