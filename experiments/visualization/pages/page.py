"""A page: what stands on it, and its rendering into one file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from biped.inputs.extras import need
from biped.inputs.files import replace_file
from experiments.visualization.pages.blocks import Block, Chart, Mood

if TYPE_CHECKING:
    from jinja2 import Environment


@dataclass(frozen=True)
class Section:
    """A part of a page with a heading of its own."""

    name: str  # unique on its page, for links to it
    title: str  # one line
    subtitle: str = ""  # where it comes from
    verdict: str = ""  # a few words beside the title, and in the list of contents
    mood: Mood = ""  # of the verdict
    blocks: tuple[Block, ...] = ()  # what it holds


@dataclass(frozen=True)
class Page:
    """One page."""

    title: str  # of the page, and of the browser's window
    subtitle: str = ""  # below it, such as the paper it is about
    lead: tuple[Block, ...] = ()  # what stands above the list of contents: the summary
    sections: tuple[Section, ...] = ()  # the rest
    made: Mapping[str, object] = field(default_factory=dict)  # how and where it was made: by name, shown at the end
    refresh: int | None = None  # [s] after which the browser reads it anew

    @property
    def blocks(self) -> tuple[Block, ...]:
        return (*self.lead, *(block for section in self.sections for block in section.blocks))

    @property
    def charts(self) -> tuple[Chart, ...]:
        return tuple(block for block in self.blocks if isinstance(block, Chart))


@cache
def _environment() -> "Environment":
    need("jinja2")
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("experiments.visualization.pages", "templates")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def render(page: Page) -> str:
    """The page as HTML: styles, images and scripts are in it, and it asks for no other file."""
    plotly = ""
    if page.charts:
        need("plotly")
        from plotly.offline import get_plotlyjs

        plotly = get_plotlyjs()  # the text of plotly.js, as the Python package brings it along: all traces, 4.8 MB
    return _environment().get_template("page.html.j2").render(page=page, plotly=plotly)


def write_page(page: Page, path: Path) -> Path:
    replace_file(path, render(page).encode())
    return path
