"""Navigation of the site, made from ``index.md``: each heading with links below it is a part, in the same order."""

import re

from sphinx.application import Sphinx

HEADING = re.compile(r"^##+ (.*)$")
ENTRY = re.compile(r"^- \[[^\]]*\]\(([\w/-]+)\.md\)")


def toctrees(index: str) -> str:
    """Return a hidden table of contents for every heading of the page that has links below it."""
    parts: dict[str, list[str]] = {}
    caption = ""
    for line in index.splitlines():
        if heading := HEADING.match(line):
            caption = heading[1]
        elif entry := ENTRY.match(line):
            parts.setdefault(caption, []).append(entry[1])
    return "\n".join(toctree(pages, f":caption: {caption}") for caption, pages in parts.items())


def toctree(pages: list[str], *options: str) -> str:
    """Return a table of contents that is not shown on its page."""
    return "\n".join(["", "```{toctree}", ":hidden:", *options, "", *pages, "```", ""])


def add_toctrees(_app: Sphinx, page: str, source: list[str]) -> None:
    if page == "index":
        source[0] += toctrees(source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", add_toctrees)
    return {"parallel_read_safe": True}
