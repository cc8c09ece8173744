"""What every pager is told by its configuration. URLs and keys are secrets: a webhook's URL often is its key."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr

from alerts.wording import Lang

LONGEST_REQUEST = timedelta(seconds=9)
Name = Annotated[str, Field(pattern=r"^[a-z0-9_-]{1,64}$")]


class PagerSettings(BaseModel):
    """``name`` is what routes and metrics call this channel. ``time_limit`` bounds one whole request.

    Longer than 9 s is refused: the next channel is due within 30 s (``RetryPolicy``).
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    name: Name
    lang: Lang = "en"
    time_limit: timedelta = Field(default=timedelta(seconds=8), gt=timedelta(0), le=LONGEST_REQUEST)


def _http_url(url: SecretStr) -> SecretStr:
    try:
        parts = urlsplit(url.get_secret_value())
        good = (
            parts.scheme in ("http", "https")
            and bool(parts.hostname)
            and (parts.port is None or parts.port > 0)
        )
    except ValueError:
        good = False
    if not good:
        raise ValueError("this is no URL that starts with http:// or https:// and names a host")
    return url


def _filled(secret: SecretStr) -> SecretStr:
    """An empty one is a file that was never filled: every page would be refused, and nobody told before."""
    if not secret.get_secret_value().strip():
        raise ValueError("this secret is empty; fill it, or leave the setting out")
    return secret


Secret = Annotated[SecretStr, AfterValidator(_filled)]
SecretUrl = Annotated[SecretStr, AfterValidator(_http_url)]
