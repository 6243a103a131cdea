"""Pages of sections and blocks, and their rendering into one file."""

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
    """Part of a page: heading, verdict and blocks of content."""

    name: str  # unique on its page, for links to it
    title: str  # heading, one line
    subtitle: str = ""  # line below the title, such as the source
    verdict: str = ""  # a few words beside the title, and in the table of contents
    mood: Mood = ""  # mood of the verdict
    blocks: tuple[Block, ...] = ()  # content of the section


@dataclass(frozen=True)
class Page:
    """Title, summary and sections of a page."""

    title: str  # title of the page and of the browser's window
    subtitle: str = ""  # line below the title, such as the paper
    lead: tuple[Block, ...] = ()  # summary above the table of contents
    sections: tuple[Section, ...] = ()  # sections below the table of contents
    made: Mapping[str, object] = field(default_factory=dict)  # origin (machine, versions) by name, shown at the end
    refresh: int | None = None  # [s] interval at which the browser reloads the page

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
    """Return the page as HTML with all styles, images and scripts; it loads no other file."""
    plotly = ""
    if page.charts:
        need("plotly")
        from plotly.offline import get_plotlyjs

        plotly = get_plotlyjs()  # plotly.js from the Python package: all traces, 4.8 MB
    return _environment().get_template("page.html.j2").render(page=page, plotly=plotly)


def write_page(page: Page, path: Path) -> Path:
    replace_file(path, render(page).encode())
    return path
