"""Records to turns: one decoder a format, a named reason for whatever cannot be read."""

from __future__ import annotations

from monitor.decode.decoder import Decoded, Decoder, Pseudonymise, attempt
from monitor.decode.registry import find_decoder
from monitor.decode.rejection import Reason, Rejected

__all__ = ["Decoded", "Decoder", "Pseudonymise", "Reason", "Rejected", "attempt", "find_decoder"]
