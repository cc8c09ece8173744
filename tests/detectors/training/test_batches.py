from __future__ import annotations

from itertools import groupby

import numpy as np
import pytest

from detectors.training.batches import TOKENS, TextTable, plan
from detectors.training.states import MOST_OF_A_REPLY, MOST_TOKENS
from tests.detectors.training.made import example

SEEDS = range(4)


@pytest.fixture(scope="module")
def examples():
    """Families of one to six members."""
    source = np.random.default_rng(5)
    out = []
    for family in range(90):
        for member in range(source.integers(1, 7)):
            name = f"{family}-{member}"
            out.append(example(f"text {name}", group=f"f{family}"))
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


def load(examples, table, lengths, batch) -> int:
    """Tokens, padding included."""
    return len(batch) * max(int(lengths[table.last(examples[i])]) for i in batch)


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
    one = example("ＡＢ", ">ＡＢ", "ＡＢ")
    table = TextTable([one, example("ＡＢ")])
    assert table.texts == ["AB", "ＡＢ"]
    assert table.limits == [MOST_TOKENS, MOST_OF_A_REPLY]
    assert [table.row(said) for said in one.turns] == [0, 1, 0]
    assert table.last(one) == 0
