"""Pages: everything is in the file, and text stays text."""

import math

import pandas as pd
import pytest

from biped.errors import InputError
from experiments.visualization.pages import Bullets, Code, Image, Page, Prose, Section, Table, render, write_page
from experiments.visualization.pages.blocks import LONG, shown

PNG = b"\x89PNG\r\n\x1a\n" + b"pixels"


def test_text_is_escaped_everywhere():
    nasty = "<script>alert('a & b')</script>"
    table = Table(nasty, (nasty,), ((nasty,),))
    blocks = (Prose(nasty), Bullets(nasty, (nasty,)), Code(nasty), Image(PNG, nasty), table)
    html = render(Page(nasty, nasty, blocks, (Section("a", nasty, nasty, nasty, "", blocks),), {nasty: nasty}))
    assert "<script" not in html
    assert html.count("&lt;script&gt;") >= 20


def test_long_tables_are_folded_and_short_ones_are_not():
    rows = tuple((str(k),) for k in range(LONG + 1))
    assert Table("", ("k",), rows).is_folded
    assert not Table("", ("k",), rows[:-1]).is_folded
    assert not Table("", ("k",), rows, fold=False).is_folded
    assert "<details>" in render(Page("a", lead=(Table("rows", ("k",), rows),)))


def test_a_frame_becomes_a_table():
    frame = pd.DataFrame({"h [s]": [1e-4, math.nan], "n": [1, 2], "name": ["a", None]})
    table = Table.of("errors", frame)
    assert table.headings == ("h [s]", "n", "name")
    assert table.rows == (("0.0001", "1", "a"), ("", "2", ""))
    assert table.styles == ("number", "number", "word")


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.123456, "0.1235"), (1.0, "1"), (3.96e-6, "3.96e-06"), (True, "yes"), (None, ""), ("DVP", "DVP"), (7, "7")],
)
def test_values_as_they_are_shown(value, text):
    assert shown(value) == text


def test_what_fits_no_page_is_refused():
    with pytest.raises(InputError, match="must have 2 cells"):
        Table("t", ("a", "b"), (("1",),))
    with pytest.raises(InputError, match="1 moods, but 2 rows"):
        Table("t", ("a",), (("1",), ("2",)), ("good",))


def test_a_page_that_cannot_be_written_leaves_the_old_one(tmp_path):
    path = write_page(Page("old"), tmp_path / "report.html")
    with pytest.raises(InputError):
        write_page(Page("new", lead=(Table("t", ("a",), (("1", "2"),)),)), path)
    assert "<title>old</title>" in path.read_text(encoding="utf-8")
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.html"]
