"""Blocks of a page: prose, lists, tables, images, charts, code. Texts are plain, and escaped on the page."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import pandas as pd

from biped.errors import InputError
from experiments.visualization.panels.with_plotly import figure_of

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from experiments.visualization.panels.panel import Panel

#: Moods, which set the colour of a row or a word.
Mood = Literal["", "good", "bad", "muted"]

#: Tables with more rows are folded.
LONG = 24
#: Cells with at most this many words are not broken.
SHORT = 2
#: [px] height of a chart whose figure has none.
HEIGHT = 420


@dataclass(frozen=True)
class Prose:
    """Paragraph of text."""

    text: str
    mood: Mood = ""


@dataclass(frozen=True)
class Bullets:
    """List with a heading."""

    heading: str
    items: tuple[str, ...]


@dataclass(frozen=True)
class Code:
    """Commands or other text that is shown verbatim."""

    text: str  # text to show
    caption: str = ""  # heading that unfolds the text; if empty, the text is always shown


@dataclass(frozen=True)
class Image:
    """Picture embedded in the page."""

    png: bytes  # bytes of the file
    caption: str  # caption, and description for screen readers

    @property
    def source(self) -> str:
        return "data:image/png;base64," + base64.b64encode(self.png).decode("ascii")


@dataclass(frozen=True)
class Chart:
    """Interactive figure, drawn when a page is rendered; a page with a chart includes plotly.js.

    Charts with the same ``meta.axis`` in their layouts zoom together along x.
    """

    #: one panel, several in rows, several for each entry of a menu, or a Plotly figure
    content: "Panel | Sequence[Panel] | Mapping[str, Sequence[Panel]] | go.Figure"
    caption: str  # text below the chart
    name: str = ""  # unique on its page
    columns: int = 1  # panels in a row
    pixels: int | None = None  # height; None: as the panels need

    @cached_property
    def figure(self) -> "go.Figure":
        """Plotly figure of the chart."""
        if hasattr(self.content, "to_json"):
            return self.content
        return figure_of(self.content, self.columns, self.pixels)

    @property
    def height(self) -> int:
        """Height [px] of the chart."""
        return int(self.figure.layout.height or HEIGHT)

    @property
    def script(self) -> str:
        """Figure as JSON in which no text can end the script element around it."""
        text: str = self.figure.to_json()
        return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


@dataclass(frozen=True)
class Table:
    """Table whose cells are text."""

    caption: str  # text above the table
    headings: tuple[str, ...]  # headings of the columns
    rows: tuple[tuple[str, ...], ...]  # rows, each as long as ``headings``
    moods: tuple[Mood, ...] = ()  # one for each row, or none
    fold: bool | None = None  # whether only the caption is shown at first; None: if the table is long

    def __post_init__(self) -> None:
        if any(len(row) != len(self.headings) for row in self.rows):
            raise InputError(f"table {self.caption!r}: every row must have {len(self.headings)} cells")
        if self.moods and len(self.moods) != len(self.rows):
            raise InputError(f"table {self.caption!r}: {len(self.moods)} moods, but {len(self.rows)} rows")

    @classmethod
    def of(cls, caption: str, frame: pd.DataFrame, fold: bool | None = None) -> "Table":
        """Return a table of a data frame without its index; numbers have four digits, missing ones are blank."""
        rows = tuple(tuple(shown(value) for value in row) for row in frame.itertuples(index=False, name=None))
        return cls(caption, tuple(map(str, frame.columns)), rows, fold=fold)

    @property
    def is_folded(self) -> bool:
        return len(self.rows) > LONG if self.fold is None else self.fold

    @property
    def styles(self) -> tuple[str, ...]:
        """Style of each column by its cells: ``number``, ``word`` or ``text``."""
        columns = zip(*self.rows, strict=True) if self.rows else ((),) * len(self.headings)
        return tuple(_style(column) for column in columns)

    @property
    def lines(self) -> list[tuple[Mood, tuple[str, ...]]]:
        none: Mood = ""
        moods = self.moods or tuple(none for _ in self.rows)
        return list(zip(moods, self.rows, strict=True))


Block = Prose | Bullets | Code | Image | Chart | Table


def shown(value: object) -> str:
    """Return a value as text: four digits for a number, nothing for a missing one."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return "" if value != value else f"{value:.4g}"
    return str(value)


def _style(texts: tuple[str, ...]) -> str:
    filled = [text for text in texts if text]
    if filled and all(map(_is_number, filled)):
        return "number"
    return "word" if all(len(text.split()) <= SHORT for text in filled) else "text"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
