"""The obfuscated rows: a seeded share of the clean ones, each hidden in one way, on the side its family is on."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from dataclasses import replace

from detectors.finding import Cue
from detectors.training.example import Example, Said
from detectors.training.obfuscate import common_signs, obfuscate, ways
from detectors.turn import Role

_LANGUAGES = ("zh", "en")
_SHORTEST = 6  # characters; less leaves nothing to read


def hidden_rows(examples: Sequence[Example], share: float) -> list[Example]:
    """About ``share`` of the single zh and en turns, hidden. The same rows give the same result in any order."""
    common = common_signs(example.text for example in examples if example.lang == "zh")
    out = []
    for example in examples:
        seed = hashlib.sha256(example.text.encode()).digest()
        source = random.Random(seed)  # noqa: S311 - a choice, no secret
        if example.lang not in _LANGUAGES or not example.single or example.kind is None:
            continue
        if (
            source.random() >= share
            or len(example.text) < _SHORTEST
            or Cue.OBFUSCATED in (example.cues or ())
        ):
            continue
        choices = [*ways(example.lang, common), *(["slang", "slang"] if example.lang == "en" else [])]
        source.shuffle(choices)
        for way in choices:
            text = obfuscate(example.text, example.lang, way, common, source)
            if text is not None:
                out.append(
                    replace(
                        example,
                        source="hidden",
                        turns=(Said(Role.USER, text),),
                        cues=(example.cues or frozenset()) | {Cue.OBFUSCATED},
                        part=way,
                    )
                )
                break
    return out
