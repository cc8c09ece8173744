from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from detectors.training.batches import TextTable
from detectors.training.course import Course
from detectors.training.network import Network
from detectors.training.reader import REACH, ContextReader, Conversations
from detectors.training.reading import conversations, train_reader, vectors_of
from detectors.training.states import LowerStates
from detectors.turn import Role
from tests.detectors.training.made import WIDTH, calm, example, risky, states


def network() -> Network:
    torch.manual_seed(1)
    return Network(nn.ModuleList(), WIDTH)


def named_states(table: TextTable) -> LowerStates:
    """Each text's states are a direction of its own, as often as its row tells."""
    lengths = np.arange(len(table.texts)) % 3 + 1
    rows = np.repeat(np.arange(len(table.texts)), lengths)
    return LowerStates(np.eye(WIDTH, dtype=np.float16)[rows], lengths)


def talk_of(some, table) -> Conversations:
    said = network().said(torch.zeros(len(table.texts), WIDTH))
    return conversations(some, table, torch.eye(WIDTH)[: len(table.texts)], said["crisis"], said["level"])


def test_each_text_has_the_vector_of_its_row():
    table = TextTable([example(f"text {n}") for n in range(WIDTH)])
    steps: list[tuple[int, int]] = []
    found = vectors_of(network(), named_states(table), lambda _, done, total, __: steps.append((done, total)))
    assert torch.allclose(found, torch.eye(WIDTH) * WIDTH**0.5, atol=1e-5)
    assert steps[-1] == (WIDTH, WIDTH)


def test_each_conversation_finds_its_texts_again():
    many = [f"{'>' if n % 2 else ''}turn {n}" for n in range(2 * REACH + 1)]
    some = [example("one", ">answer", "two"), example("one", "two", ">answer", "answer"), example(*many)]
    table = TextTable(some)
    talk = talk_of(some, table)
    for one, current, before, roles in zip(some, talk.current, talk.before, talk.roles, strict=True):
        *earlier, now = one.turns[-REACH - 1 :]
        gap = REACH - len(earlier)
        assert current == table.row(now)
        assert before.tolist() == [-1] * gap + [table.row(turn) for turn in earlier]
        assert roles.tolist() == [0] * gap + [int(turn.role is Role.ASSISTANT) for turn in earlier]


def reader(seed: int = 3) -> ContextReader:
    torch.manual_seed(seed)
    made = ContextReader(WIDTH).eval()
    for weight in made.context.parameters():
        nn.init.normal_(weight)
    return made


def test_a_conversation_is_read_alike_whatever_stands_beside_it():
    some = [example("a", ">b", "c"), example("d", "e"), example("e", ">b", "a", "c")]
    table = TextTable(some)
    talk = talk_of(some, table)
    with torch.inference_mode():
        whole = reader()(talk)
        for place in range(len(some)):
            alone = reader()(talk.some(torch.tensor([place])))
            for name, one in alone.items():
                assert torch.allclose(one[0], whole[name][place], atol=1e-6)


@pytest.mark.parametrize(
    "other",
    [("b", ">a", "c"), ("a", "b", "c"), (">b", "c"), ("a", ">b", "a")],
    ids=["order", "role", "fewer", "now"],
)
def test_order_roles_and_words_all_count(other):
    some = [example("a", ">b", "c"), example(*other)]
    table = TextTable([*some, example("b", ">a", "a", "b")])
    with torch.inference_mode():
        found = reader()(talk_of(some, table))["crisis"]
    assert abs(float(found[0] - found[1])) > 1e-4


def pairs_in_context(count: int = 16):
    """Only the first turn tells the two sides apart."""
    out = []
    for n in range(count):
        for make, first in ((risky, "dark"), (calm, "bright")):
            kind = "contextual" if make is risky else "everyday"
            out.append(
                make(first, f">reply {n % 4}", f"now {n % 5}", group=f"f{n}", kind=kind, trend="steady")
            )
    return out


def learnt(seed: int = 1) -> tuple[ContextReader, Network, list, TextTable, torch.Tensor]:
    examples = [
        *pairs_in_context(),
        calm("dull", ">yes", "rain", kind=None, group="talk"),
        risky("x", group="x"),
    ]
    table = TextTable(examples)
    torch.manual_seed(1)
    encoder = network()
    vectors = vectors_of(encoder, states([3] * len(table.texts)), lambda *_: None)
    made = ContextReader(WIDTH)
    train_reader(
        made, encoder, examples, table, vectors, Course(reader_epochs=60, seed=seed), lambda *_: None
    )
    return made, encoder, examples, table, vectors


def test_it_learns_what_only_an_earlier_turn_tells():
    made, encoder, examples, table, vectors = learnt()
    told = [one for one in examples if one.kind in {"contextual", "everyday"} and not one.single]
    with torch.inference_mode():
        said = encoder.said(vectors)
        found = made(conversations(told, table, vectors, said["crisis"], said["level"]))["crisis"]
    assert [bool(logit > 0) for logit in found] == [one.crisis for one in told]


def test_the_encoder_stays_as_it_is_and_the_same_seed_gives_the_same_reader():
    made, encoder, *_ = learnt()
    assert all(
        torch.equal(one, other)
        for one, other in zip(encoder.parameters(), network().parameters(), strict=True)
    )
    again, other = learnt()[0], learnt(2)[0]
    assert all(torch.equal(a, b) for a, b in zip(made.parameters(), again.parameters(), strict=True))
    assert not all(torch.equal(a, b) for a, b in zip(made.parameters(), other.parameters(), strict=True))


def test_without_conversations_nothing_is_learnt():
    some = [risky("a")]
    table = TextTable(some)
    made = reader()
    before = {name: one.clone() for name, one in made.state_dict().items()}
    train_reader(made, network(), some, table, torch.zeros(1, WIDTH), Course(), lambda *_: None)
    assert all(torch.equal(one, before[name]) for name, one in made.state_dict().items())
