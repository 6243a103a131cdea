"""Presentation of runs and models in text and HTML; figures, pages and the viewer are in a package above.

Functions of that package are imported by name when they are used.
"""

import html
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from textwrap import fill
from typing import Any, Protocol

#: Package for figures, pages and the viewer.
ABOVE = "experiments.visualization"
#: Number of characters in a line.
WIDTH = 100

Facts = Iterable[tuple[str, str]]


class View(Protocol):
    """A three-dimensional view as a page of its own."""

    page: str  #: complete HTML

    def save(self, file: str | Path) -> Path:
        """Write the page; any browser shows it, without a network."""

    def _repr_html_(self) -> str: ...


def shown_by(name: str) -> Callable[..., Any]:
    """Return a function of the package ``ABOVE`` by its name.

    Raises:
        MissingExtraError: a package that it needs is not installed; the message gives the command to install it.
    """
    function: Callable[..., Any] = getattr(import_module(ABOVE), name)
    return function


def as_text(title: str, facts: Facts) -> str:
    """Return a title, and a line for each fact."""
    rows = list(facts)
    width = max((len(name) for name, _ in rows), default=0)
    below = " " * (width + 4)
    lines = [fill(value, WIDTH, initial_indent=f"  {name:<{width}}  ", subsequent_indent=below) for name, value in rows]
    return "\n".join([title, *lines])


def as_html(title: str, facts: Facts) -> str:
    """Return facts in HTML, for a notebook."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
        f"<td style='text-align:left'>{html.escape(value)}</td></tr>"
        for name, value in facts
    )
    return f"<div><b>{html.escape(title)}</b><table>{rows}</table></div>"
