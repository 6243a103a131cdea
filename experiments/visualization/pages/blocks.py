"""The blocks of a page: prose, lists, tables, images, charts, code. Text is plain, and escaped where it is shown."""

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

#: The moods that a row or a word is coloured by, besides saying it.
Mood = Literal["", "good", "bad", "muted"]

#: Tables longer than this are folded away until they are asked for.
LONG = 24
#: Cells of so many words are not broken.
SHORT = 2
#: [px] of a chart whose figure has no height.
HEIGHT = 420


@dataclass(frozen=True)
class Prose:
    """A paragraph."""

    text: str
    mood: Mood = ""


@dataclass(frozen=True)
class Bullets:
    """A list, with a heading."""

    heading: str
    items: tuple[str, ...]


@dataclass(frozen=True)
class Code:
    """Commands, or anything that is shown letter by letter."""

    text: str  # as it is shown
    caption: str = ""  # what it is hidden behind; shown at once without one


@dataclass(frozen=True)
class Image:
    """A picture in the page itself."""

    png: bytes  # the file's bytes
    caption: str  # below it; also what is read out where the picture cannot be seen

    @property
    def source(self) -> str:
        return "data:image/png;base64," + base64.b64encode(self.png).decode("ascii")


@dataclass(frozen=True)
class Chart:
    """An interactive figure, drawn when a page is rendered; a page with a chart also holds plotly.js.

    Charts whose layout has the same ``meta.axis`` zoom together along x.
    """

    #: one panel, several in rows, several for each entry of a menu, or a figure of Plotly
    content: "Panel | Sequence[Panel] | Mapping[str, Sequence[Panel]] | go.Figure"
    caption: str  # shown below it
    name: str = ""  # unique on its page
    columns: int = 1  # panels in a row
    pixels: int | None = None  # height; that of the panels if not given

    @cached_property
    def figure(self) -> "go.Figure":
        """The figure of Plotly."""
        if hasattr(self.content, "to_json"):
            return self.content
        return figure_of(self.content, self.columns, self.pixels)

    @property
    def height(self) -> int:
        """Height [px]."""
        return int(self.figure.layout.height or HEIGHT)

    @property
    def script(self) -> str:
        """The figure as JSON in which no text can end the script element around it."""
        text: str = self.figure.to_json()
        return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


@dataclass(frozen=True)
class Table:
    """Rows of text."""

    caption: str  # above it
    headings: tuple[str, ...]  # of the columns
    rows: tuple[tuple[str, ...], ...]  # each as long as ``headings``
    moods: tuple[Mood, ...] = ()  # one a row, or none at all
    fold: bool | None = None  # hide it behind its caption; if not said, where it is long

    def __post_init__(self) -> None:
        if any(len(row) != len(self.headings) for row in self.rows):
            raise InputError(f"table {self.caption!r}: every row must have {len(self.headings)} cells")
        if self.moods and len(self.moods) != len(self.rows):
            raise InputError(f"table {self.caption!r}: {len(self.moods)} moods for {len(self.rows)} rows")

    @classmethod
    def of(cls, caption: str, frame: pd.DataFrame, fold: bool | None = None) -> "Table":
        """A data frame without its index; numbers with four digits, and nothing where one is missing."""
        rows = tuple(tuple(shown(value) for value in row) for row in frame.itertuples(index=False, name=None))
        return cls(caption, tuple(map(str, frame.columns)), rows, fold=fold)

    @property
    def is_folded(self) -> bool:
        return len(self.rows) > LONG if self.fold is None else self.fold

    @property
    def styles(self) -> tuple[str, ...]:
        """The style of each column: ``number``, ``word`` or ``text``, by what all of its cells are."""
        columns = zip(*self.rows, strict=True) if self.rows else ((),) * len(self.headings)
        return tuple(_style(column) for column in columns)

    @property
    def lines(self) -> list[tuple[Mood, tuple[str, ...]]]:
        none: Mood = ""
        moods = self.moods or tuple(none for _ in self.rows)
        return list(zip(moods, self.rows, strict=True))


Block = Prose | Bullets | Code | Image | Chart | Table


def shown(value: object) -> str:
    """A value as a reader wants it: four digits of a number, nothing for one that is missing."""
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
