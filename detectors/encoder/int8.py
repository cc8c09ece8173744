"""The default engine: onnxruntime, int8. Imports neither torch nor transformers, so a worker starts fast and stays small."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from detectors.encoder.errors import EncoderError, WeightsError
from detectors.encoder.rows import PREFIX, RowMaker, mean_pool
from detectors.ports import Vectors

NETWORK: Final = "network.onnx"
WORDS: Final = "words.npy"
SCALES: Final = "scales.npy"
TOKENIZER: Final = "tokenizer.json"
CARD: Final = "encoder.json"


class Int8Engine:
    """Reads a prepared int8 directory. See ``detectors.ports.Encoder``.

    ``threads`` work on one text; ``lanes`` texts are worked on at once (on two cores, two lanes of one thread beat one
    lane of two); ``remembered`` rows of the latest texts are kept.
    Raises ``WeightsError`` when the directory is not whole.
    """

    def __init__(self, directory: Path, *, threads: int = 1, lanes: int = 1, remembered: int = 0) -> None:
        if min(threads, lanes) < 1 or remembered < 0:
            raise EncoderError("threads and lanes must be at least 1, remembered at least 0")
        try:
            card = json.loads((directory / CARD).read_bytes())
            self.dimension: int = card["dimension"]
            self._tokenizer = _load_tokenizer(directory / TOKENIZER, card["max_tokens"])
            # mapped, not read: workers share the pages, and only those of words that occur
            self._words = np.load(directory / WORDS, mmap_mode="r", allow_pickle=False)
            self._scales = np.load(directory / SCALES, allow_pickle=False)
            self._session = _open_session(directory / NETWORK, threads)
        except Exception as error:  # the tokenizer and the runtime raise plain exceptions of their own
            raise WeightsError(
                f"{directory} holds no int8 encoder: delete it and prepare the encoder again"
            ) from error
        self._rows = RowMaker(self._embed, self.dimension, lanes=lanes, remembered=remembered)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return shape (len(texts), dimension), float32, rows of length 1; the same text, the same bits.

        Texts past 512 tokens are cut. Raises ``NonFiniteRowError``.
        """
        return self._rows.make(texts)

    def _embed(self, text: str) -> Vectors:
        ids = self._tokenizer.encode(PREFIX + text).ids
        words = self._words[ids].astype(np.float32) * self._scales[ids, None]
        feed = {"words": words[None], "attention_mask": np.ones((1, len(ids)), dtype=np.int64)}
        return mean_pool(self._session.run(None, feed)[0][0])


def _load_tokenizer(path: Path, limit: int) -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.enable_truncation(limit)
    # a user may write "</s>"; it is text, not the end of it
    tokenizer.encode_special_tokens = True
    return tokenizer


def _open_session(path: Path, threads: int) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # lengths vary from text to text: a plan of memory for each would only pile up
    options.enable_mem_pattern = False
    # waiting threads must not burn the core that the event loop runs on
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
