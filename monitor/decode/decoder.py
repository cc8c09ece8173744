"""What every decoder gives, whatever its format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from detectors.turn import Turn
from monitor.decode.rejection import Reason, Rejected
from monitor.errors import JiezhuError

Pseudonymise = Callable[[str, str], str]
"""Kind (``event``, ``conversation``, ``user``, ``message``, ``digest``) and raw text to a pseudonym."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """``unknown`` counts the fields that were left out, ``repaired`` the signs that could not be kept."""

    turn: Turn
    unknown: int = 0
    repaired: int = 0


class Decoder(Protocol):
    def decode(
        self, value: bytes | None, *, now: datetime, pseudonymise: Pseudonymise, sequence: int
    ) -> Decoded:
        """Raises Rejected. ``sequence`` is the record's position in its partition."""
        ...


def attempt(
    decoder: Decoder, value: bytes | None, *, now: datetime, pseudonymise: Pseudonymise, sequence: int
) -> Decoded | Rejected:
    """One record, by itself: whatever is wrong with it, its neighbours go on.

    A decoder that breaks makes a dead letter of this one record; its exception is dropped, as it may hold
    the record's words. Errors of ours (a key that is missing, say) are no fault of the record and go up.
    """
    try:
        return decoder.decode(value, now=now, pseudonymise=pseudonymise, sequence=sequence)
    except Rejected as rejected:
        return rejected
    except JiezhuError:
        raise
    except Exception:  # noqa: BLE001 - see above
        return Rejected(Reason.DECODER_FAILED)
