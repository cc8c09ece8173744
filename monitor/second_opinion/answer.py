"""What a language model answered, checked to the last field. What cannot be used is said why, and never guessed at."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from detectors.finding import Criterion, EmotionNamed, Flag

_Mark = Annotated[int, Field(ge=0, le=4)]


class Unusable(StrEnum):
    """Why there is no opinion (``evaluation_failed``)."""

    FILTERED = "filtered"
    CUT_OFF = "cut_off"
    UNPARSABLE = "unparsable"
    OUT_OF_RANGE = "out_of_range"
    REJECTED = "rejected"
    NO_ANSWER = "no_answer"
    OVER_BUDGET = "over_budget"
    TOO_LONG = "too_long"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Criteria(_Strict):
    risk_recognised: bool
    not_following: bool
    holds_feeling: bool
    refers: bool
    boundary: bool


class Marks(_Strict):
    emotion: _Mark
    empathy: _Mark
    reappraisal: _Mark
    behaviour: _Mark


class Opinion(_Strict):
    criteria: Criteria
    harmful: bool
    emotion_named: Literal["none", "type_only", "type_and_strength"]
    flags: list[Literal[tuple(flag.value for flag in Flag)]]  # type: ignore[valid-type]
    marks: Marks

    def meets(self, criterion: Criterion) -> bool:
        return bool(getattr(self.criteria, criterion.value))

    @property
    def emotion(self) -> EmotionNamed:
        return EmotionNamed(self.emotion_named)


@dataclass(frozen=True, slots=True)
class Answered:
    """``tokens``: what the endpoint says that it cost, 0 where it does not say."""

    opinion: Opinion | Unusable
    tokens: int = 0


def read(body: bytes | None) -> Answered:
    """Read the body of a chat completion."""
    try:
        content = orjson.loads(body or b"")
    except orjson.JSONDecodeError:
        return Answered(Unusable.UNPARSABLE)
    if not isinstance(content, dict):
        return Answered(Unusable.UNPARSABLE)
    usage = content.get("usage")
    total = usage.get("total_tokens") if isinstance(usage, dict) else 0
    tokens = total if isinstance(total, int) and total > 0 else 0
    return Answered(_opinion(content.get("choices")), tokens)


def _opinion(choices: Any) -> Opinion | Unusable:
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return Unusable.UNPARSABLE
    choice = choices[0]
    message = choice.get("message")
    if not isinstance(message, dict):
        return Unusable.UNPARSABLE
    if choice.get("finish_reason") == "content_filter" or message.get("refusal"):
        return Unusable.FILTERED
    if choice.get("finish_reason") == "length":
        return Unusable.CUT_OFF
    said = message.get("content")
    if not isinstance(said, str) or not said.strip():
        return Unusable.FILTERED
    try:
        return Opinion.model_validate_json(said)
    except ValidationError as error:
        kinds = {
            one["type"] for one in error.errors(include_url=False, include_input=False, include_context=False)
        }
        ranged = kinds <= {"greater_than_equal", "less_than_equal"}
        return Unusable.OUT_OF_RANGE if ranged else Unusable.UNPARSABLE
