"""One training example: what was said, and whatever is known of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from detectors.finding import Criterion, Cue, Emotion, EmotionNamed, Flag, Level, Outcome
from detectors.turn import Role


@dataclass(frozen=True, slots=True)
class Said:
    role: Role
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class ReplyLabels:
    """How a reply was judged by two readers, in tuples of one order.

    ``criteria`` are met by the first one's reading; ``flags`` both named, ``maybe`` one of them; ``doubtful`` names a
    criterion, the outcome or the emotion on which they differ. ``scale_a`` are marks 0-4 by dimension, None where a
    dimension does not apply.
    """

    outcome: Outcome
    criteria: tuple[Criterion, ...]
    flags: tuple[Flag, ...]
    maybe: tuple[Flag, ...]
    doubtful: tuple[str, ...]
    emotion_named: EmotionNamed
    scale_a: tuple[tuple[str, int | None], ...]


@dataclass(frozen=True, slots=True)
class Example:
    """``turns`` end with the turn that is judged. None where a label is not known: that task learns nothing here.

    ``weight`` multiplies every loss of the example. ``group`` keeps variants of one idea together, in one batch and
    on one side of every split. ``source`` names the file, ``part`` its slice. ``by_itself`` is the level of the last turn's
    words alone, where a reader gave both. ``reply``: the text is an assistant's, judged so.
    """

    source: str
    group: str
    lang: str
    turns: tuple[Said, ...]
    crisis: bool | None = None
    level: Level | None = None
    by_itself: Level | None = None
    distress: int | None = None
    emotions: frozenset[Emotion] | None = None
    cues: frozenset[Cue] | None = None
    kind: str | None = None
    trend: str | None = None
    part: str | None = None
    weight: float = 1.0
    held_out: bool = False
    reply: ReplyLabels | None = None

    @property
    def text(self) -> str:
        return self.turns[-1].text

    @property
    def single(self) -> bool:
        return len(self.turns) == 1

    def alone(self) -> Example | None:
        """The last turn without the others; None where nobody said what it is then."""
        if self.single:
            return self
        if self.by_itself is None:
            return None
        same = self.by_itself is self.level
        return replace(
            self,
            turns=self.turns[-1:],
            crisis=self.by_itself.crisis,
            level=self.by_itself,
            distress=self.distress if same else None,
            emotions=None,
            cues=None,
            trend=None,
        )
