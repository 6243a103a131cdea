"""A page: what stands on it, and its rendering into one file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from biped.extras import need
from experiments.cli.files import replace_file
from experiments.visualization.pages.blocks import Block, Chart, Mood

if TYPE_CHECKING:
    from jinja2 import Environment


@dataclass(frozen=True)
class Section:
    """A part of a page with a heading of its own.

    Attributes:
        name: unique on its page, for links to it.
        title: one line.
        subtitle: where it comes from.
        verdict: a few words beside the title, and in the list of contents.
        mood: of the verdict.
        blocks: what it holds.
    """

    name: str
    title: str
    subtitle: str = ""
    verdict: str = ""
    mood: Mood = ""
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True)
class Page:
    """One page.

    Attributes:
        title: of the page, and of the browser's window.
        subtitle: below it, such as the paper it is about.
        lead: what stands above the list of contents: the summary.
        sections: the rest.
        made: how and where it was made: by name, shown at the end.
    """

    title: str
    subtitle: str = ""
    lead: tuple[Block, ...] = ()
    sections: tuple[Section, ...] = ()
    made: Mapping[str, object] = field(default_factory=dict)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """All that it holds, in order."""
        return (*self.lead, *(block for section in self.sections for block in section.blocks))

    @property
    def charts(self) -> tuple[Chart, ...]:
        """The interactive figures."""
        return tuple(block for block in self.blocks if isinstance(block, Chart))


@cache
def _environment() -> "Environment":
    need("jinja2")
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("experiments.visualization.pages", "templates")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def render(page: Page) -> str:
    """The page as HTML: styles, images and scripts are in it, and it asks for no other file."""
    return _environment().get_template("page.html.j2").render(page=page, plotly=_plotly() if page.charts else "")


def _plotly() -> str:
    """The text of plotly.js, as the Python package brings it along: all kinds of traces, 4.8 MB."""
    need("plotly")
    from plotly.offline import get_plotlyjs

    text: str = get_plotlyjs()
    return text


def write_page(page: Page, path: Path) -> Path:
    """Write the page; under another name first, so that a reader never finds half of one.

    Raises:
        OSError: the file cannot be written; the error names it.
    """
    replace_file(path, render(page).encode())
    return path
