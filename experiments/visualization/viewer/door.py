"""Whom a page and its socket are served to: who knows the address that biped tells, and asks for it by its own name."""

import ipaddress
import secrets
import socket
from functools import cache
from typing import Any
from urllib.parse import urlsplit

#: Names and numbers of this machine for itself; addresses to listen at that are all that it has.
LOCAL, EVERYWHERE = ("localhost", "127.0.0.1", "::1"), ("", "0.0.0.0", "::")
#: Bytes of the random part of an address: nobody guesses it.
TOKEN_SIZE = 16


class Door:
    """The door of a server at ``host``: its address has a random ``token`` before the path, as a notebook's has.

    The page's scripts open their socket at the page's own path, so that one token lets both in.
    """

    def __init__(self, host: str) -> None:
        self.host, self.token = host, secrets.token_urlsafe(TOKEN_SIZE)

    def refusal(self, request: Any) -> str | None:
        """Why a request is not served, or None; then its path is what stands behind the token."""
        if is_stranger(request.headers, self.host):
            return "this page is of another site: open the address that biped tells"
        path = without_token(request.path, self.token)
        if path is None:
            return "this address lacks its token, or has an older one: open the address that biped tells"
        request.path = path
        return None


def without_token(path: str, token: str) -> str | None:
    """A path and its query without the token that it begins with; None where it does not."""
    place, mark, query = path.partition("?")
    first, _, rest = place.removeprefix("/").partition("/")
    return f"/{rest}{mark}{query}" if secrets.compare_digest(first.encode(), token.encode()) else None


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
