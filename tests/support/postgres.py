"""A throw-away PostgreSQL cluster on loopback: one a test process, a database of its own for each test."""

from __future__ import annotations

import contextlib
import os
import pwd
import re
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from monitor.demo.ports import free_port

ACCOUNT = "postgres"  # the server refuses to run as root
START = 30.0  # seconds


def binaries() -> Path | None:
    """Directory of the newest server that is installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: int(path.parts[4]))
    if found:
        return found[-1].parent
    on_path = shutil.which("postgres")
    return Path(on_path).resolve().parent if on_path else None


class Cluster:
    """``start`` and ``stop`` may be called again and again; the port and the data stay."""

    def __init__(self, directory: Path, bin_dir: Path) -> None:
        self.password = secrets.token_hex(12)
        self.port = free_port()
        self._bin = bin_dir
        self._directory = directory
        self._data = directory / "data"
        self._server: subprocess.Popen[bytes] | None = None
        self._count = 0

    def create(self) -> None:
        secret = self._directory / "password"
        secret.write_text(self.password)
        if os.geteuid() == 0:
            account = pwd.getpwnam(ACCOUNT)
            for path in (self._directory, secret):
                os.chown(path, account.pw_uid, account.pw_gid)
        command = [self._bin / "initdb", "-D", self._data, "-U", ACCOUNT, "-A", "scram-sha-256"]
        command += [f"--pwfile={secret}", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"]
        done = subprocess.run(
            self._unprivileged(command), cwd=self._directory, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr.decode()

    def start(self) -> None:
        options = {
            "listen_addresses": "127.0.0.1",
            "port": self.port,
            "unix_socket_directories": "",
            "fsync": "off",
            "max_connections": 60,
            "shared_buffers": "32MB",
        }
        command = [self._bin / "postgres", "-D", self._data]
        command += [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        log = self._directory / "log"
        with log.open("ab") as out:
            self._server = subprocess.Popen(
                self._unprivileged(command), cwd=self._directory, stdout=out, stderr=out
            )
        end = time.monotonic() + START
        while time.monotonic() < end:
            with contextlib.suppress(psycopg.OperationalError):
                self.execute("SELECT 1")
                return
            assert self._server.poll() is None, log.read_text()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._server.wait(0.05)
        raise AssertionError(log.read_text())

    def stop(self) -> None:
        """Drop every connection and end."""
        if self._server is not None:
            self._server.send_signal(signal.SIGINT)
            try:
                self._server.wait(15)
            except subprocess.TimeoutExpired:
                self._server.send_signal(signal.SIGQUIT)
                self._server.wait(15)
            self._server = None

    @contextlib.contextmanager
    def frozen(self) -> Iterator[None]:
        """Every process of the server stands still: connections stay, nothing is answered."""
        assert self._server is not None
        main = self._server.pid
        task = Path(f"/proc/{main}/task/{main}/children")
        stopped = [main]
        os.kill(main, signal.SIGSTOP)  # first, so that it starts no more of them
        for pid in map(int, task.read_text().split()):
            os.kill(pid, signal.SIGSTOP)
            stopped.append(pid)
        try:
            yield
        finally:
            for pid in stopped:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)

    def spent(self, url: str) -> float:
        """Seconds of processor time of whoever serves the connections to this database that are open."""
        assert self._server is not None
        name = f" {url.rsplit('/', 1)[1]} ".encode()
        total = 0
        for pid in Path(f"/proc/{self._server.pid}/task/{self._server.pid}/children").read_text().split():
            with contextlib.suppress(OSError):  # it has ended meanwhile
                if name in Path(f"/proc/{pid}/cmdline").read_bytes():
                    total += int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])
        return total / 1e9

    def database(self) -> str:
        """Make an empty database; return its URL."""
        self._count += 1
        name = f"t{self._count}"
        self.execute(f"CREATE DATABASE {name}")
        return self.url(name)

    def copy(self, url: str) -> str:
        """Make a database like that of ``url``, which nobody may be connected to."""
        self._count += 1
        name = f"t{self._count}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {url.rsplit('/', 1)[1]}")
        return self.url(name)

    def url(self, name: str) -> str:
        return f"postgresql://{ACCOUNT}:{self.password}@127.0.0.1:{self.port}/{name}"

    def execute(self, statement: str, name: str = "postgres") -> list[tuple]:
        with psycopg.connect(self.url(name), autocommit=True, connect_timeout=5) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def dump(self, url: str) -> bytes:
        """Everything in a database, as pg_dump writes it, with blobs as raw bytes too."""
        command = [self._bin / "pg_dump", "--inserts", f"--dbname={url}"]
        plain = subprocess.run(command, capture_output=True, check=True).stdout
        blobs = [bytes.fromhex(blob.decode()) for blob in re.findall(rb"'\\x([0-9a-f]*)'", plain)]
        return b"\n".join([plain, *blobs])

    def _unprivileged(self, command: list) -> list[str]:
        words = [str(part) for part in command]
        if os.geteuid() != 0:
            return words
        return ["setpriv", f"--reuid={ACCOUNT}", f"--regid={ACCOUNT}", "--clear-groups", *words]


@pytest.fixture(scope="session")
def postgres() -> Iterator[Cluster]:
    bin_dir = binaries()
    if bin_dir is None:
        pytest.skip("no PostgreSQL server is installed: apt-get install postgresql")
    # Not under pytest's own directory: that is closed to the server's account.
    with tempfile.TemporaryDirectory(prefix="jiezhu-postgres-", ignore_cleanup_errors=True) as name:
        cluster = Cluster(Path(name), bin_dir)
        cluster.create()
        cluster.start()
        try:
            yield cluster
        finally:
            cluster.stop()
