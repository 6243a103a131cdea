"""A viser server for a page: on a port that is free, and without a word on the terminal."""

import contextlib
import io
import socket
from collections.abc import Iterator
from typing import Any

from biped.errors import InputError

#: The port that is tried first.
PORT = 8080
#: How many more are tried after it.
MORE = 50


@contextlib.contextmanager
def serving(host: str = "127.0.0.1", port: int | None = None) -> Iterator[Any]:
    """A viser server, stopped at the end.

    Args:
        host: address to listen at; ``0.0.0.0`` for all of this machine's.
        port: 0 for any that is free; None for 8080 or the next one that is free.

    Raises:
        InputError: the port is taken, or the address is not this machine's.
    """
    chosen = _first_free(host) if port is None else _checked(host, port)
    import viser

    with contextlib.redirect_stdout(io.StringIO()):  # it introduces itself
        server = viser.ViserServer(host=host, port=chosen, verbose=False)
    try:
        yield server
    finally:
        with contextlib.redirect_stdout(io.StringIO()):
            server.stop()


def url_of(server: Any) -> str:
    """Where a browser on this machine finds it."""
    host = server.get_host()
    shown = "localhost" if host in ("0.0.0.0", "::", "127.0.0.1") else host
    return f"http://{shown}:{server.get_port()}"


def _first_free(host: str) -> int:
    for port in range(PORT, PORT + MORE):
        if _trouble(host, port) is None:
            return port
    return _checked(host, PORT)


def _checked(host: str, port: int) -> int:
    if not 0 <= port <= 65535:
        raise InputError(f"--port {port}: it must be from 0 to 65535; 0 takes any that is free")
    trouble = _trouble(host, port)
    if trouble is not None:
        raise InputError(
            f"cannot listen at {host}, port {port}: {trouble}; choose another --port (0: any that is free) or --host"
        )
    return port


def _trouble(host: str, port: int) -> str | None:
    """Why one cannot listen there, or None."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(address)
    except OSError as error:
        return error.strerror or str(error)
    return None
