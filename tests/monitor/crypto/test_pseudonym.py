import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.crypto.pseudonym import Kind, Pseudonymiser
from monitor.errors import ConfigurationError

ONE, OTHER = Pseudonymiser(b"1" * 32), Pseudonymiser(b"2" * 32)


@given(st.sampled_from(Kind), st.text(st.characters()))
def test_a_pseudonym_is_32_hex_characters_and_always_the_same(kind, raw):
    name = ONE.pseudonym(kind, raw)
    assert re.fullmatch("[0-9a-f]{32}", name)
    assert name == Pseudonymiser(b"1" * 32).pseudonym(kind, raw)


@given(st.text(st.characters()), st.text(st.characters()))
def test_different_things_get_different_pseudonyms(one, other):
    names = {ONE.pseudonym(kind, raw) for kind in Kind for raw in {one, other}}
    assert len(names) == len(Kind) * len({one, other})


def test_the_key_decides():
    assert ONE.pseudonym(Kind.USER, "u") != OTHER.pseudonym(Kind.USER, "u")


def test_a_kind_and_its_value_cannot_run_into_each_other():
    assert ONE.pseudonym(Kind.USER, "") != ONE.pseudonym(Kind.USER, "\0")


def test_the_value_is_fixed_for_ever():
    """Changing it would orphan every stored case."""
    assert ONE.pseudonym(Kind.CONVERSATION, "c-1") == "d81e5464f0f02cdfa338f2e2e1194ecd"


def test_a_bad_key_is_a_configuration_error():
    with pytest.raises(ConfigurationError, match="pseudonym_key: a key must be 32 bytes"):
        Pseudonymiser.parse("short")


def test_it_does_not_print_its_key():
    assert repr(Pseudonymiser(b"hunter2" * 5)) == "Pseudonymiser()"
