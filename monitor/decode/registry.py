"""Decoders by the name of their format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from monitor.decode.decoder import Decoder
from monitor.decode.native import NativeDecoder
from monitor.errors import ConfigurationError

FORMATS: Mapping[str, Callable[[int], Decoder]] = MappingProxyType({"native": NativeDecoder})


def find_decoder(name: str, max_bytes: int) -> Decoder:
    """Raises ConfigurationError for a format that does not exist."""
    try:
        make = FORMATS[name]
    except KeyError:
        raise ConfigurationError(
            "kafka.format", f"unknown; choose one of {', '.join(sorted(FORMATS))}"
        ) from None
    return make(max_bytes)
