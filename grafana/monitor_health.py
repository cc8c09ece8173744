"""The dashboard of the monitor's own health: whether it reads, judges and lives, and who would notice if not."""

from __future__ import annotations

from typing import Any

from board import Board
from monitor_proofs import canary_rows, figure_rows, process_rows
from panels import AtLeast, Limits, figure, lines
from queries import WHO, WINDOW, count, quantile

_HERE = 'instance=~"$worker"'
_YES_NO = {0: ("no", "red"), 1: ("yes", "green")}


def build() -> Any:
    board = Board(
        "monitor-health",
        "monitor health",
        "Whether the monitor reads, judges and lives: lag, ages, batches, the encoder, the database, signs of life, clocks, the "
        "made-up crisis (canary), the publisher of figures. Track, release and language choose in the panel of turns alone.",
        start="now-6h",
        refresh="10s",
    )
    board.choice("worker", "Worker", "label_values(jiezhu_ready, instance)")
    _watching(board)
    _source(board)
    _judging(board)
    _alive(board)
    canary_rows(board)
    figure_rows(board)
    process_rows(board)
    return board.build()


def _watching(board: Board) -> None:
    board.row(10, "Is anybody watching?")
    for number, title, description, expr, limits in (
        (
            11,
            "Workers ready",
            "Workers that read, decide and get pages out. JiezhuDeadMansSwitch beats only while there is one.",
            "sum(jiezhu_ready)",
            AtLeast(good=1),
        ),
        (
            12,
            "Line stopped",
            "1 when too many dead letters stopped the line: nobody is watched until somebody looks.",
            "max(jiezhu_line_stopped)",
            Limits(bad=1),
        ),
        (
            13,
            "Dead letters",
            "Records that could not be read, over the range shown. A turn in there was judged by nobody.",
            count("jiezhu_dead_letters_total", window="$__range"),
            Limits(bad=100, watch=1),
        ),
        (
            14,
            "Active silences",
            "Silences in Alertmanager. Each hides something, or will.",
            'max(alertmanager_silences{state="active"})',
            Limits(bad=1),
        ),
    ):
        board.add(number, figure(title, description, expr, limits=limits))
    board.add(
        15,
        figure(
            "Encoders answer",
            "Whether the encoder of every worker answers. Where it does not, explicit phrases alone decide.",
            "min(jiezhu_encoder_up)",
            words=_YES_NO,
        ),
    )
    board.add(
        16,
        figure(
            "Database answers",
            "Whether the database answers every worker. Without it turns are judged in memory, and pages go out marked.",
            "min(jiezhu_store_up)",
            words=_YES_NO,
        ),
    )
    board.add(
        17,
        lines(
            "Workers, their database and encoder",
            "Workers that Prometheus reaches, those that find themselves ready, those whose database answers, and those whose "
            "encoder answers. The four lines lie on one another while all is well.",
            [
                ('sum(up{job="jiezhu"})', "workers up"),
                ("sum(jiezhu_ready)", "ready"),
                ("sum(jiezhu_store_up)", "database answers"),
                ("sum(jiezhu_encoder_up)", "encoder answers"),
            ],
        ),
    )
    board.add(
        18,
        lines(
            "Turns read",
            "Turns a second: of all that is read, and by role of what is chosen. Nothing here while the app is in use means that nobody is watched.",
            [
                (f"sum by (role) (rate(jiezhu_turns_total{{{WHO}}}{WINDOW}))", "{{role}}"),
                (f'sum(rate(jiezhu_turns_read_total{{basis="live"}}{WINDOW}))', "all"),
            ],
            unit="cps",
        ),
    )


def _source(board: Board) -> None:
    board.row(20, "Do turns arrive, and in time?")
    board.add(
        21,
        lines(
            "Age of turns when judged",
            "From the moment a turn was said to the moment it was judged and stored. Pages are late by as much.",
            [
                (quantile(0.5, "jiezhu_event_age_seconds"), "half within"),
                (quantile(0.99, "jiezhu_event_age_seconds"), "99 of 100 within"),
            ],
            unit="s",
            limits=Limits(bad=10, watch=2),
        ),
    )
    board.add(
        22,
        lines(
            "Records waiting",
            "Records behind the newest, by partition. Above 1,000 in all JiezhuSourceLag pages.",
            [("sum by (partition) (jiezhu_source_lag)", "partition {{partition}}")],
            limits=Limits(bad=1000, watch=100),
        ),
    )
    board.add(
        23,
        lines(
            "Held back or stopped",
            "1 while reading is held back (by reason), or the line was stopped by too many dead letters.",
            [
                ("max by (reason) (jiezhu_source_paused)", "paused: {{reason}}"),
                ("max(jiezhu_line_stopped)", "line stopped"),
            ],
            limits=Limits(bad=1),
            top=1,
        ),
    )
    board.add(
        24,
        lines(
            "Dead letters by reason",
            "Records that could not be read, in each step, by reason. A turn in there was judged by nobody.",
            [(count("jiezhu_dead_letters_total", "reason"), "{{reason}}")],
            stacked=True,
            bars=True,
        ),
    )
    board.add(
        25,
        lines(
            "Share of records that cannot be read",
            "Of all records of the last five minutes. Above 1 % for five minutes JiezhuDeadLetters writes a ticket.",
            [("job:jiezhu_dead_letters:ratio_rate5m", "unreadable")],
            unit="percentunit",
            limits=Limits(bad=0.01),
        ),
    )
    board.add(
        26,
        lines(
            "Repeats, unknown fields, void batches",
            "Turns that had been read before, fields that the schema does not know, and batches that were void as another "
            "worker had written on their partition, a second.",
            [
                (f"sum(rate(jiezhu_repeated_turns_total{WINDOW}))", "repeated turns"),
                (f"sum(rate(jiezhu_unknown_fields_total{WINDOW}))", "unknown fields"),
                (f"sum(rate(jiezhu_fenced_batches_total{WINDOW}))", "void batches"),
            ],
            unit="cps",
        ),
    )
    board.add(
        27,
        lines(
            "Records lost",
            "Records in each step that the topic had deleted before they were read. Nobody judged what they held: "
            "JiezhuTurnsLost pages from the first one on.",
            [(count("jiezhu_records_lost_total"), "lost")],
            limits=Limits(bad=1),
            bars=True,
        ),
    )


