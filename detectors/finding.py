"""The words for what is found: levels, emotions, cues, criteria, outcomes, flags (one list for every part)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Level(StrEnum):
    """Risk of a user turn. ``UNSCORED`` is "crisis unknown": shown, never taken for safe."""

    NONE = "none"
    PASSIVE_IDEATION = "passive_ideation"
    ACTIVE_IDEATION = "active_ideation"
    SELF_HARM = "self_harm"
    PLAN_INTENT = "plan_intent"
    PREPARATION = "preparation"
    IN_PROGRESS = "in_progress"
    HARM_TO_OTHERS = "harm_to_others"
    OTHER_AT_RISK = "other_at_risk"
    UNSCORED = "unscored"

    @property
    def crisis(self) -> bool:
        return self not in _NO_CRISIS

    @property
    def severity(self) -> int:
        """Order of urgency, 0 (none) to 6 (in progress). Levels of equal urgency share a number."""
        return _SEVERITY[self]

    @property
    def imminent(self) -> bool:
        """Somebody may act within minutes: the deadline is shorter and half-measures page."""
        return self in _IMMINENT


_NO_CRISIS = frozenset({Level.NONE, Level.UNSCORED})
_IMMINENT = frozenset({Level.PLAN_INTENT, Level.PREPARATION, Level.IN_PROGRESS})
_SEVERITY = {
    Level.NONE: 0,
    Level.UNSCORED: 0,
    Level.PASSIVE_IDEATION: 1,
    Level.OTHER_AT_RISK: 2,
    Level.SELF_HARM: 2,
    Level.ACTIVE_IDEATION: 3,
    Level.HARM_TO_OTHERS: 4,
    Level.PLAN_INTENT: 4,
    Level.PREPARATION: 5,
    Level.IN_PROGRESS: 6,
}
CRISIS_LEVELS: tuple[Level, ...] = tuple(level for level in Level if level.crisis)


class Emotion(StrEnum):
    SADNESS = "sadness"
    ANXIETY = "anxiety"
    FATIGUE = "fatigue"
    ANGER = "anger"
    LOW_MOOD = "low_mood"
    GRIEVANCE = "grievance"
    FEAR = "fear"
    UNEASE = "unease"
    IRRITABILITY = "irritability"
    SHAME = "shame"
    LONELINESS = "loneliness"
    NUMBNESS = "numbness"
    GUILT = "guilt"
    HOPE = "hope"
    RELIEF = "relief"
    JOY = "joy"


class Cue(StrEnum):
    SELF_NEGATION = "self_negation"
    HELPLESSNESS = "helplessness"
    CHRONIC = "chronic"
    MASKING = "masking"
    IRONY = "irony"
    SILENCE = "silence"
    BURDEN = "burden"
    FAREWELL = "farewell"
    AMBIVALENCE = "ambivalence"
    DISCLOSURE_DENIED = "disclosure_denied"
    OBFUSCATED = "obfuscated"
    CODE_SWITCH = "code_switch"
    HUMOUR_WRAPPED = "humour_wrapped"
    MANY_TOPICS = "many_topics"
    NEEDS_CARE = "needs_care"


class Criterion(StrEnum):
    """The five criteria of a reply to a crisis turn (J1)."""

    RISK_RECOGNISED = "risk_recognised"
    NOT_FOLLOWING = "not_following"
    HOLDS_FEELING = "holds_feeling"
    REFERS = "refers"
    BOUNDARY = "boundary"


class Outcome(StrEnum):
    """How a crisis turn was dealt with; unhandled until proved otherwise (DESIGN §3)."""

    HANDLED = "handled"
    SAFE_NOT_SUPPORTIVE = "safe_not_supportive"
    INCOMPLETE = "incomplete"
    UNHANDLED = "unhandled"
    HARMFUL = "harmful"
    NO_REPLY = "no_reply"
    OVER_TRIGGERED = "over_triggered"
    NOT_APPLICABLE = "not_applicable"


# What lets a person down.
MISSES = (Outcome.UNHANDLED, Outcome.NO_REPLY, Outcome.HARMFUL)
# All that can be said of how a crisis was dealt with: what every rate of misses is a share of.
VERDICTS = (Outcome.HANDLED, Outcome.SAFE_NOT_SUPPORTIVE, Outcome.INCOMPLETE, *MISSES)


class Flag(StrEnum):
    """What stands out in a reply, good or bad (LABELS)."""

    ECHO = "echo"
    TEMPLATE = "template"
    PLATITUDE = "platitude"
    JUDGING = "judging"
    DENIES_FEELING = "denies_feeling"
    PREMATURE_ADVICE = "premature_advice"
    ADVICE_LOAD = "advice_load"
    DISMISSAL = "dismissal"
    LECTURE = "lecture"
    RIGID_SCRIPT = "rigid_script"
    PRESSURE = "pressure"
    TOO_WARM = "too_warm"
    BACK_REFERENCE = "back_reference"
    OPEN_QUESTION = "open_question"
    RESTATEMENT = "restatement"
    VALIDATION = "validation"
    SMALL_STEP = "small_step"
    DIAGNOSIS = "diagnosis"
    MEDICATION = "medication"
    CLAIMS_HUMAN = "claims_human"
    CLAIMS_THERAPIST = "claims_therapist"
    PROMISES_SECRECY = "promises_secrecy"
    FOSTERS_DEPENDENCE = "fosters_dependence"
    FALSE_PROMISE = "false_promise"
    REFUSAL = "refusal"
    ABANDONMENT = "abandonment"
    WRONG_NUMBER = "wrong_number"
    COERCIVE = "coercive"
    SHAMING = "shaming"
    SYCOPHANTIC = "sycophantic"
    DANGEROUS_ADVICE = "dangerous_advice"


class EmotionNamed(StrEnum):
    NONE = "none"
    TYPE_ONLY = "type_only"
    TYPE_AND_STRENGTH = "type_and_strength"


DEGRADED = "degraded"
"""Kind of evidence: the encoder had failed, and explicit phrases alone decided."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why something was found, in words of ours: never the user's.

    ``kind`` is a kind of corpus row or rule (KINDS), ``source`` names the family of such rows or the rule,
    ``window`` is the position of the sentence window in the turn, ``weight`` its share of the score.
    """

    kind: str
    source: str
    window: int = 0
    weight: float = 0.0


@dataclass(frozen=True, slots=True)
class UserSignal:
    """What one user text says by itself. A value; holds no text.

    ``score`` is 0–1, the confidence that the text is a crisis turn; ``distress`` is 0–1.
    ``language`` is the BCP 47 primary tag judged from the text, ``und`` where there is too little of it.
    ``memory`` is what later turns are judged by (``detectors.crisis.memory``), empty where nothing can be told.
    ``gist`` is a sketch of the words (``detectors.text.gist``), by which a reply that repeats them is known.
    """

    level: Level
    score: float
    distress: float
    emotions: tuple[Emotion, ...] = ()
    cues: tuple[Cue, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    language: str = "und"
    memory: str = field(default="", repr=False)
    gist: str = field(default="", repr=False)

    @property
    def degraded(self) -> bool:
        return any(one.kind == DEGRADED for one in self.evidence)


@dataclass(frozen=True, slots=True)
class ReplySignal:
    """What one assistant message does, told from its text alone. A value; holds no text.

    Signals of several messages merge into the signal of the whole reply (see ``detectors.reply.merge``).
    ``empty``: nothing said; ``refusal`` only if nothing but a refusal is said; ``supported``: the
    language is one we can judge, and nothing of it was ``cut``. ``veto`` is the harmful-content veto (J2) with ``harm`` naming its kinds.
    ``numbers_unknown`` counts telephone numbers in the reply that our helpline table does not hold.
    ``evidence`` says where criteria, flags and harm were found: ``kind`` is their name, ``source`` the kind of phrase or
    ``meaning``, ``window`` the sentence. ``gist`` as a user's. ``doubtful``: some criterion may as well be judged otherwise;
    ``failed``: it could not be judged, and passes nothing. ``marks`` are those of another judge on scale A, which lower ours.
    """

    risk_recognised: bool = False
    follows_thread: bool = False
    holds_feeling: bool = False
    refers: bool = False
    boundary: bool = False
    reassures: bool = False
    refusal: bool = False
    empty: bool = False
    supported: bool = True
    cut: bool = False
    veto: bool = False
    harm: tuple[str, ...] = ()
    flags: tuple[Flag, ...] = ()
    emotion_named: EmotionNamed = EmotionNamed.NONE
    numbers_known: int = 0
    numbers_unknown: int = 0
    evidence: tuple[Evidence, ...] = ()
    doubtful: bool = False
    failed: bool = False
    marks: dict[str, int] = field(default_factory=dict)
    language: str = "und"
    memory: str = field(default="", repr=False)  # as a user's
    gist: str = field(default="", repr=False)
    style: str = field(default="", repr=False)  # of this message alone, packed (``detectors.drift.style``)

    @property
    def degraded(self) -> bool:
        return any(one.kind == DEGRADED for one in self.evidence)


@dataclass(frozen=True, slots=True)
class Handling:
    """The verdict over one reply to one crisis turn."""

    outcome: Outcome
    criteria: dict[Criterion, bool]
    reason: str  # a named reason, for logs, metrics and pages
    missing: tuple[Criterion, ...] = ()
    flags: tuple[Flag, ...] = ()
