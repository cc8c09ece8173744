import base64
import logging
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from monitor.crypto.keyring import Key, Keyring, key_of, parse_secret
from monitor.errors import ConfigurationError, KeyMissing

OLD, NEW = Key("old", b"o" * 32), Key("new", b"n" * 32)
BASE64 = base64.b64encode(b"\xfb\xff" * 16).decode()


@given(st.binary(), st.text(max_size=20).filter(lambda text: text.isascii()))
def test_what_is_sealed_opens_again_at_its_place(plain, place):
    ring = Keyring([NEW])
    assert ring.open(ring.seal(plain, place), place) == plain


def test_a_sealed_text_shows_nothing_of_itself_and_never_the_same_twice():
    ring = Keyring([NEW])
    sealed = ring.seal(b"canary words", "a")
    assert b"canary" not in sealed
    assert sealed != ring.seal(b"canary words", "a")


def test_a_blob_that_was_moved_does_not_open():
    ring = Keyring([NEW])
    sealed = ring.seal(b"words", "excerpt:i-1:e-1")
    with pytest.raises(KeyMissing):
        ring.open(sealed, "excerpt:i-2:e-1")


@given(st.integers(0), st.integers(1, 255))
def test_a_blob_that_was_changed_anywhere_does_not_open(position, change):
    ring = Keyring([NEW, OLD])
    sealed = bytearray(ring.seal(b"words", "a"))
    sealed[position % len(sealed)] ^= change
    with pytest.raises(KeyMissing):
        ring.open(bytes(sealed), "a")


@given(st.binary(max_size=40))
def test_what_was_never_sealed_does_not_open(blob):
    with pytest.raises(KeyMissing):
        Keyring([NEW]).open(blob, "a")


def test_the_first_key_seals_and_all_of_them_open():
    before = Keyring([OLD]).seal(b"words", "a")
    after = Keyring([NEW, OLD])
    assert after.open(before, "a") == b"words"
    assert key_of(before) == "old"
    assert key_of(after.seal(b"words", "a")) == after.newest == "new"


def test_a_missing_key_is_named():
    sealed = Keyring([OLD]).seal(b"words", "a")
    with pytest.raises(KeyMissing, match="'old'"):
        Keyring([NEW]).open(sealed, "a")


def test_another_secret_under_the_same_id_does_not_open():
    sealed = Keyring([OLD]).seal(b"words", "a")
    with pytest.raises(KeyMissing, match="changed or the row was tampered"):
        Keyring([Key("old", b"x" * 32)]).open(sealed, "a")


@pytest.mark.parametrize(
    "secret",
    [BASE64, BASE64.replace("+", "-").replace("/", "_"), (b"\xfb\xff" * 16).hex(), f" {BASE64}\n"],
)
def test_secrets_are_read_in_base64_and_hex(secret):
    assert parse_secret(secret, "keys") == parse_secret(SecretStr(secret), "keys") == b"\xfb\xff" * 16


def test_a_keyring_is_read_newest_first():
    ring = Keyring.parse(SecretStr(f"2026-03:{BASE64}, 2025-11:{'ab' * 32}"))
    assert (ring.newest, ring.ids) == ("2026-03", ("2026-03", "2025-11"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        " , ",
        "hunter2",
        "a:",
        ":b",
        "a:hunter2",
        f"a b:{BASE64}",
        f"a:{BASE64},a:{BASE64}",
        "a:" + "z" * 64,
    ],
)
def test_a_bad_keyring_names_the_setting_and_shows_no_secret(text):
    with pytest.raises(ConfigurationError, match=r"^store\.keys: ") as caught:
        Keyring.parse(text, "store.keys")
    assert "hunter2" not in str(caught.value)
    assert "zz" not in str(caught.value)


def test_keys_do_not_print_themselves(caplog):
    key = Key("id", b"hunter2-hunter2-hunter2-hunter2!")
    ring = Keyring([key])
    logging.getLogger("t").warning("%r %s %r", key, key, ring)
    assert "id" in caplog.text
    assert "hunter2" not in caplog.text + repr(vars(ring))
    with pytest.raises(TypeError):
        pickle.dumps(ring)
