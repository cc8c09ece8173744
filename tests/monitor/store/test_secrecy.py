"""No words in the clear: what the store writes is searched as a thief would, in the raw file or the dump (M7)."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import text

from monitor.crypto.keyring import Key, Keyring
from monitor.errors import KeyMissing
from monitor.store.engine import migration_engine
from monitor.store.sql import SqlStore
from monitor.store.url import parse
from monitor.store.work import CaseWrite, DeadLetter, Excerpt, Work
from tests.support.cases import NOW, PARTITION, a_streaming_case
from tests.support.stores import KEYRING

CANARY = "canary-7f3a 金丝雀"
FORMS = (
    CANARY.encode(),
    CANARY.encode("utf-16-le"),
    CANARY.encode("unicode_escape"),
    b"canary-7f3a",
    "金丝雀".encode(),
    b"\\u91d1\\u4e1d\\u96c0",
)
PLAIN = "jz-1-1"  # stands in the clear: shows that the search would find something


def an_excerpt(event: str = "e-1", words: str = CANARY) -> Excerpt:
    return Excerpt("jz-1-1", event, "user", NOW, words)


def raw(url: str, request: pytest.FixtureRequest) -> bytes:
    if url.startswith("postgresql"):
        dump: bytes = request.getfixturevalue("postgres").dump(url)
        return dump
    path = Path(url.removeprefix("sqlite:///"))
    return b"".join(file.read_bytes() for file in path.parent.glob(f"{path.name}*"))


def run(url: str, statement: str) -> None:
    engine = migration_engine(parse(url))
    with engine.begin() as connection:
        connection.execute(text(statement))
    engine.dispose()


async def test_words_are_nowhere_in_the_clear(url, request):
    store = SqlStore(url, KEYRING)
    work = Work(
        cases=[CaseWrite(a_streaming_case("c-1", CANARY, "and more"), PARTITION, None)],
        excerpts=[an_excerpt()],
        dead_letters=[DeadLetter(PARTITION, 7, "not_json", NOW, CANARY.encode())],
    )
    await store.commit(work)
    [case] = (await store.cases(["c-1"])).values()
    assert case.conversation.entries[0].pieces[0].text == CANARY
    found = raw(url, request)  # while the store is open: the write-ahead log is searched too
    await store.close()
    found += raw(url, request)
    assert PLAIN.encode() in found
    assert [form for form in FORMS if form in found] == []


async def test_an_excerpt_moved_to_another_row_does_not_open(url):
    store = SqlStore(url, KEYRING)
    await store.commit(Work(excerpts=[an_excerpt()]))
    run(url, "UPDATE excerpts SET incident = 'jz-2-1'")
    with pytest.raises(KeyMissing):
        await store.excerpts("jz-2-1")
    await store.close()


async def test_the_words_of_one_case_do_not_open_in_another(url):
    store = SqlStore(url, KEYRING)
    writes = [CaseWrite(a_streaming_case(key, "words"), PARTITION, None) for key in ("c-1", "c-2")]
    await store.commit(Work(cases=writes))
    run(url, "UPDATE cases SET sealed = (SELECT sealed FROM cases WHERE conversation = 'c-1')")
    pieces = {
        key: [piece.text for entry in case.conversation.entries for piece in entry.pieces]
        for key, case in (await store.cases(["c-1", "c-2"])).items()
    }
    assert pieces["c-1"]
    assert pieces["c-2"] == [], "it is read without them"
    await store.close()


async def test_words_need_the_key_they_were_sealed_with(url):
    old, new = Key("old", b"1" * 32), Key("new", b"2" * 32)
    before, after, other = (SqlStore(url, Keyring(keys)) for keys in ([old], [new, old], [new]))
    await before.commit(Work(excerpts=[an_excerpt("e-1", "then")]))
    await after.commit(Work(excerpts=[an_excerpt("e-2", "now")]))
    assert [row.text for row in await after.excerpts("jz-1-1")] == ["then", "now"]
    closed, opened = await other.excerpts("jz-1-1")
    assert (closed.text, opened.text) == ("", "now")
    assert "'old'" in closed.closed
    for store in (before, after, other):
        await store.close()


async def test_an_error_shows_no_value(url):
    """A statement that the database refuses tells its code, not what was written."""
    store = SqlStore(url, KEYRING)
    run(url, "DROP TABLE excerpts")
    with pytest.raises(Exception, match="tables of this release") as caught:
        await store.commit(Work(excerpts=[an_excerpt()]))
    assert "canary" not in repr(caught.value) + repr(caught.value.__cause__)
    await store.close()
