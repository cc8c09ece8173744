"""What can go wrong between a name of weights and a row of numbers; every message is one line and says what to do."""

from __future__ import annotations


class EncoderError(Exception):
    """The encoder cannot be had or cannot be trusted."""


class SourceError(EncoderError):
    """The weights cannot be found or fetched: a wrong name, no network, no pip."""


class WeightsError(EncoderError):
    """The weights are there but are not what they should be: damaged, cut short, of another kind."""


class CacheError(EncoderError):
    """The cache directory cannot be read or written."""


class BuildError(EncoderError):
    """Rebuilding, exporting or quantising failed."""


class NonFiniteRowError(EncoderError):
    """The engine gave NaN or infinity for a text; a score made of it would be silence."""
