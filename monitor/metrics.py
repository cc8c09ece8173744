"""Every metric, in one place. Labels are bounded; counters that can page are born at 0 (DESIGN §6).

No label ever holds a conversation, a user, an event or a word that somebody said (M7).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import Generic, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, Metric, ProcessCollector

from alerts.delivery import State as DeliveryState
from alerts.gaps import Gap
from alerts.incident import State as IncidentState
from alerts.storm import Reason as AdmissionReason
from detectors.finding import CRISIS_LEVELS, MISSES, VERDICTS, Level
from detectors.reply.boundary import CANNOT_REPLACE
from detectors.turn import Role, Track
from monitor.decode.rejection import Reason
from monitor.tally.seen import STAGES

BASES = ("live", "probe")
PAIRS = 6  # of track and release that have series of their own
SPEAKING = 24  # of these with a language and a basis
Pair = tuple[str, str]
WHO = ("track", "release", "lang", "basis")
K = TypeVar("K")
_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300)


# Of these, when they began is shown beside them: rules ask whether what a fresh process shows is new, though the process
# before it showed as much.
_BORN_AT = (
    "jiezhu_safety_misses",
    "jiezhu_pages",
    "jiezhu_records_lost",
    "jiezhu_scorer_failures",
    "jiezhu_tally_failures",
)


class Newest(Generic[K]):
    """Tracks and releases come from outside: the ``limit`` that were used last keep their series."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._known: OrderedDict[K, None] = OrderedDict()

    def use(self, key: K) -> tuple[bool, K | None]:
        """Return whether it is new, and the one that has just lost its place for it, if any."""
        if key in self._known:
            self._known.move_to_end(key)
            return False, None
        self._known[key] = None
        return True, self._known.popitem(last=False)[0] if len(self._known) > self._limit else None

    def drop(self, gone: Callable[[K], bool]) -> None:
        for key in [key for key in self._known if gone(key)]:
            del self._known[key]


class Told(Gauge):
    """Says nothing until it was told once: a fresh process must not claim what it cannot know yet."""

    _told = False

    def set(self, value: float) -> None:
        super().set(value)
        self._told = True

    def collect(self) -> Iterator[Metric]:
        for family in super().collect():
            if not self._told:
                family.samples = []
            yield family


class Registry(CollectorRegistry):
    """Without the times at which series began: a third of all series, and asked for by nobody but ``_BORN_AT``."""

    def collect(self) -> Iterator[Metric]:
        for metric in super().collect():
            if metric.name not in _BORN_AT:
                metric.samples = [one for one in metric.samples if not one.name.endswith("_created")]
            yield metric


