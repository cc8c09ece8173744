"""What is started beside the demonstration finds ports that nobody's connection takes meanwhile."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from monitor.demo import ports
from monitor.demo.ports import free_port
from monitor.errors import JiezhuError


def test_it_can_be_listened_on() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", free_port()))
        listener.listen()


def test_the_kernel_gives_it_to_no_connection() -> None:
    given = Path("/proc/sys/net/ipv4/ip_local_port_range")
    if not given.exists():
        pytest.skip("this kernel does not say which ports it gives to connections")
    first, last = map(int, given.read_text(encoding="ascii").split())
    if first < 32_768:
        pytest.skip("this machine was told to give lower ports to connections, too")
    assert not any(first <= free_port() <= last for _ in range(100))


def test_where_all_are_taken_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", free_port()))
        taken = listener.getsockname()[1]
        monkeypatch.setattr(ports, "_PORTS", range(taken, taken + 1))
        with pytest.raises(JiezhuError, match=f"no port of {taken} to {taken} is free"):
            free_port()
