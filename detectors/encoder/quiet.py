"""Keeps transformers' progress bars and advice off the terminal while a model loads; errors still come through."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from transformers.utils import logging

# without types of its own
transformers_logging: Any = logging


@contextmanager
def hush() -> Iterator[None]:
    """Silence warnings and progress bars below errors; what the caller had set comes back."""
    level = transformers_logging.get_verbosity()
    bars = transformers_logging.is_progress_bar_enabled()
    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        transformers_logging.set_verbosity(level)
        if bars:
            transformers_logging.enable_progress_bar()
