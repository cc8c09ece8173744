"""What two workers showed while the demonstration ran, played again on loopback as if they ran now."""

from __future__ import annotations

import json
import lzma
import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

FILE = Path(__file__).with_name("demo.json.xz")


def frames() -> list[list[str]]:
    """Return what each worker showed, one text a second."""
    with lzma.open(FILE, "rt", encoding="utf-8") as kept:
        return json.load(kept)["workers"]


def total(counter: str, *having: str) -> float:
    """Return what the workers showed in the end, added up over the series that are marked by ``having``."""
    return sum(
        float(line.rsplit(" ", 1)[1])
        for worker in frames()
        for line in worker[-1].splitlines()
        if line.startswith(f"{counter}{{") and all(one in line for one in having)
    )


@contextmanager
def playing(speed: float, *more: Callable[[], str]) -> Iterator[tuple[str, ...]]:
    """Serve each worker's frames from the first scrape on, ``speed`` times as fast as kept, the last one for ever.

    ``more`` are texts of further series, one a worker, asked for at every scrape. Yields ``host:port`` of each.
    """
    begun: list[float] = []

    def now(shown: list[str]) -> str:
        begun[:] = begun or [time.monotonic()]
        return shown[min(int((time.monotonic() - begun[0]) * speed), len(shown) - 1)]

    with ExitStack() as stack:
        yield tuple(
            stack.enter_context(serving(_text(shown, now, more[number] if number < len(more) else str)))
            for number, shown in enumerate(frames())
        )


def _text(shown: list[str], now: Callable[[list[str]], str], more: Callable[[], str]) -> Callable[[], str]:
    def text() -> str:
        further = more()
        ours = {line.split()[2] for line in further.splitlines() if line.startswith("# TYPE")}
        return "".join(line for line in now(shown).splitlines(True) if _name(line) not in ours) + further

    return text


def _name(line: str) -> str:
    """Of the metric that a line shows or speaks of."""
    return line.split()[2] if line.startswith("#") else re.split(r"[{ ]", line, maxsplit=1)[0]


@contextmanager
def serving(text: Callable[[], str]) -> Iterator[str]:
    """Serve what ``text`` returns at each scrape, and yield ``host:port``."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = text().encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            with suppress(
                BrokenPipeError
            ):  # whoever scrapes has a limit, and a busy machine may be beyond it
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
