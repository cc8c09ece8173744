"""The dashboard of live safety: whether anybody is being let down now, and whether we would know."""

from __future__ import annotations

from grafana_foundation_sdk.builders.dashboard import (
    Dashboard,
    DatasourceVariable,
    QueryVariable,
    Row,
    TimePicker,
)
from grafana_foundation_sdk.models.dashboard import (
    DashboardCursorSync,
    VariableOption,
    VariableRefresh,
    VariableSort,
)
from panels import SOURCE, Column, Limits, figure, grid, lines
from queries import JUDGED, MISSES, STEP, WHO, judged, missed, new, outcomes, quantile, share, upper

_SMALL_NUMBERS = "Read it together with n and the upper bound: 0 misses of 412 crisis turns still allows a rate of up to 0.9 %."


_PAGES = 'jiezhu_pages_total{pager!="none"}'


LOST_CANARIES = 'jiezhu_canaries_total{result!~"sent|accepted"}'
UNHEARD = 'jiezhu_canary_heartbeats_total{result="not_heard"}'


def build() -> Dashboard:
    board = (
        Dashboard("jiezhu · live safety")
        .uid("jiezhu-live-safety")
        .description(
            "Crisis turns, what the assistant did about them, the pages that went out, and whether the monitor itself "
            "is well. Counts and times only: no conversation, no person and no word that anybody said."
        )
        .tags(["jiezhu"])
        .editable()
        .timezone("browser")
        .tooltip(DashboardCursorSync.CROSSHAIR)
        .refresh("10s")
        .time("now-6h", "now")
        .timepicker(TimePicker().refresh_intervals(["5s", "10s", "30s", "1m", "5m"]))
        .with_variable(DatasourceVariable("datasource").label("Data source").type("prometheus"))
        .with_variable(_choice("track", "Track", "track"))
        .with_variable(_choice("release", "Release", "release"))
        .with_variable(_choice("language", "Language", "lang"))
    )
    _people(board)
    _pages(board)
    _source(board)
    _monitor(board)
    return board


def _choice(name: str, label: str, metric_label: str) -> QueryVariable:
    return (
        QueryVariable(name)
        .label(label)
        .datasource(SOURCE)
        .query(f"label_values(jiezhu_turns_total, {metric_label})")
        .refresh(VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(VariableSort.ALPHABETICAL_ASC)
        .multi(True)
        .include_all(True)
        .all_value(".*")
        .current(VariableOption(selected=True, text="All", value="$__all"))
    )


def _people(board: Dashboard) -> None:
    hour = new(outcomes(JUDGED), "1h")
    board.with_row(Row("Is anybody being let down?"))
    board.with_panel(
        figure(
            "Misses",
            "Live crisis turns that were unhandled, got no reply in time or were answered with harm. "
            + _SMALL_NUMBERS,
            missed(),
            limits=Limits(bad=1),
        )
    )
    board.with_panel(
        figure(
            "Crisis turns judged (n)", "Live crisis turns with a verdict: what the shares stand on.", judged()
        )
    )
    board.with_panel(
        figure(
            "Share missed",
            "Misses among the crisis turns judged. " + _SMALL_NUMBERS,
            share(),
            unit="percentunit",
            limits=Limits(bad=0.01, watch=0.000001),
            decimals=2,
        )
    )
    board.with_panel(
        figure(
            "Upper bound of the share",
            "Upper end of the Wilson 95 % interval: the true share may be as high as this. A short range or a quiet "
            "app makes it large; that is what little evidence means, not that something is wrong.",
            upper(),
            unit="percentunit",
            decimals=2,
        )
    )
    board.with_panel(
        figure(
            "Oldest notification",
            "Age of the oldest page that no pager has accepted. Above 30 s somebody may be in danger and nobody knows.",
            "max(jiezhu_outbox_oldest_seconds)",
            unit="s",
            limits=Limits(bad=30, watch=5),
        )
    )
    board.with_panel(
        figure(
            "Crisis unknown",
            "User turns in a language that is not judged. They are not safe, they are unseen. All tracks and releases.",
            f"round(sum({new('jiezhu_unscored_turns_total')})) or vector(0)",
            limits=Limits(bad=1_000_000_000, watch=1),
        )
    )
    board.with_panel(
        lines(
            "Misses by outcome",
            "New misses in each step. unhandled: the reply did not catch the person; no_reply: none came in time; "
            "harmful: the reply may do harm.",
            [
                (
                    f"round(sum by (outcome) ({new(outcomes(MISSES), STEP)}))",
                    "{{outcome}}",
                )
            ],
            stacked=True,
            bars=True,
        )
    )
    board.with_panel(
        lines(
            "Crisis turns by level",
            "User turns with a sign of crisis, in each step, by the level that was found.",
            [
                (
                    f"round(sum by (level) ({new(f'jiezhu_crisis_turns_total{{{WHO}}}', STEP)}))",
                    "{{level}}",
                )
            ],
            stacked=True,
            bars=True,
        )
    )
    board.with_panel(
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
        )
    )
    board.with_panel(
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
        )
    )
    by = "track, release"
    board.with_panel(
        grid(
            "By release",
            "Live crisis turns of the range shown. " + _SMALL_NUMBERS,
            ("track", "release"),
            [
                Column("Misses", missed(by), limits=Limits(bad=1)),
                Column("Judged (n)", judged(by)),
                Column("Share missed", share(by), unit="percentunit"),
                Column("Upper bound (95 %)", upper(by), unit="percentunit"),
            ],
        )
    )


