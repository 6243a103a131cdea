"""The terminal, with lists and tables laid out for its width."""

import os
from collections.abc import Sequence
from pathlib import Path

from rich.align import VerticalAlignMethod
from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from experiments.cli.reply import Form, form

#: Default width of output into a file or a pipe.
WIDTH = 140
#: Least width of a text next to the cells that it explains; a narrower one is put below.
LEAST_TEXT = 30


def terminal() -> Console:
    """Return the terminal, which is silent unless the reply is text; a file or a pipe is ``WIDTH`` wide."""
    console = _Terminal(quiet=form() is not Form.TEXT)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = WIDTH
    return console


def say(text: str = "", style: str = "", rest: str = "") -> None:
    """Print a line: ``text`` in a style, then ``rest`` without one; brackets are not markup."""
    terminal().print(Text(text, style=style).append(rest, style="default"))


def say_files(folder: Path, files: Sequence[Path | str], before: str = "") -> None:
    """Print a folder and the names of its files."""
    names = [file if isinstance(file, str) else file.name for file in files]
    say(f"{before}{folder}/  {', '.join(names)}", "cyan")


class _Terminal(Console):
    def on_broken_pipe(self) -> None:
        raise


def explained(rows: Sequence[Sequence[str]], width: int) -> RenderableType:
    """Return lines of short cells, the first a name, with a text next to them, or below them on a narrow terminal.

    Args:
        rows: equally many cells in each row; the last cell is the text.
        width: width of the terminal.
    """
    widths = [max(map(cell_len, column)) + 2 for column in list(zip(*rows, strict=True))[:-1]]
    in_columns = width - sum(widths) >= LEAST_TEXT
    table = Table.grid()
    for used in widths:
        table.add_column(no_wrap=in_columns, min_width=used if in_columns else None)
    table.add_column()
    parts: list[RenderableType] = []
    for *cells, text in rows:
        styled = [Text(cell, style="" if place else "bold") for place, cell in enumerate(cells)]
        if in_columns:
            table.add_row(*styled, Text(text))
        else:
            parts += [Text("  ").join(cell for cell in styled if cell), Padding(Text(text, style="dim"), (0, 0, 0, 4))]
    return table if in_columns else Group(*parts)


def print_explained(rows: Sequence[Sequence[str]]) -> None:
    """Print rows of short cells and a text, laid out by ``explained``."""
    console = terminal()
    console.print(explained(rows, console.width))


def print_table(
    headings: Sequence[str],
    rows: Sequence[Sequence[str | Text]],
    kinds: Sequence[str] = (),
    console: Console | None = None,
) -> None:
    """Print a table of plain text, in which brackets are not markup; rows that are too wide become blocks of lines.

    Args:
        headings: headings of the columns; the first column is a name, which begins the row's block.
        rows: equally many cells in each row.
        kinds: alignment of each column: ``number`` or ``word`` to the right, ``text`` to the left with line breaks;
            default: a name to the left without line breaks, then numbers.
        console: console to print on (default: the terminal).
    """
    console = console or terminal()
    cells = [[cell if isinstance(cell, Text) else Text(cell) for cell in row] for row in rows]
    broken = ["\n".join(heading.replace(" %", "\N{NO-BREAK SPACE}%").split(" ")) for heading in headings]
    vertical: VerticalAlignMethod = "top" if "text" in kinds else "bottom"
    for labels, buffers in ((headings, 4), (broken, 4), (broken, 2)):
        for most in (None, LEAST_TEXT):
            table = Table(box=None, pad_edge=False, padding=(0, buffers, 0, 0))
            for place, label in enumerate(labels):
                is_text = bool(kinds) and kinds[place] == "text"
                left = is_text or (place == 0 and (not kinds or kinds[0] != "number"))
                table.add_column(
                    Text(label), justify="left" if left else "right", header_style="bold", vertical=vertical,
                    no_wrap=not is_text, max_width=most if is_text else None,
                )  # fmt: skip
            for row in cells:
                table.add_row(*row)
            if fits(table, console):
                for column in table.columns:
                    column.max_width = None
                console.print(table)
                return
    for name, *values in cells:
        console.print(Text(f"{headings[0]} ".lstrip(), style="bold").append(name))
        block = Table.grid(padding=(0, 2))
        for heading, cell in zip(headings[1:], values, strict=True):
            block.add_row(Text(f"    {heading}"), cell)
        console.print(block)


def fits(table: Table, console: Console) -> bool:
    """Return True if no cell of the table has to be wrapped."""
    return Measurement.get(console, console.options.update(max_width=10_000), table).maximum <= console.width
