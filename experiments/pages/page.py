"""A page: what stands on it, and its rendering into one file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from experiments.pages.blocks import Block, Mood


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


@cache
def _environment() -> Environment:
    loader = PackageLoader("experiments.pages", "templates")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def render(page: Page) -> str:
    """The page as HTML: styles and images are in it, and it asks for no other file."""
    return _environment().get_template("page.html.j2").render(page=page)


def write_page(page: Page, path: Path) -> Path:
    """Write the page; under another name first, so that a reader never finds half of one.

    Raises:
        OSError: the file cannot be written.
    """
    part = path.with_name(path.name + ".part")
    try:
        part.write_text(render(page), encoding="utf-8")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return path
