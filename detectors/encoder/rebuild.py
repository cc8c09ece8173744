"""Packed weights to a genuine SentenceTransformer directory (BERT, mean pooling, normalise). Needs torch."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from torch import nn
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

from detectors.encoder.errors import WeightsError
from detectors.encoder.packed import PackedWeights, Shape, Vocabulary

PROMPTS: Final = {"query": "query: ", "passage": "passage: "}

# packed name of a layer's tensor → name in BertModel
_LAYER: Final = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
_EMBEDDINGS: Final = {
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}


def rebuild(weights: PackedWeights, target: Path, on_tensor: Callable[[int, int], None]) -> None:
    """Write the directory ``target``: float16 on disk, loaded as float32 by anyone who opens it."""
    shape, limit = weights.shape, weights.shape.positions
    seed = target / "seed"
    # the module's constructor only reads from a disk: a one-layer network stands in there, to spare 225 MB of writing
    stand_in = replace(shape, layers=1, vocabulary=len(PROMPTS), feed_forward=1)
    BertModel(_configure(stand_in, 1, 0)).save_pretrained(seed)
    build_tokenizer(weights.vocabulary, limit).save_pretrained(seed)
    transformer = Transformer(str(seed), max_seq_length=limit)
    transformer.model = _build_network(weights, on_tensor)
    pooling = Pooling(shape.hidden, pooling_mode="mean")
    model = SentenceTransformer(modules=[transformer, pooling, Normalize()], prompts=PROMPTS, device="cpu")
    model.save(str(target), create_model_card=False)
    shutil.rmtree(seed)
    # float16 keeps the disk small; arithmetic in it would be slow and coarse on a CPU
    config = target / "config.json"
    settings = json.loads(config.read_bytes())
    settings["dtype"] = "float32"
    config.write_text(json.dumps(settings, indent=2), encoding="utf-8")


def build_tokenizer(vocabulary: Vocabulary, limit: int) -> PreTrainedTokenizerFast:
    """XLM-R's tokenizer: NMT and NFKC, ``▁`` before each word, Unigram, ``<s> … </s>``."""
    pieces = vocabulary.pieces
    bos, eos, pad, unk = (pieces[i] for i in (vocabulary.bos, vocabulary.eos, vocabulary.pad, vocabulary.unk))
    tokenizer = Tokenizer(
        models.Unigram(
            list(zip(pieces, vocabulary.scores, strict=True)), unk_id=vocabulary.unk, byte_fallback=False
        )
    )
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")]
    )
    tokenizer.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{bos} $A {eos}",
        pair=f"{bos} $A {eos} {eos} $B {eos}",
        special_tokens=[(bos, vocabulary.bos), (eos, vocabulary.eos)],
    )
    fast: Any = PreTrainedTokenizerFast
    dressed: PreTrainedTokenizerFast = fast(
        tokenizer_object=tokenizer,
        bos_token=bos,
        cls_token=bos,
        eos_token=eos,
        sep_token=eos,
        pad_token=pad,
        unk_token=unk,
        mask_token=pieces[-1],
        model_max_length=limit,
        model_input_names=["input_ids", "attention_mask"],
    )
    return dressed


def _build_network(weights: PackedWeights, on_tensor: Callable[[int, int], None]) -> nn.Module:
    shape = weights.shape
    names = dict(_EMBEDDINGS)
    for layer in range(shape.layers):
        for packed, ours in _LAYER.items():
            names[f"l{layer}.{packed}.w"] = f"encoder.layer.{layer}.{ours}.weight"
            names[f"l{layer}.{packed}.b"] = f"encoder.layer.{layer}.{ours}.bias"
    # the file may hold fewer token types than its header says; only type 0 is ever used
    types = weights.entries["emb.type"].weights // shape.hidden if "emb.type" in weights.entries else 1
    with torch.device("meta"):
        network = BertModel(_configure(shape, types, weights.vocabulary.pad))
    sizes = {name: tensor.shape for name, tensor in network.state_dict().items()}
    state = {}
    for done, (packed, ours) in enumerate(names.items(), start=1):
        state[ours] = _as_tensor(packed, weights.tensor(packed), sizes[ours])
        on_tensor(done, len(names))
    # the pooler is not in the file and not in use; zeros keep loaders from inventing one
    state |= {name: torch.zeros(size) for name, size in sizes.items() if name.startswith("pooler.")}
    # only its buffers matter: every weight is replaced
    full: nn.Module = BertModel(_configure(shape, types, weights.vocabulary.pad))
    full.load_state_dict(state, assign=True)
    full.train(mode=False)
    return full.half()


def _as_tensor(name: str, flat: NDArray[np.float32], size: torch.Size) -> torch.Tensor:
    if flat.size != size.numel():
        raise WeightsError(
            f"tensor {name} of the weights file has another size than its header says: fetch it again"
        )
    return torch.from_numpy(flat).reshape(size)


def _configure(shape: Shape, token_types: int, pad: int) -> BertConfig:
    return BertConfig(
        vocab_size=shape.vocabulary,
        hidden_size=shape.hidden,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        intermediate_size=shape.feed_forward,
        max_position_embeddings=shape.positions,
        type_vocab_size=token_types,
        layer_norm_eps=shape.epsilon,
        hidden_act="gelu",
        pad_token_id=pad,
    )
