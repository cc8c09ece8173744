"""Ports of loopback for what is started beside the demonstration and the tests."""

from __future__ import annotations

import socket
from random import SystemRandom

from monitor.errors import JiezhuError

# Below what Linux gives to outgoing connections (32768 on, net.ipv4.ip_local_port_range): a port from there may be
# taken by anybody's connection before the process that it was found for has started. Below Kubernetes' node ports, too.
_PORTS = range(20_000, 30_000)
_TRIES = 200
_CHANCE = SystemRandom()  # of no seed: processes that look at the same time must not find the same


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on. Raises JiezhuError where none is found."""
    for _ in range(_TRIES):
        port = _CHANCE.choice(_PORTS)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise JiezhuError(f"no port of {_PORTS.start} to {_PORTS.stop - 1} is free on loopback")
