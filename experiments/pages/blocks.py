"""What a page is made of: prose, lists, tables, images, code. All text is plain text, and escaped where it is shown."""

import base64
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import pandas as pd

from biped.errors import InputError

#: What a row or a word is coloured by, besides saying it.
Mood = Literal["", "good", "bad", "muted"]

#: Tables longer than this are folded away until they are asked for.
LONG = 24
#: Cells of so many words are not broken.
SHORT = 2
_PNG = b"\x89PNG\r\n\x1a\n"


@dataclass(frozen=True)
class Prose:
    """A paragraph."""

    kind: ClassVar[str] = "prose"
    text: str
    mood: Mood = ""


@dataclass(frozen=True)
class Bullets:
    """A list, with a heading."""

    kind: ClassVar[str] = "bullets"
    heading: str
    items: tuple[str, ...]


@dataclass(frozen=True)
class Code:
    """Commands, or anything that is shown letter by letter."""

    kind: ClassVar[str] = "code"
    text: str


@dataclass(frozen=True)
class Image:
    """A picture in the page itself.

    Attributes:
        png: the file's bytes.
        caption: below it; also what is read out where the picture cannot be seen.

    Raises:
        InputError: the bytes are not those of a PNG file.
    """

    kind: ClassVar[str] = "image"
    png: bytes
    caption: str

    def __post_init__(self) -> None:
        if not self.png.startswith(_PNG):
            raise InputError(f"the image {self.caption!r} is no PNG file")

    @property
    def source(self) -> str:
        """The image as a data URI."""
        return "data:image/png;base64," + base64.b64encode(self.png).decode("ascii")


@dataclass(frozen=True)
class Table:
    """Rows of text.

    Attributes:
        caption: above it.
        headings: of the columns.
        rows: each as long as ``headings``.
        moods: one a row, or none at all.
        fold: hide it behind its caption; if not said, where it is long.

    Raises:
        InputError: a row is not as long as the headings, or there are not as many moods as rows.
    """

    kind: ClassVar[str] = "table"
    caption: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    moods: tuple[Mood, ...] = ()
    fold: bool | None = None

    def __post_init__(self) -> None:
        if any(len(row) != len(self.headings) for row in self.rows):
            raise InputError(f"table {self.caption!r}: every row must have {len(self.headings)} cells")
        if self.moods and len(self.moods) != len(self.rows):
            raise InputError(f"table {self.caption!r}: {len(self.moods)} moods for {len(self.rows)} rows")

    @classmethod
    def of(cls, caption: str, frame: pd.DataFrame) -> "Table":
        """A data frame without its index; numbers with four digits, and nothing where one is missing."""
        rows = tuple(tuple(shown(value) for value in row) for row in frame.itertuples(index=False, name=None))
        return cls(caption, tuple(map(str, frame.columns)), rows)

    def folded(self) -> "Table":
        """The same, hidden behind its caption."""
        return replace(self, fold=True)

    @property
    def is_folded(self) -> bool:
        """Whether only the caption is seen at first."""
        return len(self.rows) > LONG if self.fold is None else self.fold

    @property
    def styles(self) -> tuple[str, ...]:
        """Of each column: ``number``, ``word`` or ``text`` by what all of its cells are."""
        columns = zip(*self.rows, strict=True) if self.rows else ((),) * len(self.headings)
        return tuple(_style(column) for column in columns)

    @property
    def lines(self) -> list[tuple[Mood, tuple[str, ...]]]:
        """Mood and cells of each row."""
        none: Mood = ""
        moods = self.moods or tuple(none for _ in self.rows)
        return list(zip(moods, self.rows, strict=True))


Block = Prose | Bullets | Code | Image | Table


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