def _judging(board: Board) -> None:
    board.row(30, "Does it keep up?")
    board.add(
        31,
        lines(
            "Time of a batch by stage",
            "99 of 100 batches were through the stage within this time. The encoder's stage (detect) is most of it.",
            [(quantile(0.99, "jiezhu_batch_seconds", by="stage"), "{{stage}}")],
            unit="s",
            limits=Limits(bad=2, watch=1),
            width=8,
        ),
    )
    board.add(
        32,
        lines(
            "Records in a batch",
            "Mean size of a batch: it grows with the load, and stays at the limit when the workers are behind.",
            [
                (
                    f"sum(rate(jiezhu_batch_records_sum{WINDOW})) / (sum(rate(jiezhu_batch_records_count{WINDOW})) > 0)",
                    "mean",
                )
            ],
            width=8,
        ),
    )
    board.add(
        33,
        lines(
            "Event loop lag",
            "99 of 100 things that were due ran at most this late, by worker. Beyond seconds a worker loses its "
            "place in the consumer group.",
            [
                (
                    quantile(0.99, "jiezhu_event_loop_lag_seconds", by="instance", where=_HERE),
                    "{{instance}}",
                )
            ],
            unit="s",
            limits=Limits(bad=0.1, watch=0.05),
            width=8,
        ),
    )
    board.add(
        34,
        lines(
            "Batches not scored",
            "Batches with texts that the encoder could not score, and turns that explicit phrases judged in its place, in "
            "each step: a crisis in quieter words may have gone unseen.",
            [
                (count("jiezhu_scorer_failures_total"), "not scored"),
                (count("jiezhu_degraded_turns_total"), "turns judged by phrases"),
            ],
            bars=True,
            limits=Limits(bad=1),
        ),
    )
    board.add(
        35,
        lines(
            "Encoder answers, by worker",
            "1 while a worker's encoder answers. A worker gets a failed one back by itself, mostly within seconds; after four "
            "minutes JiezhuEncoderDown pages.",
            [(f"jiezhu_encoder_up{{{_HERE}}}", "{{instance}}")],
            limits=AtLeast(good=1),
            top=1,
        ),
    )


def _alive(board: Board) -> None:
    board.row(40, "Does every part live?")
    board.add(
        41,
        lines(
            "Since the last sign of life",
            "Time since each part last did its work, the slowest worker. Beyond a minute the part is stuck; the pipeline rests "
            "while there is nothing to read.",
            [
                (
                    f'max by (part) (jiezhu_last_progress_age_seconds{{part!~"source|detector", {_HERE}}})',
                    "{{part}}",
                )
            ],
            unit="s",
            limits=Limits(bad=60, watch=30),
        ),
    )
    board.add(
        42,
        lines(
            "Since reading and judging last went on",
            "The sign of the source grows old only while reading stands still, that of the detector only while people write and "
            "not one turn is judged. Beyond 45 s JiezhuReadingStalled or JiezhuDetectorIdle pages.",
            [
                (
                    f'jiezhu_last_progress_age_seconds{{part=~"source|detector", {_HERE}}}',
                    "{{part}} {{instance}}",
                )
            ],
            unit="s",
            limits=Limits(bad=45, watch=20),
        ),
    )
    board.add(
        43,
        lines(
            "Clocks apart",
            "How far a worker's time is from the database's clock and from its machine's, the farthest worker. It is brought in "
            "line by seven seconds an hour and never leaps.",
            [("max by (clock) (abs(jiezhu_clock_apart_seconds))", "{{clock}}")],
            unit="s",
            limits=Limits(bad=5, watch=1),
        ),
    )
    board.add(
        44,
        lines(
            "Oldest erasure that is not done",
            "Somebody asked to be forgotten, and something is still kept of them. After a day JiezhuErasureUndone writes a ticket.",
            [("max(jiezhu_erasure_oldest_seconds)", "oldest")],
            unit="s",
            limits=Limits(bad=86400, watch=3600),
        ),
    )
