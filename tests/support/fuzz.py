"""Coverage-guided fuzzing in a process of its own: ``python -m tests.support.fuzz TARGET SECONDS DIRECTORY``.

libFuzzer keeps an input that reaches code which no other did and goes on from there. Exit status 0: nothing broke.
A target raises for what must never happen; a case may take a second of the processor's time, whatever else runs here.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import resource
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar

import atheris
from h11 import LocalProtocolError

with atheris.instrument_imports(
    include=["monitor.decode", "monitor.reader", "monitor.canary_event", "detectors"]
):
    from detectors.conversation import Conversation
    from detectors.fold import fold
    from monitor.canary_event import CanaryMark
    from monitor.decode import Rejected, find_decoder
    from monitor.reader import Reader
with atheris.instrument_imports(include=["monitor.web", "alerts.signing", "starlette", "h11", "uvicorn"]):
    from monitor.web import incident as incident_page
    from monitor.web.app import build
    from monitor.web.server import WebServer

from prometheus_client import CollectorRegistry

from alerts.canary import Canary
from alerts.signing import link
from monitor.health import Health
from monitor.sources.record import Record
from monitor.store.memory import MemoryStore
from tests.support.fake_clock import EPOCH, FakeClock
from tests.support.worker import PSEUDONYMISER, Worker

LIMIT = 1.0  # seconds of the processor
KEY = b"k" * 32
PLACE = ("turns", 0)


class TooSlowError(AssertionError):
    pass


class Decoding:
    """Any bytes: a turn that can be stored, hashed and folded, or a named reason."""

    tokens: ClassVar = [
        "event_id",
        "conversation_id",
        "user_ref",
        "role",
        "text",
        "at",
        "turn",
        "message_id",
        "final",
        "release",
        "track",
        "app",
        "lang",
        "region",
        "latency_ms",
        "assistant",
        "probe",
        "expect",
        "script",
        "run",
        "user",
        "assistant",
        "human_agent",
        "system",
        "staging",
        "canary",
        "production",
        "true",
        "false",
        "null",
        "jiezhu-canary",
        "NaN",
        "Infinity",
        "1e999",
        "-1",
        "9007199254740993",
        "2026-03-01T03:00:00Z",
        "1772334000000",
        "\\ud800",
        "\\u0000",
    ]

    def __init__(self) -> None:
        self._decoder = find_decoder("native", 1 << 20)
        self._mark = CanaryMark(KEY, PSEUDONYMISER)
        self._reader = Reader(self._decoder, PSEUDONYMISER, FakeClock(), self._mark.marked)

    def seeds(self) -> list[bytes]:
        whole = {
            "event_id": "e",
            "conversation_id": "c",
            "role": "user",
            "text": "words 词",
            "at": EPOCH.isoformat(),
            "turn": 3,
            "message_id": "m",
            "final": False,
            "release": "7.2",
            "track": "canary",
            "latency_ms": 1.5,
            "assistant": {"emotion": ["sad"], "safety_triggered": True},
            "probe": {"script": "s", "run": 1, "round": 0, "expect": {"emotion": True}},
            "cohort": {"a": [1, {"b": None}]},
        }
        made = [
            json.dumps(whole).encode(),
            json.dumps({**whole, "at": 1772334000000}, ensure_ascii=False).encode(),
        ]
        return [
            *made,
            *(v for _, v in self._mark.events(Canary(int(EPOCH.timestamp()), 0))),
            b"[" * 3_000,
            b'{"a":' * 3_000,
            b'{"turn": ' + b"9" * 6_000 + b"}",
            b"\xef\xbb\xbf{}",
        ]

    def try_(self, data: bytes) -> None:
        with contextlib.suppress(Rejected):  # without the net that ``attempt`` spreads
            self._decoder.decode(data, now=EPOCH, pseudonymise=lambda kind, raw: kind + raw, sequence=0)
        parts = data.split(b"\n")[:8]
        read = self._reader.read([Record(PLACE, n, None, part) for n, part in enumerate(parts)], {})
        assert len(read.good) == len(parts)
        for key, turns in read.turns.items():
            json.dumps(fold(Conversation(key), turns, EPOCH).conversation.key)
            for turn in turns:
                json.dumps(
                    [turn.text, turn.release, turn.app, turn.lang, turn.region, turn.assistant, turn.probe],
                    ensure_ascii=False,
                ).encode()
                assert turn.at.tzinfo is UTC
        for letter in read.dead:
            assert letter.reason != "decoder_failed"


class Http:
    """Any bytes on the socket: an answer or none, no error inside, and the server goes on answering."""

    tokens: ClassVar = [
        "GET",
        "POST",
        "HEAD",
        "OPTIONS",
        "HTTP/1.1",
        "HTTP/1.0",
        "Host:",
        "Content-Length:",
        "Transfer-Encoding:",
        "chunked",
        "Connection:",
        "close",
        "upgrade",
        "Expect:",
        "100-continue",
        "/metrics",
        "/livez",
        "/readyz",
        "/incidents/",
        "/show",
        "/ack",
        "/resolve",
        "?expires=",
        "&signature=",
        "/schema/v1.json",
        "%00",
        "%ff",
        "%2e%2e",
        "\\r\\n\\r\\n",
    ]

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self._loop)
        worker = Worker(MemoryStore(), FakeClock())
        self._errors: list[str] = []
        logging.getLogger("uvicorn.error").setLevel(
            logging.CRITICAL
        )  # ``watched`` sees the same, and more of it
        pages = incident_page.routes([KEY], worker.store, worker.people, worker.clock)
        app = build(CollectorRegistry(), lambda: Health(()), lambda: Health(("x",)), lambda: "{}", pages)

        async def watched(scope, receive, send):
            try:
                await app(scope, receive, send)
            except LocalProtocolError:
                raise  # the client broke off within its request: uvicorn drops the connection
            except Exception as error:
                self._errors.append(repr(error))
                raise

        self._server = WebServer("127.0.0.1", 0)
        self._serving = self._loop.create_task(self._server.run(watched))  # type: ignore[arg-type]
        self._loop.run_until_complete(asyncio.sleep(0.1))
        self._cases = 0

    def seeds(self) -> list[bytes]:
        signed = link(KEY, "http://x", "jz-1-1", "ack", datetime(2027, 1, 1, tzinfo=UTC)).removeprefix(
            "http://x"
        )
        host = b"Host: x\r\n"
        return [
            b"GET /livez HTTP/1.1\r\n" + host + b"Connection: close\r\n\r\n",
            b"GET " + signed.encode() + b" HTTP/1.1\r\n" + host + b"\r\n",
            b"POST " + signed.encode() + b" HTTP/1.1\r\n" + host + b"Content-Length: 3\r\n\r\nabc",
            b"POST /metrics HTTP/1.1\r\n" + host + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
            b"GET /incidents/%00/show?expires=9&signature=%ff HTTP/1.1\r\n"
            + host
            + b"Expect: 100-continue\r\n\r\n",
            b"GET /livez HTTP/1.1\r\n"
            + host
            + b"Upgrade: websocket\r\nConnection: upgrade\r\n\r\nGET / HTTP/1.1\r\n\r\n",
        ]

    def try_(self, data: bytes) -> None:
        self._loop.run_until_complete(self._exchange(data))
        self._cases += 1
        if self._cases % 50 == 0:
            answer = self._loop.run_until_complete(self._exchange(self.seeds()[0], patience=10))
            assert b" 200 " in answer[:20], "the server has stopped answering"
        assert not self._errors, self._errors[0]

    async def _exchange(self, data: bytes, patience: float = 0.01) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._server.port)
        try:
            writer.write(data)
            with contextlib.suppress(ConnectionError, TimeoutError):
                await writer.drain()
                async with asyncio.timeout(patience):
                    return await reader.read(1 << 16)
        finally:
            writer.transport.abort()
        return b""


TARGETS: dict[str, Callable[[], Decoding | Http]] = {"decoding": Decoding, "http": Http}


def _peak() -> int:
    """Most memory so far, in MiB. A process begins with the peak of the one that it was forked from."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def main() -> None:
    name, seconds, directory = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
    target = TARGETS[name]()
    corpus = directory / "corpus"
    corpus.mkdir()
    for number, seed in enumerate(target.seeds()):
        (corpus / str(number)).write_bytes(seed)
    words = directory / "words"
    words.write_text("".join(f'"{word}"\n' for word in target.tokens if "\\" not in word), encoding="utf-8")

    def one(data: bytes) -> None:
        begun = time.process_time()
        target.try_(data)
        if time.process_time() - begun > LIMIT:
            raise TooSlowError(f"{time.process_time() - begun:.1f} s for {len(data)} bytes")

    options = [
        f"-max_total_time={seconds}",
        "-timeout=60",
        f"-rss_limit_mb={_peak() + 2048}",
        f"-max_len={1 << 15}",
        f"-dict={words}",
        f"-artifact_prefix={directory}/",
        "-print_final_stats=1",
    ]
    atheris.Setup([sys.argv[0], *options, str(corpus)], one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
