"""Presentation of runs and models as text and HTML; figures, pages and the viewer are in another package.

Functions of that package, ``ABOVE``, are imported when they are used.
"""

import html
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from textwrap import fill
from typing import Any, Protocol

#: Package of figures, pages and the viewer.
ABOVE = "experiments.visualization"
#: Width of text [characters].
WIDTH = 100

Facts = Iterable[tuple[str, str]]


class View(Protocol):
    """A three-dimensional view of a run or a model, as an HTML page."""

    page: str  #: complete HTML text

    def save(self, file: str | Path) -> Path:
        """Write the page to a file, which any browser shows without network access."""

    def _repr_html_(self) -> str: ...


def shown_by(name: str) -> Callable[..., Any]:
    """Return the function of this name in the package ``ABOVE``.

    Raises:
        MissingExtraError: a required package is not installed; the message gives the command that installs it.
    """
    function: Callable[..., Any] = getattr(import_module(ABOVE), name)
    return function


def as_text(title: str, facts: Facts) -> str:
    """Return a title and a line for each fact, a pair (name, value), as text."""
    rows = list(facts)
    width = max((len(name) for name, _ in rows), default=0)
    below = " " * (width + 4)
    lines = [fill(value, WIDTH, initial_indent=f"  {name:<{width}}  ", subsequent_indent=below) for name, value in rows]
    return "\n".join([title, *lines])


def as_html(title: str, facts: Facts) -> str:
    """Return a title and a table of facts, pairs (name, value), as HTML for a notebook."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
        f"<td style='text-align:left'>{html.escape(value)}</td></tr>"
        for name, value in facts
    )
    return f"<div><b>{html.escape(title)}</b><table>{rows}</table></div>"
