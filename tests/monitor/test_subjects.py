"""Who is named, in ids and in records that nobody could read."""

from __future__ import annotations

import json

import pytest

from monitor.errors import JiezhuError
from monitor.subjects import lines_of, naming, read_ids

LONG, SHORT, FOREIGN = "conv-金丝雀-12345", "7", 'quote "inside"'


def test_ids_come_one_a_line():
    lines = [f"{LONG}\n", "\n", "  \n", f"{SHORT}\r\n", json.dumps("two\nlines"), '"broken', LONG]
    assert read_ids(lines) == [LONG, SHORT, "two\nlines", '"broken']


def test_a_file_with_a_byte_order_mark_names_the_same():
    assert read_ids(lines_of(b"\xef\xbb\xbf" + f"{LONG}\r\n{SHORT}".encode())) == [LONG, SHORT]


def test_only_a_line_feed_ends_an_id():
    odd = "a\u2028b\x85c\x0bd"
    assert read_ids(lines_of(f"{odd}\n{SHORT}\n".encode())) == [odd, SHORT]


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1", "gb18030"])
def test_ids_in_another_encoding_are_nobody_s(encoding):
    """Read all the same, they would name somebody else, and a proof would say that all is done."""
    with pytest.raises(JiezhuError, match="not UTF-8"):
        lines_of("müller\n".encode(encoding))


@pytest.mark.parametrize("name", [LONG, SHORT, FOREIGN])
@pytest.mark.parametrize("encode", ["utf-8", "utf-16", "escaped", "cut"])
def test_a_broken_record_that_names_somebody_is_found(name, encode):
    record = json.dumps({"a": 1, "conversation_id": name, "text": "t"}, ensure_ascii=encode == "escaped")
    payload = {
        "utf-8": record.encode(),
        "utf-16": record.encode("utf-16"),
        "escaped": record.encode(),
        "cut": record.encode()[:-6],
    }[encode]
    if encode == "utf-16" and name == FOREIGN:
        payload = json.dumps([name]).encode()
    assert naming([name])(payload)


def test_others_are_not_found():
    others = [b"", b"\xff\xfe", b"77", b'{"user_ref": "77"}', b'{"n": 71}', b"true", b'{"x": null}']
    assert [payload for payload in others if naming([SHORT, LONG])(payload)] == []


def test_a_number_in_the_place_of_an_id_is_found():
    assert naming([SHORT])(b'{"conversation_id": 7}')
