"""Row 22: sentences, names, numbers, ids, secrets, in every language, through a whole worker: nothing comes out (R65)."""

from __future__ import annotations

import itertools
import os
import re
import urllib.parse
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest

from detectors.training.sources import read_corpora
from monitor.crypto.keyring import Keyring
from monitor.store.sql import SqlStore
from tests.support.crew import Crew, crew, get
from tests.support.form import Form, Tell
from tests.support.kafka import Broker
from tests.support.scripted_server import ScriptedServer, Status
from tests.support.traces import traces
from tests.support.until import until
from tests.support.warm import warm_cache

__all__ = ["warm_cache"]
pytestmark = [pytest.mark.promise, pytest.mark.xdist_group("promises")]

NAMES = (
    "Zephyrine Quillfeather",
    "欧阳栩然",
    "Björn Übelgrün",
    "Señora Ñíguez Ávila",
    "藤原ゆり子",
    "김하늬별",
)
NUMBERS = ("+49 1555 0102938", "138-0013-80013-7", "quillfeather.zephyrine@example.invalid")
IDS = ("conversation of Quillfeather", "会话-欧阳栩然", "user of Quillfeather", "событие-канарейка")
KEYS = {name: letter * 43 + "=" for name, letter in zip(("PSEUDONYM", "LINKS", "SEAL"), "PLS", strict=True)}
TOKEN = "a-token-in-the-address-of-a-pager-0987654321"
HOOK = "a-secret-that-signs-webhooks-1234567890abcd"
PATHS = ("/", "/metrics", "/livez", "/readyz", "/asyncapi.json", "/schema/v1.json")
LANGS = ("zh", "en", "ja", "ko", "es", "pt", "fr", "de")


@dataclass(frozen=True, slots=True)
class Canaries:
    """What went in. ``secrets`` are settings'."""

    sentences: tuple[str, ...]
    secrets: tuple[str, ...]

    @property
    def all(self) -> tuple[str, ...]:
        return (*self.sentences, *NAMES, *NUMBERS, *IDS, *self.secrets)


def sentences(each: int) -> list[tuple[str, str, bool]]:
    """Language, text, and whether it is a crisis: of our own corpora, some of every language."""
    found: list[tuple[str, str, bool]] = []
    counts: dict[tuple[str, bool], int] = dict.fromkeys(itertools.product(LANGS, (True, False)), 0)
    for example in read_corpora():
        lang, text = example.lang.split("-")[0], example.turns[-1].text
        if example.level is None or len(example.turns) > 1:
            continue
        key = (lang, example.level.crisis)
        if key in counts and counts[key] < each and len(text) >= 15:
            counts[key] += 1
            found.append((lang, text, example.level.crisis))
    assert all(count == each for count in counts.values()), counts
    return found


def talk(rows: Iterable[tuple[str, str, bool]], now: datetime, *, scripted: bool) -> list[bytes]:
    """Exchanges in every language by people who say who they are; every third is streamed and never whole."""
    records = []
    for number, (lang, text, crisis) in enumerate(rows):
        name, phone = NAMES[number % len(NAMES)], NUMBERS[number % len(NUMBERS)]
        marker = ("crisis|" if crisis else "hello|") if scripted else ""
        facts = {
            "conversation_id": f"{IDS[number % 2]} {number}",
            "user_ref": f"{IDS[2]} {number}",
            "lang": lang,
            "release": "companion-1.5",
            "assistant": {"emotion": name, "strategy": text[:60]},
            "feedback": {"comment": text, "call": phone},
            "cohort": {name: phone},
            text[:40]: name,
        }
        said = [("user", f"{marker}{text} {name} {phone}", {})]
        cut = {"message_id": f"{IDS[3]} {number}", "final": False} if number % 3 == 2 else {}
        said.append(("assistant", f"sleep tip|{name}, {text}" if scripted else f"{name}, try to sleep.", cut))
        if scripted:
            said.append(("user", f"breaks|{text} {name}", {}))
        records += [
            orjson.dumps(
                {
                    "event_id": f"{IDS[3]} {number} {place}",
                    "role": role,
                    "text": words,
                    "at": (now + timedelta(milliseconds=100 * place)).isoformat(),
                    **facts,
                    **more,
                }
            )
            for place, (role, words, more) in enumerate(said)
        ]
    return records


def poison(records: Iterable[bytes], rows: Iterable[tuple[str, str, bool]]) -> list[bytes]:
    """The same again, broken in every way that a decoder knows."""
    broken = []
    for number, record in enumerate(records):
        event: dict[str, Any] = orjson.loads(record)
        broken.append(
            [
                record[:-15],
                b"\xff" + record,
                record.decode().encode("utf-16"),
                orjson.dumps(event | {"role": event["text"]}),
                orjson.dumps(event | {"text": [event["text"]]}),
                orjson.dumps(event | {"at": event["text"]}),
                orjson.dumps(event | {"track": event["text"]}),
                orjson.dumps(event | {"turn": event["conversation_id"]}),
                ascii(record.decode()).encode(),
            ][number % 9]
        )
    return broken + [text.encode() for _, text, _ in rows]


