"""The native event, version 1 (DESIGN §4). The published JSON Schema is made from this model."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from detectors.turn import Role, Track

DIALECT = "https://json-schema.org/draft/2020-12/schema"
IDENTITY = "urn:jiezhu:event:1"
LARGEST_TURN = 2**31 - 1

Id = Annotated[str, Field(min_length=1)]


class _Part(BaseModel):
    """Strict: a number in quotation marks is a mistake of the producer, which should hear of it."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True, hide_input_in_errors=True)


class AssistantLabels(_Part):
    """What the assistant itself says about its reply."""

    emotion: str | list[str] | None = Field(None, description="Emotion that the assistant saw in the user.")
    strategy: str | None = Field(None, description="Way of answering that it chose.")
    safety_triggered: bool | None = Field(None, description="Its own safety path was taken.")
    knowledge_hit: bool | None = Field(None, description="It answered from a knowledge base.")


class ProbeMark(_Part):
    """Marks a turn of a scripted conversation, so that it counts apart from real people."""

    script: str | None = Field(None, description="Name of the script.")
    run: str | int | None = Field(None, description="One playing of the script.")
    round: Annotated[int, Field(ge=0)] | None = Field(None, description="Round within the run.")
    expect: dict[str, JsonValue] | None = Field(
        None, description="What should be found: emotion, crisis level, should_ask and the like."
    )


class Event(_Part):
    """One message of a conversation. Fields that are not listed are counted and left out."""

    model_config = ConfigDict(title="TurnEventV1")

    event_id: Id = Field(description="Unique for ever. An event with an id that was seen before is ignored.")
    conversation_id: Id = Field(
        description="Any string; also the record's key, so that a conversation stays in order. Pseudonymised at once."
    )
    user_ref: Id | None = Field(
        None, description="Any string that stands for the user. Pseudonymised at once."
    )
    role: Role = Field(strict=False, description="Who speaks.")
    text: str = Field(description="The message. Empty is allowed: an empty reply is no help.")
    at: Annotated[str, Field(json_schema_extra={"format": "date-time"})] | int | float = Field(
        description="When it was said: RFC 3339 with an offset, or milliseconds since 1970. "
        "At most one day ahead, not before 2000."
    )
    turn: Annotated[int, Field(ge=0, le=LARGEST_TURN)] | None = Field(
        None, description="Number of the message in the conversation, if the producer counts."
    )
    message_id: Id | None = Field(None, description="Joins the pieces of a streamed message.")
    final: bool | None = Field(
        None,
        description="Streaming: false for a piece, true for the last one. Absent if the message is whole.",
    )
    release: str | None = Field(
        None, description="Version of the assistant; the first 128 characters count. Absent: unknown."
    )
    track: Track | None = Field(None, strict=False, description="Where it runs. Absent: production.")
    app: str | None = Field(None, description="Which app; the first 128 characters count.")
    lang: str | None = Field(None, description="Language of the text, BCP 47.", examples=["zh-Hans", "en"])
    region: str | None = Field(
        None, description="Where the user is, ISO 3166; chooses helplines.", examples=["CN", "US"]
    )
    latency_ms: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = Field(
        None, description="Time that the app took to answer, in milliseconds, as it measured it."
    )
    assistant: AssistantLabels | None = Field(None, description="The assistant's own labels.")
    probe: ProbeMark | None = Field(None, description="Present only in scripted conversations.")
    feedback: dict[str, JsonValue] | None = Field(
        None,
        description="What is known after the session. Counted: helpful (true, false, or a mark of 1 to 5) "
        "and returned (whether the user came back).",
    )
    cohort: dict[str, JsonValue] | None = Field(
        None, description="Coarse groups, never identity. Counted: expression (terse, open)."
    )
    voice: dict[str, JsonValue] | None = Field(
        None,
        description="Tone and pauses, where the user spoke. Counted: tone (calm, tense, flat, tearful, agitated).",
    )


FIELDS = frozenset(Event.model_fields)


def published_schema() -> dict[str, Any]:
    """JSON Schema, draft 2020-12, as committed in ``schema_v1.json``."""
    return {"$schema": DIALECT, "$id": IDENTITY, **Event.model_json_schema(mode="validation")}
