"""Whom a page and its socket are served to: who knows the address that biped tells, and comes from no other site."""

import secrets
from typing import Any
from urllib.parse import urlsplit

#: Bytes of the random part of an address: nobody guesses it.
TOKEN_SIZE = 16


class Door:
    """The door of a server: its address has a random ``token`` before the path, as a notebook's has.

    The page's scripts open their socket at the page's own path, so that one token lets both in.
    """

    def __init__(self) -> None:
        self.token = secrets.token_urlsafe(TOKEN_SIZE)

    def refusal(self, request: Any) -> str | None:
        """Why a request is not served, or None; then its path is what stands behind the token."""
        if is_stranger(request.headers):
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


def is_stranger(headers: Any) -> bool:
    """Whether a browser says that a page of another site asks: its Origin is not one of its Host headers.

    Programs need not say anything of the kind. The port may be another one than the server's, by a tunnel's.
    """
    hosts = [name.lower() for name in headers.get_all("Host")]
    try:
        return any(urlsplit(origin).netloc.lower() not in hosts for origin in headers.get_all("Origin"))
    except ValueError:  # no address at all
        return True
