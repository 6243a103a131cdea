"""Viser server for a page on a free port, with access by token only."""

import contextlib
import logging
import secrets
import socket
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import rich

from biped.errors import InputError
from biped.inputs.extras import need

#: First port to try; if it is taken, viser tries the next ones.
PORT = 8080
#: Bytes of the random token in an address.
TOKEN_SIZE = 16
#: Logger that would report invalid requests, such as a port scanner's, on the terminal.
LOGGER = "websockets.server"

_replacing = threading.Lock()


@contextlib.contextmanager
def serving(host: str = "127.0.0.1", port: int | None = None) -> Iterator[Any]:
    """Run a viser server within the context, at the address ``url_of``, whose token changes each time.

    Requests without the token are refused, and so are requests of other sites' pages in the same browser.

    Port 0: any free port; None: 8080 or the next free port.
    """
    need("viser", "websockets")
    _check(host, port or 0)
    import viser

    console = rich.get_console()  # viser prints a greeting, also in a notebook
    token = secrets.token_urlsafe(TOKEN_SIZE)
    with _with_attribute(logging.getLogger(LOGGER), "disabled", True):
        with _with_attribute(console, "quiet", True), _serving_with_token(token):
            server = viser.ViserServer(host=host, port=PORT if port is None else port, verbose=False)
        server.biped_token = token
        try:
            yield server
        finally:
            with _with_attribute(console, "quiet", True):
                server.stop()


@contextlib.contextmanager
def _with_attribute(thing: object, name: str, value: object) -> Iterator[None]:
    """Set an attribute within the context."""
    before = getattr(thing, name)
    setattr(thing, name, value)
    try:
        yield
    finally:
        setattr(thing, name, before)


@contextlib.contextmanager
def _serving_with_token(token: str) -> Iterator[None]:
    """Let a viser server that starts within the context serve only requests that have the token and no other origin.

    Browsers let any page open a websocket to any address, and only report its origin (RFC 6455, 10.2). viser ignores
    the origin and has no option for it, so the function with which it starts serving is replaced meanwhile.
    """
    import websockets.asyncio.server as library

    with _replacing:
        serve, begun = library.serve, False

        def guarded(handler: Any, *arguments: Any, process_request: Any, **options: Any) -> Any:
            nonlocal begun
            begun = True

            def process(connection: Any, request: Any) -> Any:
                path = without_token(request.path, token)
                if path is None or is_cross_site(request.headers):
                    why = "This address has no valid token" if path is None else "Another site sent this request"
                    return connection.respond(403, f"{why}: open the address that biped prints.\n")
                request.path = path
                return process_request(connection, request)

            return serve(handler, *arguments, process_request=process, **options)

        library.serve = guarded  # type: ignore[assignment,misc]
        try:
            yield
        finally:
            library.serve = serve  # type: ignore[misc]
        if not begun:
            raise RuntimeError(
                "this version of viser is not supported: its server would answer requests without the token"
            )


def url_of(server: Any) -> str:
    """Return the address of a server's page, with its token."""
    return f"{address_of(server.get_host(), server.get_port())}/{server.biped_token}/"


def address_of(host: str, port: int) -> str:
    shown = "localhost" if host in ("", "0.0.0.0", "::", "127.0.0.1") else host
    return f"http://[{shown}]:{port}" if ":" in shown else f"http://{shown}:{port}"


def _check(host: str, port: int) -> None:
    """Raise InputError if the server cannot listen there; viser would try other ports instead."""
    if not 0 <= port <= 65535:
        raise InputError(f"--port {port}: it must be from 0 to 65535; 0: any free port")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(address)
    except OSError as error:
        raise InputError(
            f"cannot listen at {host}, port {port}: {error.strerror or error}; "
            "choose another --port (0: any free port) or --host"
        ) from error


def without_token(path: str, token: str) -> str | None:
    """Return a path and its query without the leading token; None without a correct one."""
    place, mark, query = path.partition("?")
    first, _, rest = place.removeprefix("/").partition("/")
    return f"/{rest}{mark}{query}" if secrets.compare_digest(first.encode(), token.encode()) else None


def is_cross_site(headers: Any) -> bool:
    """Return whether a browser reports a page of another site: its Origin is not among its Host headers.

    Other programs send no Origin. The port may differ from the server's because of a tunnel.
    """
    hosts = [name.lower() for name in headers.get_all("Host")]
    try:
        return any(urlsplit(origin).netloc.lower() not in hosts for origin in headers.get_all("Origin"))
    except ValueError:  # invalid address
        return True