@pytest.mark.parametrize("detector", ["quick", pytest.param("encoder", marks=pytest.mark.model)])
async def test_nothing_comes_out(
    broker: Broker,
    tmp_path: Path,
    url: str,
    detector: str,
    request: pytest.FixtureRequest,
    form: Form,
    tell: Tell,
) -> None:
    if detector == "encoder" and not url.startswith("sqlite") and not form.long:
        return  # what the encoder writes is the same; the long form looks all the same
    rows = sentences(form.pick(2, 12))
    cache = request.getfixturevalue("warm_cache") if detector == "encoder" else None
    async with ScriptedServer() as receiver:
        receiver.script(
            Status(500, body=rows[0][1].encode()),
            Status(400, {"X-Echo": "a bad request"}, NAMES[0].encode()),
            Status(503, {"Retry-After": "1"}, rows[1][1].encode()),
            then=Status(202, body=f"{NAMES[1]} {NUMBERS[0]}".encode()),
        )
        async with crew(broker, tmp_path, cache, url, **_settings(receiver)) as team:
            team.add(PAGERS__WEBHOOK__URL=f"{receiver.url}/hook/{TOKEN}")
            await team.ready()
            records = talk(rows, team.clock.now(), scripted=cache is None)
            broken = poison(records, rows)
            await broker.send(team.topic, *records, *broken)
            read = len(records) + len(broken)
            await team.until_all_read(read, within=180)
            await until(lambda: len(receiver.requests) >= 6, 90, 0.1)
            await until(lambda: all(t in _kinds(team) for t in ("excerpt", "dead_letter")), 30, 0.1)
            places = await _served(team, receiver)
            dead = await broker.read(f"{team.topic}.dead", len(broken))
            places["dead-letter topic"] = repr(dead).encode() + b"".join(_bytes(one) for one in dead)
            places |= _left(team, tmp_path, url, request, "while it runs")
            open_words = await _unsealed(team)
        places |= _left(team, tmp_path, url, request, "when it has ended")
    places["requests"] = b"".join(
        f"{one.target if TOKEN not in one.target else one.target.replace(TOKEN, '')} {one.headers}".encode()
        + one.body
        for one in receiver.requests
    )
    canaries = Canaries(tuple({text for _, text, _ in rows}), (TOKEN, HOOK, *KEYS.values(), *_password(url)))
    hits = traces(canaries.all, places)
    size = sum(map(len, places.values()))
    tell(
        22,
        f"leaks ({detector}, {url.partition(':')[0]})",
        f"{len(canaries.all)} canaries in {len(LANGS)} languages, {read} events, {len(broken)} of them poison, "
        f"{len(places)} places, {size / 1e6:.1f} MB searched: {len(hits)} hits",
    )
    assert [(place, len(word)) for place, word in hits] == []
    found = traces(canaries.sentences, {"what came in": b"".join(records + broken), "unsealed": open_words})
    assert {place for place, _ in found} == {"what came in", "unsealed"}, "the search finds what is there"
    assert {"companion-1.5", "jz-"} <= _known(places), "the places are those where things are written"


def _settings(receiver: ScriptedServer) -> dict[str, str]:
    return {
        "KEYS__PSEUDONYM": KEYS["PSEUDONYM"],
        "KEYS__LINKS": KEYS["LINKS"],
        "KEYS__SEAL": f"s:{KEYS['SEAL']}",
        "PAGERS__WEBHOOK__SECRET": HOOK,
        "PAGERS__NAMED": orjson.dumps(
            {"second": {"kind": "webhook", "url": f"{receiver.url}/hook/{TOKEN}", "secret": HOOK}}
        ).decode(),
        "WATCHING__GRACE_SECONDS": "0.2",
        "WATCHING__REPLY_DEADLINE_SECONDS": "5",
        "WATCHING__IMMINENT_REPLY_DEADLINE_SECONDS": "5",
        "DEAD_LETTERS__IN_A_ROW": "100000",
        "DEAD_LETTERS__SHARE": "1",
        "LOG__LEVEL": "debug",
    }


async def _served(team: Crew, receiver: ScriptedServer) -> dict[str, bytes]:
    """Everything over HTTP, the pages behind links among it."""
    places = {}
    for path in PATHS:
        answer = await get(f"{team.workers[0].url}{path}")
        places[path] = answer.content + repr(answer.headers).encode()
    links = {
        str(link)
        for one in receiver.requests
        for link in (one.json().get("link"), one.json().get("ack_link"))
        if link
    }
    assert links
    for number, link in enumerate(sorted(links)[:6]):
        answer = await get(urllib.parse.urlsplit(link)._replace(netloc=team.workers[0].url[7:]).geturl())
        places[f"link {number}"] = answer.content + repr(answer.headers).encode()
    return places


def _left(team: Crew, folder: Path, url: str, request: pytest.FixtureRequest, when: str) -> dict[str, bytes]:
    """Every file that the worker has written, names too, and the database as a thief would read it."""
    del team
    places = {}
    for top, _, names in os.walk(folder):
        for name in names:
            path = Path(top) / name
            places[f"{path.name} {when}"] = str(path).encode() + path.read_bytes()
    if url.startswith("postgresql"):
        places[f"dump {when}"] = request.getfixturevalue("postgres").dump(url)
    return places


def _kinds(team: Crew) -> set[str]:
    [(words, letters)] = team.rows(
        "SELECT (SELECT count(*) FROM excerpts), (SELECT count(*) FROM dead_letters)"
    )
    return {name for name, count in (("excerpt", words), ("dead_letter", letters)) if count}


async def _unsealed(team: Crew) -> bytes:
    store = SqlStore(team.database, Keyring.parse(f"s:{KEYS['SEAL']}"))
    said = []
    for (incident,) in team.rows("SELECT DISTINCT incident FROM excerpts"):
        said += [row.text for row in await store.excerpts(str(incident))]
    await store.close()
    return "\n".join(said).encode()


def _bytes(record: Any) -> bytes:
    return bytes(record.value or b"") + bytes(record.key or b"")


def _password(url: str) -> list[str]:
    password = re.match(r"postgresql://\w+:(\w+)@", url)
    return [password[1]] if password else []


def _known(places: dict[str, bytes]) -> set[str]:
    return {word for word in ("companion-1.5", "jz-") if any(word.encode() in c for c in places.values())}
