"""A viser server for a page: on a port that is free, and without a word on the terminal or in a notebook."""

import contextlib
import gzip
import html
import ipaddress
import logging
import socket
import threading
from collections.abc import Iterator
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import rich

from biped.errors import InputError
from biped.extras import need
from experiments.visualization.viewer.inputs import guard_inputs

#: The port that is tried first.
PORT = 8080
#: How many more are tried after it.
MORE = 50
#: Names and numbers of this machine for itself; addresses to listen at that are all that it has.
LOCAL, EVERYWHERE = ("localhost", "127.0.0.1", "::1"), ("", "0.0.0.0", "::")
#: Says on the terminal what strangers send: a port scanner's bytes, half a request.
LOGGER = "websockets.server"

_replacing = threading.Lock()


@contextlib.contextmanager
def serving(host: str = "127.0.0.1", port: int | None = None, title: str = "biped") -> Iterator[Any]:
    """A viser server, stopped at the end. It refuses the pages of other sites that are open in the same browser.

    So it does where such a page's name is given the address of this machine while it is open (DNS rebinding): the page
    and its socket are served under the names of ``host`` only. Values that no element can have are not taken.

    The browser's tab has the title. Port 0 is any that is free; None is 8080 or the next one that is free.
    """
    need("viser", "websockets")
    chosen = _first_free(host) if port is None else _checked(host, port)
    import viser

    console = rich.get_console()  # by which it introduces itself, also in a notebook
    with _having(logging.getLogger(LOGGER), "disabled", True):
        with _having(console, "quiet", True), _serving_our_way(title, host):
            server = viser.ViserServer(host=host, port=chosen, verbose=False)
        guard_inputs(server)
        try:
            yield server
        finally:
            with _having(console, "quiet", True):
                server.stop()


@contextlib.contextmanager
def _having(thing: object, name: str, value: object) -> Iterator[None]:
    """Let an attribute have a value within the context."""
    before = getattr(thing, name)
    setattr(thing, name, value)
    try:
        yield
    finally:
        setattr(thing, name, before)


@contextlib.contextmanager
def _serving_our_way(title: str, host: str) -> Iterator[None]:
    """A viser server that begins within takes orders from its own pages only, and these have this title.

    A browser lets any page open a websocket to any address, and only tells who asks (RFC 6455, 10.2). viser does not
    look at that and has no option for it, so the function by which it begins to serve is replaced for that moment.
    """
    import websockets.asyncio.server as library

    with _replacing:
        serve, begun = library.serve, False

        def guarded(*arguments: Any, process_request: Any, **options: Any) -> Any:
            nonlocal begun
            begun = True

            def process(connection: Any, request: Any) -> Any:
                if is_stranger(request.headers, host):
                    return connection.respond(403, "this page is of another site: open the address that biped tells\n")
                return _titled(process_request(connection, request), title)

            return serve(*arguments, process_request=process, **options)

        library.serve = guarded  # type: ignore[assignment,misc]
        try:
            yield
        finally:
            library.serve = serve  # type: ignore[misc]
        if not begun:
            raise RuntimeError("viser serves by other means than this was made for: it would take orders of strangers")


def _titled(response: Any, title: str) -> Any:
    """Viser's response; if it is a page, with another title."""
    if response is not None and response.headers.get("Content-Type", "").startswith("text/html"):
        packed = response.headers["Content-Encoding"] == "gzip"
        response.body = _with_title(response.body, title, packed)
        del response.headers["Content-Length"]
        response.headers["Content-Length"] = str(len(response.body))
    return response


@cache
def _with_title(page: bytes, title: str, packed: bool) -> bytes:
    text = gzip.decompress(page) if packed else page
    text = text.replace(b"<title>Viser</title>", f"<title>{html.escape(title)}</title>".encode(), 1)
    return gzip.compress(text) if packed else text


def is_stranger(headers: Any, host: str = "127.0.0.1") -> bool:
    """Whether a request to a server at ``host`` is by a page of another site, by what its browser says.

    Programs need not say anything of the kind. The port may be another one than the server's, by a tunnel's.
    """
    hosts = [name.lower() for name in headers.get_all("Host")]
    try:
        if not all(is_served(urlsplit(f"//{name}").hostname or "", host) for name in hosts):
            return True
        return any(urlsplit(origin).netloc.lower() not in hosts for origin in headers.get_all("Origin"))
    except ValueError:  # no address at all
        return True


def is_served(name: str, host: str) -> bool:
    """Whether a server at ``host`` is known by this name or number.

    At all of the machine's addresses it is known by every number, for only a name can be pointed from one machine to
    another, and by the names that the machine has.
    """
    if name in (*LOCAL, host.lower()):
        return True
    if host not in EVERYWHERE:
        return False
    own = socket.gethostname().lower()
    return _is_number(name) or name in (own, f"{own}.local", _full_name())


@cache
def _full_name() -> str:
    return socket.getfqdn().lower()


def _is_number(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def url_of(server: Any) -> str:
    return address_of(server.get_host(), server.get_port())


def address_of(host: str, port: int) -> str:
    shown = "localhost" if host in (*EVERYWHERE, "127.0.0.1") else host
    return f"http://[{shown}]:{port}" if ":" in shown else f"http://{shown}:{port}"


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
