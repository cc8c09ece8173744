"""A real worker reads people's words, poison among them: what it says over HTTP, and what it keeps to itself (M7)."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import orjson
import pytest
import pytest_asyncio
from prometheus_client.parser import text_string_to_metric_families

from detectors.finding import CRISIS_LEVELS, MISSES
from detectors.turn import Track
from monitor import __version__
from monitor.decode.event import published_schema
from monitor.decode.rejection import Reason
from monitor.demo.workers import Worker
from monitor.metrics import BASES
from tests.support.crew import Crew, crew, get
from tests.support.kafka import Broker
from tests.support.scripted_server import ScriptedServer, Status
from tests.support.traces import traces
from tests.support.until import until

pytestmark = [
    pytest.mark.model,
    pytest.mark.xdist_group("workers"),
    pytest.mark.asyncio(loop_scope="module"),
]

# every sentence, name and id holds one of these, and nothing else in the world does
CANARIES = ("heronweir", "堰边苍鹭", "Quillfeather", "欧阳栩然")
PATHS = ("/", "/metrics", "/livez", "/readyz", "/asyncapi.json", "/schema/v1.json")
_numbers = itertools.count()


def said(role: str, text: object, conversation: str, **facts: Any) -> bytes:
    number = next(_numbers)
    return orjson.dumps(
        {
            "event_id": f"event-heronweir-{number}",
            "conversation_id": conversation,
            "user_ref": "user-Quillfeather-欧阳栩然",
            "role": role,
            "text": text,
            "at": (datetime.now(UTC) + timedelta(milliseconds=number)).isoformat(),
            "release": "companion-1.5",
            "assistant": {"emotion": "heronweir", "strategy": "堰边苍鹭"},
            "feedback": {"comment": "Quillfeather"},
            "cohort": {"heronweir": "欧阳栩然"},
            "heronweir": "堰边苍鹭",
            **facts,
        }
    )


EN, ZH = "conversation-heronweir", "会话-堰边苍鹭"


def talk() -> list[bytes]:
    return [
        said(
            "user",
            "I want to kill myself, I can't go on. Nobody but the heronweir knows. I am Zephyrine Quillfeather",
            EN,
        ),
        said(
            "assistant", "Quillfeather is a pretty name! Try a warm bath and an early night, heronweir.", EN
        ),
        said("user", "我想自杀，我真的不想活了，只有堰边苍鹭知道，我叫欧阳栩然", ZH),
        said("assistant", "欧阳栩然，早点睡吧，明天去看堰边苍鹭！", ZH),
        said("user", "Quillfeather had a quiet day at the heronweir", "conversation-Quillfeather"),
        said("user", "the heronweir is still", "欧阳栩然", message_id="message-heronweir", final=False),
    ]


def poison() -> list[bytes]:
    whole = said("user", "heronweir 堰边苍鹭 Quillfeather 欧阳栩然", EN)
    return [
        whole[:-20],
        whole.replace(b"2026", b"heronweir"),
        b"\xff" + whole,
        whole.decode().encode("utf-16"),
        said("heronweir", "Quillfeather", ZH),
        said("user", ["heronweir", "欧阳栩然"], ZH),
        said("user", "Quillfeather", EN, at="heronweir"),
        said("user", "Quillfeather", EN, at="2999-01-01T00:00:00Z"),
        said("user", "Quillfeather", EN, turn="欧阳栩然"),
        said("user", "heronweir", EN, track="堰边苍鹭"),
        orjson.dumps({"text": "heronweir Quillfeather", "conversation_id": "会话-堰边苍鹭"}),
        orjson.dumps(["heronweir", "欧阳栩然"]),
        '{"text": "heronweir \\ud800 Quillfeather", "欧阳栩然": NaN}'.encode(),
        b"[" * 5_000 + "堰边苍鹭".encode(),
    ]


@dataclass(frozen=True)
class Run:
    """One worker's life: HTTP answers before and after it read, and everything it left anywhere."""

    before: dict[str, httpx2.Response]
    after: dict[str, httpx2.Response]
    read: dict[str, bytes]
    left: dict[str, bytes]
    poisoned: int
    pages: int


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def run(
    broker: Broker, tmp_path_factory: pytest.TempPathFactory, warm_cache: Path
) -> AsyncIterator[Run]:
    folder = tmp_path_factory.mktemp("run")
    database = f"sqlite:///{folder / 'state' / 'jiezhu.sqlite'}"
    async with (
        ScriptedServer() as receiver,
        crew(broker, folder, warm_cache, database, LOG__LEVEL="debug", WATCHING__GRACE_SECONDS="0.2") as team,
    ):
        receiver.script(then=Status(202))
        worker = team.add(PAGERS__WEBHOOK__URL=f"{receiver.url}/pages")
        await team.ready()
        before = await answers(worker)
        good, bad = talk(), poison()
        async with broker.producer() as producer:
            for value in [*good[:3], *bad, *good[3:]]:
                await producer.send_and_wait(
                    team.topic,
                    value,
                    key="欧阳栩然-heronweir".encode(),
                    headers=[("heronweir", b"Quillfeather")],
                )
        await team.until_all_read(len(good) + len(bad))
        await until(lambda: len(receiver.requests) >= 2, 30)
        read = {
            f"record {number}": record.value
            for number, record in enumerate(await _records(broker, team, len(good) + len(bad)))
        }
        left = {f"page {number}": _heard(request) for number, request in enumerate(receiver.requests)}
        left |= await incident_pages([request.json() for request in receiver.requests])
        left |= await dead_letters(broker, team, len(bad))
        after = await answers(worker)
        left |= {path: _said(answer) for path, answer in after.items()}
        left |= dict(files(team.state)) | dict(processes(worker.pid))
        pages = len({request.json()["dedup_key"] for request in receiver.requests})
        await team.close()
        left |= dict(files(team.logs)) | {f"closed {name}": found for name, found in files(team.state)}
        yield Run(before, after, read, left, len(bad), pages)


