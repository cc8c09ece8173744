from __future__ import annotations

from itertools import groupby

import numpy as np
import pytest

from detectors.training.batches import TOKENS, TextTable, collate, plan
from detectors.training.network import REACH
from detectors.training.states import MOST_OF_A_REPLY, MOST_TOKENS, LowerStates
from detectors.turn import Role
from tests.detectors.training.made import example

SEEDS = range(4)


@pytest.fixture(scope="module")
def examples():
    """Families of one to six members, one in five in context."""
    source = np.random.default_rng(5)
    out = []
    for family in range(90):
        for member in range(source.integers(1, 7)):
            name = f"{family}-{member}"
            before = (f"before {name}", f">reply {family}") if family % 5 == 0 else ()
            out.append(example(*before, f"text {name}", group=f"f{family}"))
    source.shuffle(out)
    return out


@pytest.fixture(scope="module")
def table(examples):
    return TextTable(examples)


@pytest.fixture(scope="module")
def lengths(table):
    return np.random.default_rng(6).integers(4, MOST_TOKENS, len(table.texts))


@pytest.mark.parametrize("seed", SEEDS)
def test_every_example_once_an_epoch(examples, table, lengths, seed):
    batches = plan(examples, table, lengths, seed)
    assert sorted(i for batch in batches for i in batch) == list(range(len(examples)))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_batch_keeps_to_its_tokens(examples, table, lengths, seed):
    loads = [load(examples, table, lengths, batch) for batch in plan(examples, table, lengths, seed)]
    assert max(loads) <= TOKENS
    assert np.mean(loads) > TOKENS / 2


def load(examples, table, lengths, batch) -> float:
    """Tokens, padding included: a reply costs a third of a user's turn."""
    turns = [turn for i in batch for turn in examples[i].turns]
    whole = 0.0
    for role, price in ((Role.USER, 1.0), (Role.ASSISTANT, 1 / 3)):
        rows = {table.row(turn.role, turn.text) for turn in turns if turn.role is role}
        whole += price * len(rows) * max((lengths[row] for row in rows), default=0)
    return whole


def test_an_example_too_long_for_any_batch_has_one_of_its_own():
    some = [example("short"), example("long", group="g")]
    assert sorted(plan(some, TextTable(some), [5, TOKENS + 1], 1)) == [[0], [1]]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_family_stands_in_neighbouring_places(examples, table, lengths, seed):
    batches = plan(examples, table, lengths, seed)
    parts: dict[str, int] = {}
    for batch in batches:
        for family, _ in groupby(examples[i].group for i in batch):
            parts[family] = parts.get(family, 0) + 1
    # the end of a batch may cut one in two
    assert max(parts.values()) <= 2
    assert sum(count > 1 for count in parts.values()) < len(batches)


def test_the_same_seed_gives_the_same_plan_and_another_another(examples, table, lengths):
    assert plan(examples, table, lengths, 3) == plan(examples, table, lengths, 3)
    assert plan(examples, table, lengths, 3) != plan(examples, table, lengths, 4)


def test_a_text_stands_once_and_is_normalised_only_where_a_user_wrote_it():
    table = TextTable([example("ＡＢ", ">ＡＢ", "ＡＢ"), example("ＡＢ")])
    assert table.texts == ["AB", "ＡＢ"]
    assert table.limits == [MOST_TOKENS, MOST_OF_A_REPLY]
    assert table.row(Role.USER, "ＡＢ") != table.row(Role.ASSISTANT, "ＡＢ")


def named_states(table: TextTable) -> LowerStates:
    """Each text's states are its row, as many times as its row tells."""
    lengths = np.arange(len(table.texts)) % 3 + 1
    rows = np.repeat(np.arange(len(table.texts)), lengths)
    return LowerStates(np.repeat(rows[:, None], 4, axis=1).astype(np.float16), lengths)


def test_each_conversation_finds_its_texts_again():
    many = [f"{'>' if n % 2 else ''}turn {n}" for n in range(2 * REACH + 1)]
    some = [
        example("one", ">answer", "two"),
        example("alone"),
        example("one", "two", ">answer", "answer", ">other", "alone"),
        example(*many),
    ]
    table = TextTable(some)
    batch = collate(some, table, named_states(table))
    rows = [*batch.texts[:, 0, 0].tolist(), *batch.replies[:, 0, 0].tolist()]
    assert len(rows) == len(set(rows))
    for one, current, before, roles in zip(some, batch.current, batch.before, batch.roles, strict=True):
        *earlier, now = one.turns[-REACH - 1 :]
        gap = [-1] * (REACH - len(earlier))
        assert rows[current] == table.row(now.role, now.text)
        assert [-1 if place < 0 else rows[place] for place in before] == gap + [
            table.row(turn.role, turn.text) for turn in earlier
        ]
        assert roles.tolist() == [0] * len(gap) + [int(turn.role is Role.ASSISTANT) for turn in earlier]


def test_padding_is_masked():
    some = [example("a"), example("b", group="g"), example("c", group="h")]
    table = TextTable(some)
    batch = collate(some, table, named_states(table))
    assert batch.mask.tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    assert batch.texts[0, 1:].abs().sum() == 0
    assert len(batch.replies) == 0
