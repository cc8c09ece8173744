"""An app's notes, bounded: of labels, feedback, cohort and voice only what is counted is read. Never fails. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, TypeVar

from detectors.finding import Emotion
from detectors.notes import NOTHING, Cohort, Notes, Voice
from monitor.decode.event import AssistantLabels, Event

W = TypeVar("W", bound=StrEnum)

# Words of other label sets for our sixteen emotions. A word that is in neither is an emotion that cannot be compared.
_ALSO: Final = {
    Emotion.SADNESS: ("sad", "grief", "悲伤", "难过", "伤心"),
    Emotion.ANXIETY: ("anxious", "worry", "worried", "焦虑", "担心"),
    Emotion.FATIGUE: ("tired", "exhausted", "exhaustion", "疲惫", "疲劳", "累"),
    Emotion.ANGER: ("angry", "愤怒", "生气"),
    Emotion.LOW_MOOD: ("depressed", "depression", "low", "低落", "抑郁"),
    Emotion.GRIEVANCE: ("wronged", "aggrieved", "委屈"),
    Emotion.FEAR: ("afraid", "scared", "恐惧", "害怕"),
    Emotion.UNEASE: ("uneasy", "nervous", "不安", "紧张"),
    Emotion.IRRITABILITY: ("irritable", "irritated", "烦躁"),
    Emotion.SHAME: ("ashamed", "羞耻", "羞愧"),
    Emotion.LONELINESS: ("lonely", "孤独"),
    Emotion.NUMBNESS: ("numb", "麻木"),
    Emotion.GUILT: ("guilty", "内疚", "自责"),
    Emotion.HOPE: ("hopeful", "希望"),
    Emotion.RELIEF: ("relieved", "释然"),
    Emotion.JOY: ("happy", "happiness", "joyful", "高兴", "开心"),
}
_EMOTIONS: Final = {word: emotion for emotion, also in _ALSO.items() for word in (emotion.value, *also)}
_LABELS: Final = 16  # emotions of one reply that are looked at
_GOOD, _BAD, _BEST = 4, 2, 5  # marks of a session, 1 to 5


def notes_of(event: Event) -> Notes | None:
    """None where there is nothing that we count."""
    feedback = event.feedback or {}
    labels = event.assistant or AssistantLabels()
    given = [labels.emotion] if isinstance(labels.emotion, str) else labels.emotion or []
    words = [word.strip().lower() for word in given[:_LABELS] if word.strip()]
    found = Notes(
        labelled=event.assistant is not None and bool(event.assistant.model_dump(exclude_none=True)),
        emotion=bool(words),
        emotions=tuple(dict.fromkeys(_EMOTIONS[word] for word in words if word in _EMOTIONS)),
        strategy=bool(labels.strategy),
        safety=labels.safety_triggered,
        knowledge=labels.knowledge_hit,
        helpful=_helpful(feedback.get("helpful")),
        returned=_yes(feedback.get("returned")),
        cohort=_word(event.cohort, "expression", Cohort, Cohort.OTHER),
        voice=_word(event.voice, "tone", Voice, Voice.OTHER),
    )
    return None if found == NOTHING else found


def _helpful(given: object) -> bool | None:
    """Yes or no, or a mark of 1 to 5: four and five are helpful, one and two are not, three says neither."""
    if isinstance(given, bool):
        return given
    if not isinstance(given, int | float) or not 1 <= given <= _BEST:
        return None
    return True if given >= _GOOD else False if given <= _BAD else None


def _yes(given: object) -> bool | None:
    return given if isinstance(given, bool) else None


def _word(part: Mapping[str, Any] | None, name: str, words: type[W], other: W) -> W | None:
    given = (part or {}).get(name)
    if not isinstance(given, str) or not given:
        return None
    word = given.strip().lower()
    return words(word) if word in set(words) else other