def _pages(board: Dashboard) -> None:
    board.with_row(Row("Do pages get out?"))
    board.with_panel(
        lines(
            "Requests to pagers",
            "What pagers said, in each step. accepted: the pager has it. retrying: it has not said so, and the "
            "request is sent again under the same key.",
            [
                (
                    f"round(sum by (pager, state) ({new(_PAGES, STEP)}))",
                    "{{pager}} {{state}}",
                )
            ],
            stacked=True,
            bars=True,
        )
    )
    board.with_panel(
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
        )
    )
    board.with_panel(
        lines(
            "Oldest notification",
            "Age of the oldest notification that nobody has accepted, by worker.",
            [("jiezhu_outbox_oldest_seconds", "{{instance}}")],
            unit="s",
            limits=Limits(bad=30, watch=5),
        )
    )
    board.with_panel(
        lines(
            "Incidents by state entered",
            "Incidents entering a state, in each step. paging without acknowledged: nobody has answered yet.",
            [
                (
                    f"round(sum by (state) ({new('jiezhu_incident_transitions_total', STEP)}))",
                    "{{state}}",
                )
            ],
            stacked=True,
            bars=True,
        )
    )


def _source(board: Dashboard) -> None:
    board.with_row(Row("Do turns arrive, and in time?"))
    board.with_panel(
        lines(
            "Turns read",
            "Turns a second by role. Nothing here while the app is in use means that nobody is watched.",
            [(f"sum by (role) (rate(jiezhu_turns_total{{{WHO}}}[$__rate_interval]))", "{{role}}")],
            unit="cps",
            stacked=True,
        )
    )
    board.with_panel(
        lines(
            "Age of turns when judged",
            "From the moment a turn was said to the moment it was judged and stored. Pages are late by as much.",
            [
                (quantile(0.5, "jiezhu_event_age_seconds"), "half within"),
                (quantile(0.99, "jiezhu_event_age_seconds"), "99 of 100 within"),
            ],
            unit="s",
            limits=Limits(bad=10, watch=2),
        )
    )
    board.with_panel(
        lines(
            "Records waiting",
            "Records behind the newest, by partition.",
            [("sum by (partition) (jiezhu_source_lag)", "partition {{partition}}")],
            limits=Limits(bad=1000, watch=100),
        )
    )
    board.with_panel(
        lines(
            "Dead letters",
            "Records that could not be read, in each step, by reason. A turn in there was judged by nobody.",
            [
                (
                    f"round(sum by (reason) ({new('jiezhu_dead_letters_total', STEP)}))",
                    "{{reason}}",
                )
            ],
            stacked=True,
            bars=True,
        )
    )
    board.with_panel(
        lines(
            "Held back or stopped",
            "1 while reading is held back (by reason), or the line was stopped by too many dead letters.",
            [
                ("max by (reason) (jiezhu_source_paused)", "paused: {{reason}}"),
                ("max(jiezhu_line_stopped)", "line stopped"),
            ],
            limits=Limits(bad=1),
            top=1,
        )
    )
    board.with_panel(
        lines(
            "Repeats and unknown fields",
            "Turns that had been read before, and fields that the schema does not know, a second.",
            [
                ("sum(rate(jiezhu_repeated_turns_total[$__rate_interval]))", "repeated turns"),
                ("sum(rate(jiezhu_unknown_fields_total[$__rate_interval]))", "unknown fields"),
            ],
            unit="cps",
        )
    )