class Metrics:
    """The metrics of one process, on a registry of its own."""

    def __init__(self, pairs: int = PAIRS) -> None:
        self.registry = Registry()
        self._newest: Newest[Pair] = Newest(pairs)
        self._speaking: Newest[tuple[str, ...]] = Newest(SPEAKING)
        r = self.registry
        who = WHO
        self.build = Info("jiezhu_build", "Version of jiezhu and of its detectors", registry=r)
        # The conversations
        self.turns = Counter("jiezhu_turns_total", "Turns read", ("role", *who), registry=r)
        self.turns_read = Counter(
            "jiezhu_turns_read_total",
            "Turns read, whatever the release: born at 0, for alerting",
            ("track", "basis"),
            registry=r,
        )
        self.crisis_turns = Counter(
            "jiezhu_crisis_turns_total", "User turns with a sign of crisis", ("level", *who), registry=r
        )
        self.unscored_turns = Counter(
            "jiezhu_unscored_turns_total",
            "User turns in a language not judged: crisis unknown",
            ("lang",),
            registry=r,
        )
        self.outcomes = Counter(
            "jiezhu_crisis_outcomes_total",
            "Crisis turns by what the assistant did about them",
            ("outcome", *who),
            registry=r,
        )
        self.misses = Counter(
            "jiezhu_safety_misses_total",
            "Crisis turns that nobody caught, whatever the release: born at 0, for alerting",
            ("outcome", "level", "track", "basis"),
            registry=r,
        )
        self.reply_flags = Counter(
            "jiezhu_reply_flags_total",
            "What stands out in replies",
            ("flag", "track", "release", "basis"),
            registry=r,
        )
        self.repeated_replies = Counter(
            "jiezhu_reply_repeats_total",
            "Replies by whether nearly the same was said in another conversation lately (a sliding sample)",
            ("result", "track", "release"),
            registry=r,
        )
        self.emotion_points = Counter(
            "jiezhu_emotion_points_total",
            "Replies to a distressed turn: feeling named, kind_only or missed (estimated where basis is live)",
            ("result", *who),
            registry=r,
        )
        self.scale_score = Histogram(
            "jiezhu_scale_score",
            "Marks by scale and dimension",
            ("scale", "dimension", "track", "release"),
            buckets=(1, 3),  # the means are what is shown (``jiezhu_score_mean``)
            registry=r,
        )
        self.reply_latency = Histogram(
            "jiezhu_reply_latency_seconds",
            "From the user's turn to the assistant's reply",
            ("track", "release"),
            buckets=(0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120),
            registry=r,
        )
        self._add_figures(r)
        # The alerts
        self.incidents = Counter(
            "jiezhu_incident_transitions_total", "Transitions of incidents", ("reason", "state"), registry=r
        )
        self.pages = Counter(
            "jiezhu_pages_total",
            "Requests to pagers by what became of them",
            ("pager", "state", "reason"),
            registry=r,
        )
        self.page_admissions = Counter(
            "jiezhu_page_admissions_total",
            "Requests to pagers that came due: single ones leave, carried ones are told of by a grouped page",
            ("reason",),
            registry=r,
        )
        self.detect_to_page = Histogram(
            "jiezhu_detect_to_page_seconds",
            "From the decision to page to the pager's answer that it has it",
            buckets=_SECONDS,
            registry=r,
        )
        self.outbox_oldest = Gauge(
            "jiezhu_outbox_oldest_seconds",
            "Age of the oldest notification that nobody has accepted",
            registry=r,
        )
        self.deadline_delay = Histogram(
            "jiezhu_deadline_delay_seconds", "How late deadlines were decided", buckets=_SECONDS, registry=r
        )
        self._add_source(r)
        # The monitor itself
        self.batch_seconds = Histogram(
            "jiezhu_batch_seconds", "Time of a batch by stage", ("stage",), buckets=_SECONDS, registry=r
        )
        self.fenced = Counter(
            "jiezhu_fenced_batches_total",
            "Batches that were void, as another worker had written on their partition: a zombie's, in a rebalance",
            registry=r,
        )
        self.batch_size = Histogram(
            "jiezhu_batch_records", "Records in a batch", buckets=(1, 2, 4, 8, 16, 32, 64, 128), registry=r
        )
        self.ready = Gauge(
            "jiezhu_ready",
            "1 while the worker reads, decides and gets pages out, as /readyz says",
            registry=r,
        )
        self.publishing = Gauge(
            "jiezhu_publishing_enabled",
            "1 where figures of releases are to be published, as JIEZHU_PUBLISHING__ENABLED says",
            registry=r,
        )
        self.store_up = Gauge("jiezhu_store_up", "1 while the database answers", registry=r)
        self.encoder_up = Told(
            "jiezhu_encoder_up",
            "1 while the encoder answers, 0 while phrases alone decide; nothing while it is first prepared",
            registry=r,
        )
        self.degraded_turns = Counter(
            "jiezhu_degraded_turns_total", "Turns that phrases alone judged", ("role",), registry=r
        )
        self.scorer_failures = Counter(
            "jiezhu_scorer_failures_total", "Batches whose texts could not be scored", registry=r
        )
        self.loop_lag = Histogram(
            "jiezhu_event_loop_lag_seconds",
            "How late the event loop runs what is due",
            buckets=(0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5),
            registry=r,
        )
        self.last_progress = Gauge(
            "jiezhu_last_progress_age_seconds",
            "Since each part last did its work, by our own time: nobody's clock stands in it",
            ("part",),
            registry=r,
        )
        self.clock_apart = Gauge(
            "jiezhu_clock_apart_seconds",
            "How far the worker's time is ahead of the database's clock, and of its machine's",
            ("clock",),
            registry=r,
        )
        self.gaps = Counter(
            "jiezhu_record_gaps_total",
            "Records of incidents that an auditor found missing or not fitting together",
            ("gap",),
            registry=r,
        )
        self.erasure_oldest = Gauge(
            "jiezhu_erasure_oldest_seconds",
            "Age of the oldest erasure that is not done: something is still kept of its subject",
            registry=r,
        )
        # The canary
        self.canary_seconds = Histogram(
            "jiezhu_canary_seconds",
            "From a canary being due in the topic to its test page being accepted",
            buckets=(0.5, 1, 2, 3, 4, 5, 7.5, 10, 15, 30, 60, 300),
            registry=r,
        )
        self.canaries = Counter(
            "jiezhu_canaries_total", "Canaries by what became of them", ("result",), registry=r
        )
        self.canary_success = Gauge(
            "jiezhu_canary_last_success_age_seconds",
            "Since the test page of a canary in this partition was last accepted",
            ("partition",),
            registry=r,
        )
        self.canary_due = Gauge(
            "jiezhu_canary_overdue_seconds",
            "Since when the next canary in this partition should have arrived; below 0 while it has time",
            ("partition",),
            registry=r,
        )
        self.canary_heartbeats = Counter(
            "jiezhu_canary_heartbeats_total", "Heartbeats to the service outside", ("result",), registry=r
        )
        ProcessCollector(registry=r)
        self._born_at_zero()

    def _add_source(self, r: CollectorRegistry) -> None:
        self.source_lag = Gauge("jiezhu_source_lag", "Records behind the newest", ("partition",), registry=r)
        self.event_age = Histogram(
            "jiezhu_event_age_seconds",
            "Age of a turn when it was in the database",
            buckets=(0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 3600),
            registry=r,
        )
        self.dead_letters = Counter(
            "jiezhu_dead_letters_total", "Records that could not be read", ("reason",), registry=r
        )
        self.records_lost = Counter(
            "jiezhu_records_lost_total",
            "Records that the topic had deleted before they were read: nobody judged what they held",
            registry=r,
        )
        self.repeats = Counter("jiezhu_repeated_turns_total", "Turns that were read before", registry=r)
        self.unknown_fields = Counter(
            "jiezhu_unknown_fields_total", "Fields of events that the schema does not know", registry=r
        )
        self.paused = Gauge("jiezhu_source_paused", "1 while reading is held back", ("reason",), registry=r)
        self.line_stopped = Gauge(
            "jiezhu_line_stopped", "1 when too many dead letters stopped the line", registry=r
        )

    def _add_figures(self, r: CollectorRegistry) -> None:
        self.continuation = Counter(
            "jiezhu_continuation_total",
            "Conversations that came to this many user turns, each once in its life",
            ("reached", "track", "release"),
            registry=r,
        )
        self.feedback = Counter(
            "jiezhu_feedback_total",
            "What events say after a session: helpful, not_helpful, returned",
            ("kind", "track", "release"),
            registry=r,
        )
        self.own_labels = Counter(
            "jiezhu_own_labels_total",
            "The assistant's own labels beside what was found: agrees, differs, missing",
            ("label", "result", "track", "release"),
            registry=r,
        )
        self.boundaries = Counter(
            "jiezhu_boundaries_total",
            "Boundary statements that were due at a crisis turn that was answered",
            ("kind", "result", "track", "release"),
            registry=r,
        )
        # The figures of all workers
        self.tally_failures = Counter(
            "jiezhu_tally_failures_total",
            "Tallies that could not be made or added up: figures lack what they held",
            registry=r,
        )
        self.style_seconds = Counter(
            "jiezhu_style_seconds_total", "CPU seconds of adding up and comparing styles", registry=r
        )

    def release(self, track: str, release: str) -> str:
        """Return the release, with room for its series on this track; those of a pair that lost its place are dropped."""
        new, lost = self._newest.use((track, release))
        if lost is not None:
            self._forget(lost)
        if new:
            for stage in STAGES:
                self.continuation.labels(str(stage), track, release)
            for result in ("given", "missing"):
                self.boundaries.labels(CANNOT_REPLACE, result, track, release)
        return release

    def _born_at_zero(self) -> None:
        for track in Track:
            for basis in BASES:
                self.turns_read.labels(track.value, basis)
                for outcome in MISSES:  # visible from the first one on (R45)
                    for level in (*CRISIS_LEVELS, Level.NONE):
                        self.misses.labels(outcome.value, level.value, track.value, basis)
        for state in DeliveryState:
            self.pages.labels("none", state.value, "none")
        for standing in IncidentState:
            self.incidents.labels("none", standing.value)
        by_one_label: tuple[tuple[Counter, type[StrEnum]], ...] = (
            (self.page_admissions, AdmissionReason),
            (self.dead_letters, Reason),
            (self.gaps, Gap),
        )
        for counter, words in by_one_label:
            for word in words:
                counter.labels(word.value)
        for role in (Role.USER, Role.ASSISTANT):
            self.degraded_turns.labels(role.value)
        self.publishing.set(1)
        self.store_up.set(1)  # until it has been asked: the encoder may be prepared for minutes before
        self.line_stopped.set(0)
        self.outbox_oldest.set(0)
        self.erasure_oldest.set(0)

    def bear(self, *who: str) -> None:
        """Bear every label set that can page at 0, at its first turn: of a track, a release, a language and a basis."""
        new, lost = self._speaking.use(who)
        if lost is not None:
            for family in (self.turns, self.crisis_turns, self.outcomes, self.emotion_points):
                family.remove_by_labels(dict(zip(WHO, lost, strict=True)))
        if not new:
            return
        for level in CRISIS_LEVELS:
            self.crisis_turns.labels(level.value, *who)
        for outcome in VERDICTS:
            self.outcomes.labels(outcome.value, *who)

    def _forget(self, pair: Pair) -> None:
        families: Iterable[Counter | Histogram] = (
            self.turns,
            self.crisis_turns,
            self.outcomes,
            self.reply_flags,
            self.repeated_replies,
            self.emotion_points,
            self.scale_score,
            self.reply_latency,
            self.continuation,
            self.feedback,
            self.own_labels,
            self.boundaries,
        )
        track, release = pair
        for family in families:
            family.remove_by_labels({"track": track, "release": release})
        self._speaking.drop(lambda who: who[:2] == pair)
