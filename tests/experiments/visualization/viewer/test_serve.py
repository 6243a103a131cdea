"""The server: whom it refuses, what it keeps to itself, and where it is found."""

import logging
import socket
import sys
import time
from types import ModuleType

import pytest
import rich
import viser
from websockets.datastructures import Headers
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from experiments.visualization.viewer.serve import LOGGER, address_of, is_stranger, serving, url_of


def opened(server, origin):
    own = [f"viser-v{viser.__version__}"]
    with connect(f"ws://127.0.0.1:{server.get_port()}", origin=origin, subprotocols=own, proxy=None) as connection:
        connection.recv(timeout=10.0)


def test_pages_of_other_sites_are_refused():
    with serving(port=0) as server:
        port = server.get_port()
        opened(server, None)  # a program
        opened(server, f"http://127.0.0.1:{port}")
        for origin in ("http://evil.example", f"http://evil.example:{port}", "null", f"http://127.0.0.1:{port + 1}"):
            with pytest.raises(InvalidStatus, match="403"):
                opened(server, origin)


def test_every_origin_must_be_the_host():
    for origin, host, wanted in (
        ("http://localhost:8080", "localhost:8080", False),
        ("http://LocalHost:8080", "localhost:8080", False),
        ("http://[::1]:8080", "[::1]:8080", False),
        ("http://localhost:8080.evil.example", "localhost:8080", True),
        ("http://evil.example", "localhost:8080", True),
    ):
        assert is_stranger(Headers([("Host", host), ("Origin", origin)])) == wanted, origin
    assert is_stranger(Headers([("Host", "a"), ("Origin", "http://a"), ("Origin", "http://b")]), "a")
    assert not is_stranger(Headers([("Host", "a")]), "a")
    assert is_stranger(Headers([("Host", "localhost"), ("Origin", "http://[")]))


@pytest.mark.parametrize(
    ("at", "known", "strange"),
    [
        (
            "127.0.0.1",
            ("localhost", "LOCALHOST:9000", "127.0.0.1:8080", "[::1]:80"),
            ("evil.example", "192.0.2.1", "["),
        ),
        ("192.0.2.1", ("192.0.2.1:8080",), ("192.0.2.2", "192.0.2.1.evil.example", "")),
        ("Lab.example", ("lab.example:80",), ("evil.example",)),
        ("0.0.0.0", ("192.0.2.1", "[2001:db8::1]:80", socket.gethostname()), ("evil.example", "evil.example:8080")),
        ("::", ("192.0.2.1", "localhost"), ("evil.example",)),
    ],
)
def test_a_server_is_known_by_its_own_names_only(at, known, strange):
    """A page of another site whose name has come to mean this machine has Host and Origin alike."""
    for hosts, wanted in ((known, False), (strange, True)):
        for host in hosts:
            assert is_stranger(Headers([("Host", host), ("Origin", f"http://{host}")]), at) == wanted, host


def test_a_name_that_was_pointed_here_gets_neither_page_nor_socket():
    with serving(port=0) as server:
        port = server.get_port()
        upgrade = (
            f"Origin: http://evil.example:{port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            f"Sec-WebSocket-Protocol: viser-v{viser.__version__}\r\n"
        )
        for host, more, wanted in (
            ("evil.example", "", b"403"),
            ("evil.example", upgrade, b"403"),
            ("localhost", "", b"200"),
        ):
            with socket.create_connection(("127.0.0.1", port), timeout=10.0) as stranger:
                stranger.sendall(f"GET / HTTP/1.1\r\nHost: {host}:{port}\r\n{more}\r\n".encode())
                assert stranger.recv(64).split()[1] == wanted


def test_what_strangers_send_is_not_told_on_the_terminal(caplog, capfd):
    logger = logging.getLogger(LOGGER)
    level = logger.level
    with serving(port=0) as server:
        for words in (b"\x16\x03\x01 no HTTP at all\r\n\r\n", b"GET / HTTP/1.1\r\n", b""):
            with socket.create_connection(("127.0.0.1", server.get_port()), timeout=10.0) as stranger:
                stranger.sendall(words)
        time.sleep(0.3)
        opened(server, None)  # it still serves
    assert caplog.records == []
    assert capfd.readouterr() == ("", "")
    assert logger.level == level
    assert not logger.disabled


def test_addresses_are_what_a_browser_takes():
    assert address_of("127.0.0.1", 80) == address_of("0.0.0.0", 80) == address_of("::", 80) == "http://localhost:80"
    assert address_of("::1", 8080) == "http://[::1]:8080"
    assert address_of("fe80::1", 8080) == "http://[fe80::1]:8080"
    assert address_of("192.168.1.7", 8080) == "http://192.168.1.7:8080"


def test_an_address_of_the_sixth_version_can_be_listened_at():
    try:
        with socket.socket(socket.AF_INET6) as trial:
            trial.bind(("::1", 0))
    except OSError as error:
        pytest.skip(f"no IPv6 here: {error}")
    with serving("::1", 0) as server:
        assert url_of(server) == f"http://[::1]:{server.get_port()}"


def test_nothing_is_said_in_a_notebook(monkeypatch):
    """Where rich shows things not on standard output but by IPython's ``display``."""
    shown = []
    notebook = ModuleType("IPython.display")
    notebook.display = lambda *things, **_: shown.extend(things)
    monkeypatch.setitem(sys.modules, "IPython", ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", notebook)
    monkeypatch.setattr(rich.get_console(), "is_jupyter", True)
    with serving(port=0):
        assert shown == []
    assert shown == []
    rich.print("as before")
    assert len(shown) == 1
