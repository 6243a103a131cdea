"""Search terms: searches for the synonyms and questions that ``glossary.md`` lists for a page find that page first."""

import re
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from sphinx.application import Sphinx

GLOSSARY = Path(__file__).resolve().parent.parent / "glossary.md"
#: A row of a table whose last cell begins with a link to a page of this folder.
ROW = re.compile(r"^\| (.+) \| \[[^\]]*\]\(([\w/-]+)\.md\)", re.MULTILINE)


@cache
def terms() -> Mapping[str, list[str]]:
    """Return the search terms of each page."""
    entries = defaultdict(list)
    for texts, page in ROW.findall(GLOSSARY.read_text(encoding="utf-8")):
        entries[page] += [word for text in re.split(r"[|;,()?]", texts) if (word := text.strip(" `"))]
    return entries


def add_index(app: Sphinx, page: str, source: list[str]) -> None:
    """Insert an index directive below the title of a page that has search terms."""
    app.env.note_dependency(str(GLOSSARY))
    if page in terms():
        entries = ", ".join(f"! {term}" for term in terms()[page])
        source[0] = re.sub(r"^# .*$", rf"\g<0>\n\n```{{index}} {entries}\n```", source[0], count=1, flags=re.MULTILINE)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", add_index)
    return {"parallel_read_safe": True}
