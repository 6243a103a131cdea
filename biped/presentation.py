"""How runs and models show themselves: in words here; figures, pages and the viewer stand above this package.

What is above is found by its name when it is asked for: nothing here imports it.
"""

import html
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from textwrap import fill
from typing import Any, Protocol

#: The package that draws, writes pages and opens the viewer.
ABOVE = "experiments.visualization"
#: Letters in a line.
WIDTH = 100

Facts = Iterable[tuple[str, str]]


class View(Protocol):
    """Something to see in three dimensions, as a page of its own."""

    page: str  #: HTML, complete

    def save(self, file: str | Path) -> Path:
        """Write the page: any browser shows it, without a network."""

    def _repr_html_(self) -> str: ...


def shown_by(name: str) -> Callable[..., Any]:
    """A function from above, by its name.

    Raises:
        MissingExtraError: it needs a package that is not installed; the message says how to install it.
    """
    function: Callable[..., Any] = getattr(import_module(ABOVE), name)
    return function


def as_text(title: str, facts: Facts) -> str:
    """A title, and a line for each fact."""
    rows = list(facts)
    width = max((len(name) for name, _ in rows), default=0)
    below = " " * (width + 4)
    lines = [fill(value, WIDTH, initial_indent=f"  {name:<{width}}  ", subsequent_indent=below) for name, value in rows]
    return "\n".join([title, *lines])


def as_html(title: str, facts: Facts) -> str:
    """Facts as a notebook shows them, in HTML."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
        f"<td style='text-align:left'>{html.escape(value)}</td></tr>"
        for name, value in facts
    )
    return f"<div><b>{html.escape(title)}</b><table>{rows}</table></div>"
