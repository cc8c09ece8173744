"""uvicorn inside the daemon's loop: the daemon minds the signals, and binds before anything else starts."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator

import uvicorn
from starlette.applications import Starlette

from monitor.errors import ConfigurationError


class _Quiet(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class WebServer:
    def __init__(self, host: str, port: int) -> None:
        """Raise ConfigurationError if the address cannot be had. Port 0 takes a free one."""
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket = socket.socket(family, socket.SOCK_STREAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind((host, port))
        except OSError as error:
            self._socket.close()
            raise ConfigurationError(
                "JIEZHU_HTTP__PORT", f"cannot listen there ({error.strerror}); choose another host or port"
            ) from None
        self._server: uvicorn.Server | None = None

    @property
    def port(self) -> int:
        return int(self._socket.getsockname()[1])

    async def run(self, app: Starlette) -> None:
        """Returns after ``stop``."""
        config = uvicorn.Config(app, log_config=None, access_log=False, lifespan="off", server_header=False)
        self._server = _Quiet(config)
        await self._server.serve(sockets=[self._socket])

    def stop(self) -> None:
        if self._server is not None:
            self._server.should_exit = True
        else:
            self._socket.close()
