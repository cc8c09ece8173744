"""What is trained: the encoder's upper layers, a linear head for each label, and a small reader of earlier turns.

The reader never sees text. Each turn leaves a short memory (``MEMORY`` numbers); a gated recurrent unit (Cho et al.
2014) goes over the memories of the turns before, and what it makes of them is added to what the turn says by itself.
So one pass of the encoder serves a turn for good, and a conversation can be judged anew without its words (M7).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import Tensor, nn

from detectors.finding import CRISIS_LEVELS, Cue, Emotion, Level
from detectors.training.vocabulary import KINDS, TRENDS

LEVELS: Final = (Level.NONE, *CRISIS_LEVELS)
MEMORY: Final = 48
HIDDEN: Final = 96
REACH: Final = 8  # earlier turns that are read
_ROLES: Final = 2
HEADS: Final = {
    "crisis": 1,
    "level": len(LEVELS),
    "distress": 1,
    "emotions": len(Emotion),
    "cues": len(Cue),
    "kind": len(KINDS),
}
CONTEXT: Final = {"crisis": 1, "level": len(LEVELS), "distress": 1, "trend": len(TRENDS)}


@dataclass(frozen=True, slots=True)
class Turns:
    """A batch of conversations, their texts by row.

    ``texts`` (n, length, hidden) lower states of users' turns, ``mask`` (n, length); ``replies`` and ``replies_mask`` the
    same of the assistant's, whose rows come after them; ``current`` (b) the row judged; ``before`` (b, REACH) earlier rows, oldest first, −1 where there is none;
    ``roles`` (b, REACH) 0 user, 1 assistant.
    """

    texts: Tensor
    mask: Tensor
    replies: Tensor
    replies_mask: Tensor
    current: Tensor
    before: Tensor
    roles: Tensor


class Network(nn.Module):
    """``upper`` are BERT layers; they are trained in place."""

    def __init__(self, upper: nn.ModuleList, hidden: int) -> None:
        super().__init__()
        self.upper = upper
        self.scale = hidden**0.5  # unit vectors are small for a linear layer
        self.heads = nn.ModuleDict({name: nn.Linear(hidden, size) for name, size in HEADS.items()})
        self.memory = nn.Linear(hidden, MEMORY)
        self.reader = nn.GRUCell(MEMORY + _ROLES, HIDDEN)
        self.judge = nn.Sequential(
            nn.Linear(HIDDEN + MEMORY + len(LEVELS) + 1, HIDDEN), nn.Tanh(), nn.Dropout(0.1)
        )
        self.context = nn.ModuleDict({name: nn.Linear(HIDDEN, size) for name, size in CONTEXT.items()})
        for weight in self.context.parameters():  # the first word is the turn's own
            nn.init.zeros_(weight)
        self.dropout = nn.Dropout(0.1)

    def encode(self, states: Tensor, mask: Tensor) -> Tensor:
        """Lower states to unit vectors (n, hidden)."""
        shut = (1.0 - mask[:, None, None, :].to(states.dtype)) * torch.finfo(states.dtype).min
        for layer in self.upper:
            out: Any = layer(states, attention_mask=shut)
            states = out[0] if isinstance(out, tuple) else out
        weight = mask[:, :, None].to(states.dtype)
        mean = (states * weight).sum(1) / weight.sum(1)
        return nn.functional.normalize(mean, dim=-1)

    def forward(self, batch: Turns) -> tuple[dict[str, Tensor], dict[str, Tensor], Tensor]:
        """What the judged turns say by themselves, what they say in context, and all unit vectors."""
        vectors = self.encode(batch.texts, batch.mask)
        if len(batch.replies):
            # what the assistant says is only remembered: a third of the price, and the encoder learns from people
            with torch.no_grad():
                said = self.encode(batch.replies, batch.replies_mask)
            vectors = torch.cat([vectors, said])
        scaled = self.dropout(vectors * self.scale)
        now = scaled[batch.current]
        alone = {name: head(now) for name, head in self.heads.items()}
        memories = torch.tanh(self.memory(vectors * self.scale))
        state = self.read(memories, batch.before, batch.roles)
        # a conversation's label is of its last turn given the others: it must not teach that turn's words alone
        said_alone = {name: found.detach() for name, found in alone.items()}
        told = torch.cat([state, memories[batch.current], said_alone["crisis"], said_alone["level"]], dim=-1)
        judged = self.judge(told)
        heard = (batch.before[:, -1:] >= 0).to(judged.dtype)  # without earlier turns nothing is added
        added = {name: head(judged) * heard for name, head in self.context.items()}
        whole = {name: said_alone[name] + added[name] if name in alone else added[name] for name in added}
        return alone, whole, vectors

    @torch.inference_mode()
    def memories(self, batch: Turns) -> Tensor:
        """What the judged turns leave behind (b, MEMORY)."""
        vectors = self.encode(batch.texts, batch.mask)[batch.current]
        return torch.tanh(self.memory(vectors * self.scale))

    def read(self, memories: Tensor, before: Tensor, roles: Tensor) -> Tensor:
        """Go over the earlier turns (b, REACH) and return the state (b, HIDDEN)."""
        state = memories.new_zeros(len(before), HIDDEN)
        for step in range(before.shape[1]):
            there = before[:, step] >= 0
            if not there.any():
                continue
            rows = memories[before[:, step].clamp(min=0)]
            role = nn.functional.one_hot(roles[:, step], _ROLES).to(rows.dtype)
            moved = self.reader(torch.cat([rows, role], dim=-1), state)
            state = torch.where(there[:, None], moved, state)
        return state
