"""Findings of a study as one document, shown on the terminal, on a page, in files and as JSON."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from rich.text import Text

from biped.inputs.files import replace_file, replacing
from experiments.cli.terminal import print_table, say
from experiments.lookup.figure_look import remove_figure
from experiments.visualization.pages import Block, Prose, Section, Table

#: Terminal style of each mood (``pages.blocks.Mood``).
STYLES = {"": "", "good": "green", "bad": "yellow", "muted": "dim"}


@dataclass(frozen=True)
class Document:
    """Findings of a study: sentences, sections of tables and charts, data, and files."""

    lead: Sequence[Prose] = ()  # the findings in a few sentences
    sections: Sequence[Section] = ()
    data: Any = None  # the numbers, as ``--json`` prints them
    #: content by file name: a data frame is written as CSV, anything else as JSON; None deletes the file
    files: Mapping[str, Any] = field(default_factory=dict)
    #: by file name: function that draws the figure at a path and returns the paths; None deletes the figure
    drawings: Mapping[str, Callable[[Path], Sequence[Path]] | None] = field(default_factory=dict)
    more: Callable[[Path], Sequence[Path]] = lambda _: ()  # writes other files into the folder; returns their paths
    digits: str | None = None  # format of the numbers in CSV files, such as %.6g; None: all digits


def print_document(document: Document) -> None:
    """Print the lead and each section's prose and tables, except tables that a page always folds."""
    for sentence in document.lead:
        print_block(sentence)
    for section in document.sections:
        blocks = [b for b in section.blocks if isinstance(b, Prose) or (isinstance(b, Table) and b.fold is not True)]
        if blocks and section.title:
            say()
            say(section.title, "bold", f"  {section.subtitle}")
        for block in blocks:
            print_block(block)


def print_block(block: Block) -> None:
    """Print prose or a table; other blocks are ignored."""
    if isinstance(block, Prose):
        say(block.text, STYLES[block.mood])
    elif isinstance(block, Table):
        if block.caption:
            say(f"\n{block.caption}", "bold")
        rows = [[Text(cells[0]), *(Text(cell, STYLES[mood]) for cell in cells[1:])] for mood, cells in block.lines]
        print_table(block.headings, rows, block.styles)


def write_document(document: Document, folder: Path, draw: bool) -> list[Path]:
    """Write the files of a document, and if ``draw`` its figures; return the paths.

    Raises:
        OSError: a file cannot be written.
    """
    files = list(document.more(folder))
    for name, content in document.files.items():
        path = folder / name
        if content is None:
            path.unlink(missing_ok=True)
            continue
        if isinstance(content, pd.DataFrame):
            with replacing(path) as part:
                content.to_csv(part, index=False, float_format=document.digits)
        else:
            replace_file(path, f"{json.dumps(content, indent=2)}\n".encode())
        files.append(path)
    for name, drawing in document.drawings.items():
        if draw or drawing is None:
            remove_figure(folder / name)
        if draw and drawing is not None:
            files += drawing(folder / name)
    return files
