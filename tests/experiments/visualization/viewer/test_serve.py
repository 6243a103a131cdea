"""The server: refused requests, silence on the terminal, and its address."""

from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from websockets.datastructures import Headers
from websockets.exceptions import InvalidStatus

from experiments.visualization.viewer.serve import is_cross_site, serving, url_of, without_token

from ..sockets import opened


def greeted(server, origin=None, path=None):
    with opened(server, origin, path) as connection:
        connection.recv(timeout=10.0)


def test_pages_of_other_sites_are_refused():
    with serving(port=0) as server:
        port = server.get_port()
        greeted(server)  # not a browser
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
            assert b"open the address that biped prints" in text
        for path in (f"/{token}", f"/{token}/", f"/{token}/?fixedDpr=1", f"/{token}/index.html"):
            assert fetched(server, path)[0] == 200, path
        assert fetched(server, f"/{token}/no-such-file")[0] == 404
        greeted(server, path=token)  # as the page's scripts do: without the last slash


def fetched(server, path):
    """Return status and text of a page's response."""
    try:
        with urlopen(f"http://localhost:{server.get_port()}{path}", timeout=10.0) as answer:
            return answer.status, answer.read()
    except HTTPError as error:
        return error.code, error.read()


def test_what_stands_behind_the_token():
    for path, wanted in (
        ("/abc", "/"),
        ("/abc/", "/"),
        ("/abc/x/y?z=/abc", "/x/y?z=/abc"),
        ("/abc?z", "/?z"),
        ("/", None),
        ("/abcd", None),
        ("/?abc", None),
        ("abc/é", "/é"),
        ("/é", None),
    ):
        assert without_token(path, "abc") == wanted, path


def test_every_origin_must_be_the_host():
    for origin, host, wanted in (
        ("http://localhost:8080", "localhost:8080", False),
        ("http://LocalHost:8080", "localhost:8080", False),
        ("http://[::1]:8080", "[::1]:8080", False),
        ("http://localhost:8080.evil.example", "localhost:8080", True),
        ("http://evil.example", "localhost:8080", True),
    ):
        assert is_cross_site(Headers([("Host", host), ("Origin", origin)])) == wanted, origin
    assert is_cross_site(Headers([("Host", "a"), ("Origin", "http://a"), ("Origin", "http://b")]))
    assert not is_cross_site(Headers([("Host", "a")]))
    assert is_cross_site(Headers([("Host", "localhost"), ("Origin", "http://[")]))
