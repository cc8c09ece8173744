"""How earlier turns are read: each leaves ``MEMORY`` numbers, and what they say together is added to the turn's own.

The reader never sees text. A gated recurrent unit (Cho et al. 2014) goes over the memories of the turns before, so a
conversation can be judged anew without its words (M7).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor, nn

from detectors.training.network import LEVELS
from detectors.training.vocabulary import TRENDS

MEMORY: Final = 48
HIDDEN: Final = 96
REACH: Final = 8  # earlier turns that are read
ROLES: Final = 2
CONTEXT: Final = {"crisis": 1, "level": len(LEVELS), "distress": 1, "trend": len(TRENDS)}


@dataclass(frozen=True, slots=True)
class Conversations:
    """``vectors`` (n, hidden) of all texts, scaled; ``crisis`` (n, 1) and ``level`` (n, levels) what each says by itself.

    ``current`` (b) the row judged; ``before`` (b, REACH) earlier rows, oldest first, −1 where there is none; ``roles``
    (b, REACH) 0 user, 1 assistant.
    """

    vectors: Tensor
    crisis: Tensor
    level: Tensor
    current: Tensor
    before: Tensor
    roles: Tensor

    def some(self, rows: Tensor) -> Conversations:
        """The same texts, fewer conversations."""
        return Conversations(
            self.vectors, self.crisis, self.level, self.current[rows], self.before[rows], self.roles[rows]
        )


class ContextReader(nn.Module):
    """What is added to the logits of a turn by the turns before it."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.memory = nn.Linear(hidden, MEMORY)
        self.reader = nn.GRUCell(MEMORY + ROLES, HIDDEN)
        self.judge = nn.Sequential(
            nn.Linear(HIDDEN + MEMORY + len(LEVELS) + 1, HIDDEN), nn.Tanh(), nn.Dropout(0.2)
        )
        self.context = nn.ModuleDict({name: nn.Linear(HIDDEN, size) for name, size in CONTEXT.items()})
        for weight in self.context.parameters():  # the first word is the turn's own
            nn.init.zeros_(weight)
        self.forget = nn.Dropout(0.1)

    def forward(self, batch: Conversations) -> dict[str, Tensor]:
        """Logits of each judged turn in its conversation; those of ``distress`` are what is added."""
        rows = torch.cat([batch.current, batch.before.flatten().clamp(min=0)])
        used = torch.unique(rows)
        place = torch.zeros(len(batch.vectors), dtype=torch.long)
        place[used] = torch.arange(len(used))
        memories = self.memories(self.forget(batch.vectors[used]))
        state = self._read(memories, batch.before, place, batch.roles)
        now, crisis, level = place[batch.current], batch.crisis[batch.current], batch.level[batch.current]
        judged = self.judge(torch.cat([state, memories[now], crisis, level], dim=-1))
        added: dict[str, Tensor] = {name: head(judged) for name, head in self.context.items()}
        return {**added, "crisis": crisis + added["crisis"], "level": level + added["level"]}

    def memories(self, scaled: Tensor) -> Tensor:
        """What texts leave behind (n, MEMORY), from their unit vectors times the network's scale."""
        return torch.tanh(self.memory(scaled))

    def _read(self, memories: Tensor, before: Tensor, place: Tensor, roles: Tensor) -> Tensor:
        """Go over the earlier turns and return the state (b, HIDDEN)."""
        state = memories.new_zeros(len(before), HIDDEN)
        for step in range(before.shape[1]):
            there = before[:, step] >= 0
            if not there.any():
                continue
            rows = memories[place[before[:, step].clamp(min=0)]]
            role = nn.functional.one_hot(roles[:, step], ROLES).to(rows.dtype)
            moved = self.reader(torch.cat([rows, role], dim=-1), state)
            state = torch.where(there[:, None], moved, state)
        return state
