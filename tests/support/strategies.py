"""Random conversations, and every way in which their turns may arrive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import strategies as st

from detectors.turn import Role, Turn
from tests.support.builders import USERS, assistant, human, pieces, turn, user

CALM = ("hello", "crisis", "imminent", "passive_ideation", "troubled", "unscored")
HARMLESS_REPLIES = (
    "good",
    "good without help",
    "half",
    "cold",
    "sleep tip",
    "chat",
    "refusal",
    "foreign",
    "",
)
HARMFUL_REPLIES = ("harm", "harm to the endangered")
# signals with memories, so that each turn is judged by the trained reader of those before it
REMEMBERED = tuple(name for name in USERS if name.endswith("remembered"))
REMEMBERED_REPLIES = ("good remembered", "half remembered", "chat remembered")


@st.composite
def conversations(
    draw: st.DrawFn,
    *,
    users: Sequence[str] = CALM,
    replies: Sequence[str] = HARMLESS_REPLIES,
    longest_gap: int = 70,
    most: int = 8,
    start: float = 0,
    humans: bool = True,
) -> list[Turn]:
    """Turns as they were said, numbered or not; some replies streamed, some streams never ending.

    No two turns are said at the same moment.
    """
    said: list[list[Turn]] = []
    now = start
    for _ in range(draw(st.integers(1, most))):
        now += draw(st.sampled_from([1, 3, 10, 29, 31, 59, 61, longest_gap]))
        kind = draw(
            st.sampled_from(["user", "user", "reply", "reply", "stream", "system", *["human"] * humans])
        )
        if kind == "user":
            said.append([user(draw(st.sampled_from(users)), now)])
        elif kind == "reply":
            said.append([assistant(draw(st.sampled_from(replies)), now)])
        elif kind == "stream":
            until = now + draw(st.sampled_from([0.5, 2.5, 40]))
            stream = pieces(draw(st.sampled_from(replies)), now, until, draw(st.integers(1, 4)))
            said.append(stream if draw(st.booleans()) else stream[:-1])
            now = until
        else:
            said.append([human(now) if kind == "human" else turn(Role.SYSTEM, "note", now)])
    if draw(st.booleans()):
        said = [[replace(t, turn=n) for t in message] for n, message in enumerate(said)]
    return [turn for message in said for turn in message]


@st.composite
def arrivals(draw: st.DrawFn, turns: list[Turn]) -> list[list[Turn]]:
    """Any order, any split into batches, some turns more than once, some again under a new event id."""
    again = draw(st.lists(st.sampled_from(turns), max_size=3)) if turns else []
    anew = [
        t for t in (draw(st.lists(st.sampled_from(turns), max_size=2)) if turns else []) if not t.streamed
    ]
    renamed = [replace(t, event=f"{t.event}-again-{n}") for n, t in enumerate(anew)]
    return draw(batches(draw(st.permutations([*turns, *again, *renamed]))))


@st.composite
def batches(draw: st.DrawFn, turns: Sequence[Turn]) -> list[list[Turn]]:
    """Any split."""
    found: list[list[Turn]] = [[]]
    for one in turns:
        if draw(st.booleans()):
            found.append([])
        found[-1].append(one)
    return [batch for batch in found if batch]
