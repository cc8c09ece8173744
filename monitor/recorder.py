"""What the metrics are told: the observers of pipeline, timers and relay, all writing to one ``Metrics``.

Everything here is counted once the work is safely written, so that a batch that is read twice counts once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import UTC, datetime, timedelta

import structlog
from prometheus_client import Gauge

from alerts.canary import Canary, canary_of, is_canary
from alerts.case import Advanced
from alerts.delivery import Attempt, Delivery
from alerts.gaps import Found, Gap
from alerts.page import Kind, Page
from alerts.storm import Reason
from alerts.watch import Watch
from detectors.conversation import Entry
from detectors.finding import MISSES, VERDICTS, Level, ReplySignal, UserSignal
from detectors.reply.boundary import CANNOT_REPLACE
from detectors.reply.repetition import Recent
from detectors.scales.answer import Answer
from monitor.answered import Answered
from monitor.batch import BatchResult, CaseResult
from monitor.languages import language
from monitor.metrics import Metrics
from monitor.observing import observing
from monitor.store.work import Partition
from monitor.tally.seen import (
    Feedback,
    boundary_given,
    feedback,
    last_said,
    own_emotion,
    own_safety,
    reached,
)

_log = structlog.get_logger(__name__)


class Recorder:
    def __init__(self, metrics: Metrics, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        """``now`` is our time: with it, what is shown as an age is computed when somebody asks."""
        self._metrics = metrics
        self._now = now
        self._canaries_known: dict[str, datetime] = {}
        self._canaries_due: dict[str, datetime] = {}
        self._lost = 0
        self._signs: dict[str, datetime] = {}
        self._recent = Recent()
        self.canary_arrived: Callable[[Canary, datetime], None] = lambda _canary, _at: None

    # Pipeline

    def batch(self, result: BatchResult) -> None:
        metrics = self._metrics
        metrics.batch_size.observe(sum(map(len, result.read.turns.values())) + len(result.read.dead))
        for letter in result.read.dead:
            metrics.dead_letters.labels(letter.reason).inc()
        metrics.unknown_fields.inc(result.read.unknown_fields)
        for case in _of_people(result.cases):
            metrics.repeats.inc(case.repeats)
            self._case(case, result.at)
        self.alive("pipeline", result.at)

    def stage(self, name: str, seconds: float) -> None:
        self._metrics.batch_seconds.labels(name).observe(seconds)

    def scorer_failed(self) -> None:
        self._metrics.scorer_failures.inc()

    def fenced(self) -> None:
        self._metrics.fenced.inc()

    # Timers

    def advanced(self, advanced: Advanced, delay: float) -> None:
        if is_canary(advanced.case.conversation.key):
            return
        self._metrics.deadline_delay.observe(max(delay, 0))
        self._decisions(advanced)

    def timers_alive(self, now: datetime) -> None:
        self.alive("timers", now)

    # Relay

    def sent(
        self, page: Page, pager: str, attempt: Attempt, delivery: Delivery, seconds_since_detected: float
    ) -> None:
        if page.canary:
            self._canary(page, delivery)
            return
        self._metrics.pages.labels(pager, delivery.state.value, attempt.reason).inc()
        _log.info(
            "page_sent",
            incident=page.incident,
            kind=page.kind.value,
            step=page.step,
            pager=pager,
            state=delivery.state.value,
            reason=attempt.reason,
        )
        if delivery.accepted_at is not None and page.kind is Kind.PAGE and page.step == 0:
            self._metrics.detect_to_page.observe(max(seconds_since_detected, 0))

    def dropped(self, page: Page, delivery: Delivery) -> None:
        if page.canary:
            self._metrics.canaries.labels("given_up").inc()
            return
        self._metrics.pages.labels(delivery.channel_name, delivery.state.value, delivery.reason).inc()

    def admitted(self, page: Page, reason: Reason) -> None:
        del page
        self._metrics.page_admissions.labels(reason.value).inc()

    def went_round(self, now: datetime) -> None:
        self.alive("relay", now)

    def outbox_failed(self, operation: str) -> None:
        self._metrics.pages.labels("none", "pending", f"outbox_{operation}_failed").inc()

    def forget(self, pseudonyms: Collection[str]) -> None:
        self._recent.forget(frozenset(pseudonyms))

    def undone(self, oldest: timedelta) -> None:
        """How old the oldest erasure is that is not done."""
        self._metrics.erasure_oldest.set(max(oldest.total_seconds(), 0))

    def unreadable(self, rows: int) -> None:
        """Records that nobody could read, and that were forgotten or begun anew."""
        self._metrics.gaps.labels(Gap.UNREADABLE.value).inc(rows)

    # The figures of all workers

    def tally_failed(self, count: int = 1) -> None:
        self._metrics.tally_failures.inc(count)

    def style_worked(self, seconds: float) -> None:
        self._metrics.style_seconds.inc(seconds)

    # Auditor

    def found(self, gaps: Iterable[Found]) -> None:
        for one in gaps:
            self._metrics.gaps.labels(one.gap.value).inc()
            _log.error("record_gap", gap=one.gap.value, incident=one.incident, rows=len(one.rows))

    def audited(self, now: datetime) -> None:
        self.alive("auditor", now)

    # Canaries: counted apart, never among people's figures

    def canary_sent(self, *, sent: bool) -> None:
        self._metrics.canaries.labels("sent" if sent else "not_sent").inc()

    def canary_known(self, canary: Canary, at: datetime) -> None:
        self._show(self._metrics.canary_success, self._canaries_known, str(canary.partition), at)

    def canary_due(self, partition: int, at: datetime) -> None:
        self._show(self._metrics.canary_due, self._canaries_due, str(partition), at)

    def canary_heartbeat(self, *, told: bool) -> None:
        self._metrics.canary_heartbeats.labels("heard" if told else "not_heard").inc()

    def _canary(self, page: Page, delivery: Delivery) -> None:
        canary = canary_of(page.incident)
        if canary is None or delivery.accepted_at is None:
            self._metrics.canaries.labels("tried_again").inc()
            return
        self._metrics.canaries.labels("accepted").inc()
        self._metrics.canary_seconds.observe(max((delivery.accepted_at - canary.due).total_seconds(), 0))
        self.canary_arrived(canary, delivery.accepted_at)

    # Gauges

    def clock_apart(self, clock: str, seconds: float) -> None:
        self._metrics.clock_apart.labels(clock).set(seconds)

    @observing()
    def alive(self, part: str, now: datetime) -> None:
        """Loops tell of themselves by this: whatever becomes of it, they go on."""
        self._show(self._metrics.last_progress, self._signs, part, now)

    def signs_of_life(self, parts: Iterable[str]) -> dict[str, datetime]:
        """When each part that has begun was last alive."""
        return {part: self._signs[part] for part in parts if part in self._signs}

    def outbox_age(self, oldest: timedelta) -> None:
        self._metrics.outbox_oldest.set(oldest.total_seconds())

    def lag(self, lags: Mapping[Partition, int | None]) -> None:
        """Show the lag of the partitions that are ours now, and no others; unknown is 0 until the first fetch."""
        self._metrics.source_lag.clear()
        for (_, number), records in lags.items():
            self._metrics.source_lag.labels(str(number)).set(records or 0)

    def lost(self, records: int) -> None:
        """Show how many were lost in all."""
        self._metrics.records_lost.inc(records - self._lost)
        self._lost = records

    def _show(self, gauge: Gauge, times: dict[str, datetime], name: str, at: datetime) -> None:
        """Seconds since ``at``. A time would be compared with Prometheus' clock, and ours is another on purpose."""
        known = name in times
        times[name] = at

        def age() -> float:
            return (self._now() - times[name]).total_seconds()

        if not known:
            gauge.labels(name).set_function(age)

    def _case(self, case: CaseResult, now: datetime) -> None:
        conversation = case.advanced.case.conversation.key
        for entry, signal in case.fresh:
            before = case.before.get(entry.event)
            who = self._who(entry, signal)
            if before is None:
                self._metrics.turns.labels(entry.role.value, *who).inc()
                self._metrics.turns_read.labels(who[0], who[3]).inc()
                if signal.degraded:
                    self._metrics.degraded_turns.labels(entry.role.value).inc()
                self._metrics.event_age.observe(max((now - entry.done_at).total_seconds(), 0))
            if isinstance(signal, UserSignal):
                self._user(signal, before, who)
            elif before is None:
                self._reply(conversation, entry, signal, (who[0], who[1]))
        for one in case.answered():
            self._answered(one)
        self._conversation(case)
        self._decisions(case.advanced)

    def _user(self, signal: UserSignal, before: object | None, who: tuple[str, str, str, str]) -> None:
        """A message that its user goes on streaming is one turn, and counts for a crisis once it is one."""
        known = before.level if isinstance(before, UserSignal) else None
        if signal.level is Level.UNSCORED and known is None:
            self._metrics.unscored_turns.labels(who[2]).inc()
        elif signal.level.crisis and not (known is not None and known.crisis):
            self._metrics.crisis_turns.labels(signal.level.value, *who).inc()

    def _reply(self, conversation: str, entry: Entry, signal: ReplySignal, who: tuple[str, str]) -> None:
        again = self._recent.repeats(conversation, signal.gist)
        self._metrics.repeated_replies.labels("repeated" if again else "new", *who).inc()
        if entry.latency_ms is not None:
            self._metrics.reply_latency.labels(*who).observe(entry.latency_ms / 1000)

    def _answered(self, one: Answered) -> None:
        """Latency, flags, marks, emotion points and the assistant's own labels are counted once a reply."""
        track = one.first.track.value
        release = self._metrics.release(track, one.first.release)
        if one.seconds is not None:
            self._metrics.reply_latency.labels(track, release).observe(one.seconds)
        if one.answer is not None:
            self._judged(one, one.answer, track, release)
        for label, agreement in (("emotion", own_emotion(one)), ("safety", own_safety(one))):
            if agreement is not None:
                self._metrics.own_labels.labels(label, agreement.value, track, release).inc()

    def _conversation(self, case: CaseResult) -> None:
        """How far it came, and what is known of it afterwards."""
        last = last_said(case)
        if last is None:
            return
        track, release = last.track.value, self._metrics.release(last.track.value, last.release)
        for stage in reached(case):
            self._metrics.continuation.labels(str(stage), track, release).inc()
        for entry in case.arrived:
            for word in feedback(entry.notes) if entry.notes is not None else ():
                if word is not Feedback.NOT_RETURNED:
                    self._metrics.feedback.labels(word.value, track, release).inc()

    def _judged(self, one: Answered, answer: Answer, track: str, release: str) -> None:
        for flag in answer.reply.flags:
            self._metrics.reply_flags.labels(
                flag.value, track, release, "probe" if one.first.probe else "live"
            ).inc()
        for scale, dimension, value in one.marks:
            self._metrics.scale_score.labels(scale, dimension, track, release).observe(value)
        if one.emotion is not None:
            what, basis = one.emotion
            who = (track, release, language(answer.user.language), basis)
            self._metrics.bear(*who)
            self._metrics.emotion_points.labels(what.value, *who).inc()

    def _decisions(self, advanced: Advanced) -> None:
        if advanced.begun_anew:
            incident = advanced.case.incident
            self.found([Found(Gap.UNREADABLE, "" if incident is None else incident.key)])
        for step in advanced.happened:
            self._metrics.incidents.labels(step.reason, step.incident.state.value).inc()
        for watch in advanced.verdicts:
            self._verdict(watch)

    def _verdict(self, watch: Watch) -> None:
        basis = "probe" if watch.probe else "live"
        track = watch.track.value
        if watch.outcome in MISSES:
            level = watch.level.value if watch.level.crisis else Level.NONE.value
            self._metrics.misses.labels(watch.outcome.value, level, track, basis).inc()
        if watch.outcome in VERDICTS:
            release = self._metrics.release(track, watch.release)
            given = boundary_given(watch)
            if given is not None:
                result = "given" if given else "missing"
                self._metrics.boundaries.labels(CANNOT_REPLACE, result, track, release).inc()
            who = (track, release, language(watch.lang), basis)
            self._metrics.bear(*who)
            self._metrics.outcomes.labels(watch.outcome.value, *who).inc()

    def _who(self, entry: Entry, signal: UserSignal | ReplySignal) -> tuple[str, str, str, str]:
        who = (
            entry.track.value,
            self._metrics.release(entry.track.value, entry.release),
            language(signal.language),
            "probe" if entry.probe else "live",
        )
        self._metrics.bear(*who)
        return who


def _of_people(cases: Iterable[CaseResult]) -> list[CaseResult]:
    return [case for case in cases if not is_canary(case.advanced.case.conversation.key)]
