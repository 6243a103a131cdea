"""Pages and their sockets: strangers, junk, values that no element can have, many clients."""

import re
import signal
import socket
import time
from urllib.error import URLError
from urllib.request import urlopen

import msgspec
import viser
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

from ..experiments.visualization.sockets import CAMERA
from .inputs import begin, mutated
from .program import Program
from .row import Attempt, Row, wait_until

ADDRESS = re.compile(r"http://localhost:(\d+)/(\S*)")
_UUID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
TYPES = ("GuiUpdateMessage", "ViewerCameraMessage", "ShareUrlRequest", "FileTransferStartUpload",
         "GuiFormDirtyMessage", "SceneNodeDragMessage", "ScenePointerMessage", "x", "")  # fmt: skip
VALUES = (None, True, 0, -1, 1.5, float("nan"), float("inf"), -1e308, 2**60, "", "x", "x" * 100_000, [], {},
          [1.0, 2.0, 3.0], {"a": [1]}, b"\x00\xff", [float("nan")] * 3, "../x.toml", "a.toml")  # fmt: skip


def messages(attempt: Attempt, elements: list[str]) -> bytes | str:
    """What a client might send."""
    random, one_of = attempt.random, attempt.one_of
    match one_of("update", "update", "update", "update", "type", "raw", "text", "deep"):
        case "update":
            updates = {one_of("value", "value", "value", "disabled", "update_cb", "x"): one_of(*VALUES)}
            return msgspec.msgpack.encode({"type": TYPES[0], "uuid": one_of(*elements, "x"), "updates": updates})
        case "type":
            return msgspec.msgpack.encode({"type": one_of(*TYPES)} | {one_of("uuid", "name", "x"): one_of(*VALUES)})
        case "raw":
            return bytes(random.bytes(int(random.integers(200))))
        case "deep":
            return b"\x91" * int(random.integers(1, 100_000)) + b"\xc0"
    return mutated(attempt, '{"type": "GuiUpdateMessage", "uuid": 1}').encode("utf-8", "replace").decode()


def is_served(port: int, token: str) -> bool:
    try:
        with urlopen(f"http://localhost:{port}/{token}", timeout=20.0) as answer:
            return answer.status == 200
    except (URLError, OSError):
        return False


def elements_of(connection) -> list[str]:
    """Names of the elements of a page, as it tells them."""
    found: set[bytes] = set()
    try:
        for _ in range(30):
            found.update(_UUID.findall(connection.recv(timeout=0.3)))
    except TimeoutError:
        pass
    return [one.decode() for one in sorted(found)] or ["x"]


def strangers(attempt: Attempt, port: int, token: str) -> None:
    """Requests without the token, of other hosts, of no HTTP: none is served."""
    host = attempt.one_of("evil.example", f"evil.example:{port}", "127.0.0.1.evil.example", "", "[", "localhost")
    path = attempt.one_of("", token[:-1], token + "x", f"{token}/../../etc/passwd", "%2e%2e/", "\x00", token)
    request = f"GET /{path} HTTP/1.1\r\nHost: {host}\r\n\r\n"
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
    own = re.search(r"^Host: *(localhost|127\.0\.0\.1)(:\d*)? *\r$", request, re.MULTILINE)
    known = own and token.strip("/") in request
    attempt.expect(not served or bool(known), f"served to a stranger: {request!r}")
    attempt.counts["served" if served else "refused"] += 1


def page(attempt: Attempt) -> None:
    """``view`` or ``live`` under strangers, junk and clients: it serves on, without a traceback, and ends as told."""
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
    """A client that looks, sends what it likes, and goes, or stays until all are gone."""
    address = f"ws://localhost:{port}/{token}"
    try:
        with connect(address, subprotocols=[f"viser-v{viser.__version__}"], proxy=None, max_size=None) as client:
            if attempt.chance(0.8):
                client.send(CAMERA)
            elements = elements_of(client)
            for _ in range(attempt.random.integers(1, 40)):
                client.send(messages(attempt, elements))
                attempt.tried += 1
            time.sleep(0.1)
    except (WebSocketException, OSError):
        attempt.counts["connections ended"] += 1


ROWS = (
    Row("web", "`view` and `live`: messages that are malformed or set what cannot be, requests of foreign hosts or "
        "without the token, clients that come and go", "messages", page, 0, 1),
)  # fmt: skip
