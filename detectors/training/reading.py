"""Training the reader of earlier turns, on vectors of an encoder that is done: minutes, however long the talks are."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, Final

import torch
from torch import Tensor, nn

from detectors.training.batches import TextTable
from detectors.training.course import Course, Progress
from detectors.training.example import Example
from detectors.training.losses import loss
from detectors.training.network import Network
from detectors.training.reader import REACH, ContextReader, Conversations
from detectors.training.states import LowerStates
from detectors.turn import Role

_BATCH: Final = 64
_TOKENS: Final = 4096
_RATE: Final = 1e-3
_DECAY: Final = 0.01
_STRANGE: Final = 1.0  # single turns that get a stranger's small talk before them, for each conversation


@torch.inference_mode()
def vectors_of(network: Network, states: LowerStates, progress: Progress) -> Tensor:
    """Unit vectors of all texts (n, hidden), times the network's scale."""
    network.eval()
    order = sorted(range(len(states.lengths)), key=lambda row: int(states.lengths[row]))
    found: list[Any] = [None] * len(order)
    done = 0
    while done < len(order):
        longest = int(states.lengths[order[min(len(order) - 1, done + _BATCH - 1)]])
        some = order[done : done + max(1, min(_BATCH, _TOKENS // longest))]
        for row, vector in zip(some, network.encode(*states.batch(some)), strict=True):
            found[row] = vector
        done += len(some)
        progress("vectors", done, len(order), {})
    scaled: Tensor = torch.stack(found) * network.scale
    return scaled


def train_reader(
    reader: ContextReader,
    network: Network,
    examples: Sequence[Example],
    table: TextTable,
    vectors: Tensor,
    course: Course,
    progress: Progress,
) -> None:
    """Train ``reader`` in place on the examples that have earlier turns; ``network`` and ``vectors`` stay as they are.

    So that unrelated talk moves nothing, as many single turns are learnt again behind a stranger's ordinary talk.
    """
    torch.manual_seed(course.seed)
    source = random.Random(course.seed)  # noqa: S311 - an order, no secret
    told = [one for one in examples if not one.single]
    if not told:
        return
    single = [one for one in examples if one.single and one.crisis is not None]
    ordinary = [one.turns[:-1] for one in told if one.crisis is False and one.kind is None]
    with torch.inference_mode():
        said = network.said(vectors)
    vectors, crisis, level, distress = (
        one.clone() for one in (vectors, said["crisis"], said["level"], said["distress"])
    )
    optimiser = torch.optim.AdamW(reader.parameters(), lr=_RATE, weight_decay=_DECAY)
    reader.train()
    for epoch in range(course.reader_epochs):
        rows = [*told, *_behind_strangers(single, ordinary, len(told), source)]
        batches = _batches(rows, source)
        for group in optimiser.param_groups:
            group["lr"] = _RATE * max(0.05, 1 - epoch / course.reader_epochs)
        for batch in batches:
            some = [rows[i] for i in batch]
            talk = conversations(some, table, vectors, crisis, level)
            found = reader(talk)
            found["distress"] = found["distress"] + distress[talk.current]
            value, parts = loss(some, found)
            optimiser.zero_grad()
            value.backward()  # type: ignore[no-untyped-call]  # torch
            nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
            optimiser.step()
        progress("train in context", epoch + 1, course.reader_epochs, parts)
    reader.eval()


def _behind_strangers(
    single: Sequence[Example], ordinary: Sequence[Any], most: int, source: random.Random
) -> list[Example]:
    if not ordinary:
        return []
    some = source.sample(single, min(len(single), int(most * _STRANGE)))
    return [
        Example(
            one.source,
            one.group,
            one.lang,
            (*source.choice(ordinary), *one.turns),
            crisis=one.crisis,
            level=one.level,
            distress=one.distress,
            weight=one.weight,
        )
        for one in some
    ]


def _batches(rows: Sequence[Example], source: random.Random) -> list[list[int]]:
    """Families whole, in a new order each time."""
    families: dict[str, list[int]] = {}
    for i, row in enumerate(rows):
        families.setdefault(row.group, []).append(i)
    shuffled = list(families.values())
    source.shuffle(shuffled)
    flat = [i for family in shuffled for i in family]
    return [flat[start : start + _BATCH] for start in range(0, len(flat), _BATCH)]


def conversations(
    examples: Sequence[Example], table: TextTable, vectors: Tensor, crisis: Tensor, level: Tensor
) -> Conversations:
    """Where each text of some examples stands in the table."""
    current, before, roles = [], [], []
    for example in examples:
        *earlier, now = example.turns[-REACH - 1 :]
        gap = REACH - len(earlier)
        current.append(table.row(now))
        before.append([-1] * gap + [table.row(one) for one in earlier])
        roles.append([0] * gap + [int(one.role is not Role.USER) for one in earlier])
    return Conversations(
        vectors, crisis, level, torch.tensor(current), torch.tensor(before), torch.tensor(roles)
    )
