"""Pages and their sockets: strangers, and clients that come and go."""

import re
import signal
import socket
import time
from urllib.error import URLError
from urllib.request import urlopen

import viser
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

from ..experiments.visualization.sockets import CAMERA
from .inputs import begin, mutated
from .program import Program
from .row import Attempt, Row, wait_until

ADDRESS = re.compile(r"http://localhost:(\d+)/(\S*)")


def is_served(port: int, token: str) -> bool:
    try:
        with urlopen(f"http://localhost:{port}/{token}", timeout=20.0) as answer:
            return answer.status == 200
    except (URLError, OSError):
        return False


def strangers(attempt: Attempt, port: int, token: str) -> None:
    """Requests without the token, of other sites, of no HTTP: none is served."""
    host = f"localhost:{port}"
    origin = attempt.one_of("http://evil.example", f"http://evil.example:{port}", "null", "http://[", f"http://{host}")
    path = attempt.one_of("", token[:-1], token + "x", f"{token}/../../etc/passwd", "%2e%2e/", "\x00", token)
    request = f"GET /{path} HTTP/1.1\r\nHost: {host}\r\nOrigin: {origin}\r\n\r\n"
    if attempt.chance(0.3):
        request = mutated(attempt, request)
    with socket.create_connection(("127.0.0.1", port), timeout=20.0) as stranger:
        stranger.sendall(request.encode("utf-8", "replace"))
        stranger.shutdown(socket.SHUT_WR)
        try:
            answer = stranger.recv(400)
        except OSError:
            answer = b""
    served = answer.startswith(b"HTTP/1.1 200")
    hosts, origins = (
        re.findall(rf"^{name}: *(?:\w+://)?([^/?#\s]*)", request.lower(), re.MULTILINE) for name in ("host", "origin")
    )
    known = token.strip("/") in request and all(one in hosts for one in origins)
    attempt.expect(not served or known, f"served to a stranger: {request!r}")
    attempt.counts["served" if served else "refused"] += 1


def page(attempt: Attempt) -> None:
    """``view`` or ``live`` under strangers and clients: it serves on, without a traceback, and ends as told."""
    begin()
    command = attempt.one_of("view", "live")
    words = ("view", "run") if command == "view" else ("live", "balance")
    program = Program(*words, "--no-open", "--port", 0, seconds=240.0)
    try:
        assert wait_until(lambda: program.has_ended() or bool(ADDRESS.search(program.text)), 120.0), program.text
        where = ADDRESS.search(program.text)
        attempt.expect(where is not None, program.text)
        if where is None:
            return
        port, token = int(where[1]), where[2].rstrip(".,;")
        for _ in range(attempt.random.integers(2, 6)):
            visit(attempt, port, token)
            strangers(attempt, port, token)
            attempt.tried += 1
        attempt.expect(is_served(port, token), f"the page is not served any more\n{program.text[-1500:]}", "hung")
        attempt.expect(not program.has_ended(), f"it has ended\n{program.text[-1500:]}")
    finally:
        program.send(signal.SIGINT)
        program.wait(60.0)
    program.judge(attempt, 0)
    attempt.expect(len(program.text) < 2000, f"it has told much: {program.text[:1500]}")
    attempt.counts[command] += 1


def visit(attempt: Attempt, port: int, token: str) -> None:
    """A client that looks, and goes, or stays for a moment."""
    address = f"ws://localhost:{port}/{token}"
    try:
        with connect(address, subprotocols=[f"viser-v{viser.__version__}"], proxy=None, max_size=None) as client:
            if attempt.chance(0.8):
                client.send(CAMERA)
            time.sleep(attempt.one_of(0.0, 0.01, 0.1, 0.5))
            attempt.tried += 1
    except (WebSocketException, OSError):
        attempt.counts["connections ended"] += 1


ROWS = (
    Row("web", "`view` and `live`: requests of other sites or without the token, clients that come and go",
        "requests and clients", page, 0, 1),
)  # fmt: skip
