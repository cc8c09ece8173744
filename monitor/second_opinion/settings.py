"""Where a second opinion comes from, on which replies, and what it may cost."""

from __future__ import annotations

from datetime import timedelta

from pydantic import BaseModel, ConfigDict, Field

from alerts.pagers.settings import Secret, SecretUrl


class SecondOpinionSettings(BaseModel):
    """Any endpoint of the OpenAI chat-completions form. What it is asked about leaves this machine.

    ``share`` of the replies are asked about as a sample; with ``doubtful`` all those on which our own judge is not sure.
    After ``most_tokens`` (as the endpoint counts them) or ``most_requests`` nothing more is asked in this run.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: SecretUrl | None = None  # such as https://host/v1/chat/completions; None: no second opinion
    key: Secret | None = None
    model: str = Field("default", min_length=1)
    share: float = Field(0.0, ge=0, le=1)
    doubtful: bool = True
    seconds: float = Field(20.0, gt=0, le=300)
    at_once: int = Field(4, ge=1, le=64)
    most_requests: int = Field(1_000, ge=0)
    most_tokens: int = Field(1_000_000, ge=0)

    @property
    def time_limit(self) -> timedelta:
        return timedelta(seconds=self.seconds)