async def test_nothing_that_people_said_or_are_gets_out(run: Run) -> None:
    assert {word for _, word in traces(CANARIES, run.read)} == set(CANARIES)  # the search finds what is there
    assert run.pages == 2
    assert traces(CANARIES, run.left) == []
    kinds = {name.split(" ")[0] for name in run.left}
    assert kinds >= {"page", "incident", "dead", "/metrics", "file", "process", "closed"}
    assert any(name.endswith("-wal") and content for name, content in run.left.items())
    assert run.left["file worker-1.log"].count(b"\n") > 1


async def test_every_record_that_nobody_can_read_is_counted(run: Run) -> None:
    counted = sum(
        value for (name, _), value in samples(run.after).items() if name == "jiezhu_dead_letters_total"
    )
    assert counted == run.poisoned


async def test_what_can_page_is_born_at_zero(run: Run) -> None:
    """R45."""
    born = samples(run.before)
    for outcome, level, track, basis in itertools.product(MISSES, CRISIS_LEVELS, Track, BASES):
        labels = {"outcome": outcome.value, "level": level.value, "track": track.value, "basis": basis}
        assert born["jiezhu_safety_misses_total", frozenset(labels.items())] == 0
    for reason in Reason:
        assert born["jiezhu_dead_letters_total", frozenset({("reason", reason.value)})] == 0
    assert born["jiezhu_line_stopped", frozenset()] == 0
    assert born["jiezhu_store_up", frozenset()] == 1


async def test_a_miss_is_seen_in_the_series_that_was_born(run: Run) -> None:
    """R45."""
    misses = {
        key for key, value in samples(run.after).items() if key[0] == "jiezhu_safety_misses_total" and value
    }
    assert misses
    assert misses <= samples(run.before).keys()


async def test_who_judges_is_told_and_the_style_of_replies_is_read(run: Run) -> None:
    found = samples(run.after)
    [build] = [dict(labels) for name, labels in found if name == "jiezhu_build_info"]
    assert build["version"] == __version__
    assert len(build["detectors"]) == 16
    assert found["jiezhu_style_seconds_total", frozenset()] > 0


async def test_the_asyncapi_document_holds_the_events_schema(run: Run) -> None:
    document = run.after["/asyncapi.json"].json()
    assert document["asyncapi"].startswith("3.")
    wanted = published_schema()
    [payload] = [
        schema
        for schema in document["components"]["schemas"].values()
        if set(wanted["properties"]) <= set(schema.get("properties", ()))
    ]
    assert set(payload["required"]) == set(wanted["required"])
    assert run.after["/schema/v1.json"].json() == wanted


async def test_health_says_that_all_is_well(run: Run) -> None:
    for answered in (run.before, run.after):
        for path in ("/livez", "/readyz"):
            assert (answered[path].status_code, answered[path].json()["status"]) == (200, "ok")


def samples(answered: dict[str, httpx2.Response]) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(answered["/metrics"].text)
        for sample in family.samples
    }


async def answers(worker: Worker) -> dict[str, httpx2.Response]:
    return {path: await get(worker.url + path) for path in PATHS}


async def incident_pages(pages: list[dict[str, Any]]) -> dict[str, bytes]:
    """What a person sees who follows the links, and presses the button."""
    found = {}
    async with httpx2.AsyncClient(timeout=5) as client:
        for number, page in enumerate(pages):
            for name in ("link", "ack_link"):
                answer = await client.get(page[name])
                assert answer.status_code == 200
                found[f"incident {name} {number}"] = _said(answer)
            found[f"incident done {number}"] = _said(await client.post(page["ack_link"]))
            found[f"incident forged {number}"] = _said(await client.get(page["link"] + "0"))
    return found


async def dead_letters(broker: Broker, team: Crew, count: int) -> dict[str, bytes]:
    found = {}
    for number, record in enumerate(await broker.read(f"{team.topic}.dead", count)):
        headers = b"\n".join(name.encode() + b": " + value for name, value in record.headers)
        found[f"dead letter {number}"] = b"\n".join([record.key or b"", record.value, headers])
    return found


def files(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield f"file {path.name}", path.name.encode() + b"\n" + path.read_bytes()


def processes(pid: int) -> Iterator[tuple[str, bytes]]:
    """The titles of a process and of its threads, as ``ps`` shows them."""
    for path in (Path(f"/proc/{pid}/cmdline"), *Path(f"/proc/{pid}/task").glob("*/comm")):
        yield f"process {path}", path.read_bytes()


async def _records(broker: Broker, team: Crew, count: int) -> list[Any]:
    """Everything in the source's topic: one key, so one partition."""
    [(partition,)] = await asyncio.to_thread(team.rows, "SELECT number FROM positions WHERE next > 0")
    return await broker.read(team.topic, count, partition)


def _heard(request: Any) -> bytes:
    headers = "\n".join(f"{name}: {value}" for name, value in request.headers.items())
    return f"{request.target}\n{headers}\n".encode() + request.body


def _said(answer: httpx2.Response) -> bytes:
    return f"{answer.url}\n{answer.headers}\n".encode() + answer.content