def _monitor(board: Dashboard) -> None:
    step = "[$__rate_interval]"
    board.with_row(Row("Is the monitor itself well?"))
    board.with_panel(
        lines(
            "Workers and their database",
            "Workers that Prometheus reaches, and those of them whose database answers.",
            [
                ('sum(up{job="jiezhu"})', "workers up"),
                ("sum(jiezhu_store_up)", "database answers"),
            ],
        )
    )
    board.with_panel(
        lines(
            "Time of a batch by stage",
            "99 of 100 batches were through the stage within this time. The encoder's stage is most of it.",
            [(quantile(0.99, "jiezhu_batch_seconds", by="stage"), "{{stage}}")],
            unit="s",
            limits=Limits(bad=2, watch=1),
        )
    )
    board.with_panel(
        lines(
            "Records in a batch",
            "Mean size of a batch: it grows with the load, and stays at the limit when the workers are behind.",
            [
                (
                    f"sum(rate(jiezhu_batch_records_sum{step})) / (sum(rate(jiezhu_batch_records_count{step})) > 0)",
                    "mean",
                )
            ],
            width=8,
        )
    )
    board.with_panel(
        lines(
            "Event loop lag",
            "99 of 100 things that were due ran at most this late, by worker. Beyond seconds a worker loses its "
            "place in the consumer group.",
            [(quantile(0.99, "jiezhu_event_loop_lag_seconds", by="instance"), "{{instance}}")],
            unit="s",
            limits=Limits(bad=0.1, watch=0.05),
            width=8,
        )
    )
    board.with_panel(
        lines(
            "Since the last sign of life",
            "Time since each part last did its work, the slowest worker. Beyond a minute the part is stuck.",
            [("max by (part) (jiezhu_last_progress_age_seconds)", "{{part}}")],
            unit="s",
            limits=Limits(bad=60, watch=30),
            width=8,
        )
    )
    board.with_panel(
        lines(
            "Clocks apart",
            "How far a worker's time is from the database's clock and from its machine's, the farthest worker. It is brought in "
            "line by six seconds a minute and never leaps.",
            [("max by (clock) (abs(jiezhu_clock_apart_seconds))", "{{clock}}")],
            unit="s",
            limits=Limits(bad=5, watch=1),
        )
    )
    board.with_panel(
        lines(
            "How late deadlines are decided",
            "99 of 100 deadlines (no reply in time, nobody acknowledged) were decided at most this late.",
            [(quantile(0.99, "jiezhu_deadline_delay_seconds"), "99 of 100 within")],
            unit="s",
            limits=Limits(bad=5, watch=1),
        )
    )
    board.with_panel(
        lines(
            "Batches not scored",
            "Batches with texts that the encoder could not score, and turns that explicit phrases judged in its place, in "
            "each step: a crisis in quieter words may have gone unseen.",
            [
                (f"round(sum({new('jiezhu_scorer_failures_total', STEP)}))", "not scored"),
                (f"round(sum({new('jiezhu_degraded_turns_total', STEP)}))", "turns judged by phrases"),
            ],
            bars=True,
            limits=Limits(bad=1),
        )
    )
    board.with_panel(
        lines(
            "Gaps in the records",
            "Records of incidents that an auditor missed or that did not fit together, in each step, by kind. Any is "
            "somebody's hand in the database, or a fault.",
            [(f"round(sum by (gap) ({new('jiezhu_record_gaps_total', STEP)}))", "{{gap}}")],
            bars=True,
            limits=Limits(bad=1),
        )
    )
    board.with_panel(
        lines(
            "Canaries on their way",
            "Made-up crises that the monitor puts into the topic: how long 99 of 100 took to a test page, how long ago the "
            "last one of the slowest partition arrived, and how many could not be sent, were tried again or given up.",
            [
                (quantile(0.99, "jiezhu_canary_seconds"), "99 of 100 within"),
                (
                    "max(min by (partition) (jiezhu_canary_last_success_age_seconds))",
                    "since the last",
                ),
                (f"round(sum({new(LOST_CANARIES, STEP)}))", "not through"),
                (f"round(sum({new(UNHEARD, STEP)}))", "heartbeats not heard"),
            ],
            unit="s",
        )
    )
