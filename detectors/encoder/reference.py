"""The reference engine: SentenceTransformer in float32. Slow and exact; the int8 engine is measured against it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sentence_transformers import SentenceTransformer

from detectors.encoder.adapter import apply
from detectors.encoder.errors import NonFiniteRowError, WeightsError
from detectors.encoder.quiet import hush
from detectors.encoder.rows import PREFIX, RowMaker
from detectors.ports import Vectors


class ReferenceEngine:
    """Reads a SentenceTransformer directory. See ``detectors.ports.Encoder``.

    ``model`` is the SentenceTransformer itself, for training and export; its torch module is ``model[0].model``.
    Raises ``WeightsError`` when the directory cannot be loaded.
    """

    def __init__(self, directory: Path, *, adapter: Path | None = None, remembered: int = 0) -> None:
        self.model = load_model(directory)
        network: Any = self.model[0].model
        if adapter is not None:
            apply(network, adapter)
        self.dimension: int = network.config.hidden_size
        self._rows = RowMaker(self._embed, self.dimension, remembered=remembered)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return shape (len(texts), dimension), float32, rows of length 1; the same text, the same bits."""
        return self._rows.make(texts)

    def _embed(self, text: str) -> Vectors:
        row: Vectors = self.model.encode(
            PREFIX + text, prompt="", normalize_embeddings=True, show_progress_bar=False
        )
        if not np.isfinite(row).all():
            raise NonFiniteRowError("the engine gave no finite row for a text: prepare the encoder again")
        return row


def load_model(directory: Path, **model_kwargs: Any) -> SentenceTransformer:
    """Load a directory in float32 on the CPU, without a word on the terminal and without asking any hub."""
    try:
        with hush():
            model = SentenceTransformer(
                str(directory),
                device="cpu",
                local_files_only=True,
                model_kwargs={"dtype": torch.float32, **model_kwargs},
            )
    except Exception as error:  # transformers raises whatever its readers raise
        raise WeightsError(
            f"{directory} holds no SentenceTransformer model: it cannot be loaded, prepare the encoder again"
        ) from error
    # a user may write "</s>"; it is text, not the end of it
    model.tokenizer.backend_tokenizer.encode_special_tokens = True
    return model.eval()
