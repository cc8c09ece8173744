"""One training example: what was said, and whatever is known of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from detectors.finding import Cue, Emotion, Level
from detectors.turn import Role


@dataclass(frozen=True, slots=True)
class Said:
    role: Role
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Example:
    """``turns`` end with the user turn that is judged. None where a label is not known: that task learns nothing here.

    ``weight`` multiplies every loss of the example. ``group`` keeps variants of one idea together, in one batch and
    on one side of every split. ``source`` names the file, ``part`` its slice. ``by_itself`` is the level of the last turn's
    words alone, where a reader gave both.
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
