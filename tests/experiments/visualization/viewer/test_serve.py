"""The server: whom it refuses, what it keeps to itself, and where it is found."""

import gc
import time
import weakref
from contextlib import ExitStack
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed, InvalidStatus

from experiments.visualization.viewer.door import is_stranger
from experiments.visualization.viewer.serve import MOST_CLIENTS, serving, url_of

from ..sockets import CAMERA, opened


def greeted(server, origin=None, path=None):
    with opened(server, origin, path) as connection:
        connection.recv(timeout=10.0)


def test_pages_of_other_sites_are_refused():
    with serving(port=0) as server:
        port = server.get_port()
        greeted(server)  # a program
        greeted(server, f"http://localhost:{port}")
        for origin in ("http://evil.example", f"http://evil.example:{port}", "null", f"http://localhost:{port + 1}"):
            with pytest.raises(InvalidStatus, match="403"):
                greeted(server, origin)


def test_without_the_token_of_the_address_neither_page_nor_socket_is_served():
    with serving(port=0) as server, serving(port=0) as other:
        token = url_of(server).split("/")[3]
        assert len(token) >= 20
        assert token not in url_of(other)
        for path in ("", "/", token[:-1], f"{token}x", token.swapcase(), url_of(other).split("/")[3], f"x/{token}"):
            with pytest.raises(InvalidStatus, match="403"):
                greeted(server, path=path)
            status, text = fetched(server, f"/{path}")
            assert status == 403
            assert b"open the address that biped tells" in text
        for path in (f"/{token}", f"/{token}/", f"/{token}/?fixedDpr=1", f"/{token}/index.html"):
            assert fetched(server, path)[0] == 200, path
        assert fetched(server, f"/{token}/no-such-file")[0] == 404
        greeted(server, path=token)  # as the page's scripts ask: without the last stroke


def fetched(server, path):
    """Status and text of a page's answer."""
    try:
        with urlopen(f"http://localhost:{server.get_port()}{path}", timeout=10.0) as answer:
            return answer.status, answer.read()
    except HTTPError as error:
        return error.code, error.read()


def test_only_so_many_look_at_once():
    """And whoever is gone leaves no memory behind."""
    with serving(port=0) as server, ExitStack() as all_of_them:
        for _ in range(MOST_CLIENTS):
            connection = all_of_them.enter_context(opened(server))
            connection.send(CAMERA)
            connection.recv(timeout=10.0)
        with pytest.raises(ConnectionClosed, match="look at this already"), opened(server) as late:
            late.recv(timeout=10.0)
        waits_until(lambda: len(server.get_clients()) == MOST_CLIENTS)
        held = [weakref.ref(client) for client in server.get_clients().values()]
        all_of_them.close()
        waits_until(lambda: not server.get_clients())
        waits_until(lambda: gc.collect() >= 0 and not any(client() for client in held))
        greeted(server)


def waits_until(true):
    ends = time.monotonic() + 20.0
    while not true() and time.monotonic() < ends:
        time.sleep(0.01)
    assert true()


def test_every_origin_must_be_the_host():
    for origin, host, wanted in (
        ("http://localhost:8080", "localhost:8080", False),
        ("http://LocalHost:8080", "localhost:8080", False),
        ("http://[::1]:8080", "[::1]:8080", False),
        ("http://localhost:8080.evil.example", "localhost:8080", True),
        ("http://evil.example", "localhost:8080", True),
    ):
        assert is_stranger(Headers([("Host", host), ("Origin", origin)])) == wanted, origin
    assert is_stranger(Headers([("Host", "a"), ("Origin", "http://a"), ("Origin", "http://b")]))
    assert not is_stranger(Headers([("Host", "a")]))
    assert is_stranger(Headers([("Host", "localhost"), ("Origin", "http://[")]))
