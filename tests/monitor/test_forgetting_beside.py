"""What is not in a row of theirs goes, too: dead letters that name them, and the bytes of the file."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from monitor.subjects import naming
from tests.support.forgetting import Site
from tests.support.worker import hidden


@pytest.fixture
async def site(url):
    site = Site(url)
    yield site
    await site.store.close()


async def test_dead_letters_go_by_what_they_name(site):
    named = [
        b'{"conversation_id": "conv-12345", "text": 5}',
        b'{"conversation_id": "conv-12345", "te',
        '{"conversation_id": "conv-12345"'.encode("utf-16"),
    ]
    await site.worker.read(*named, b'{"conversation_id": "conv-99999", "te')
    assert await site.erasing.dead_letters(naming(["conv-12345"])) == (3, 0)
    assert await site.erasing.dead_letters(naming(["conv-12345"])) == (0, 0)
    assert len(site.run("SELECT 1 FROM dead_letters")) == 1


async def test_the_file_holds_nothing_either(sqlite_url):
    site = Site(sqlite_url)
    await site.say("c", ("crisis|words", "good"))
    site.clock.jump(timedelta(hours=1))
    await site.worker.timers.fire(site.clock.now())
    await site.bury("c")
    await site.sweep()
    await site.erasing.scrub()
    path = Path(sqlite_url.removeprefix("sqlite:///"))
    content = b"".join(file.read_bytes() for file in path.parent.glob(f"{path.name}*"))
    assert content.count(hidden("c").encode()) <= 2, "the tombstone and its index"
    assert f"jz-{hidden('c')[:20]}".encode() not in content
    await site.store.close()
