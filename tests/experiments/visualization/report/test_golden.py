"""The golden page: the HTML of a page with a block of each kind but charts, byte by byte."""

from pathlib import Path

from experiments.visualization.pages import Bullets, Code, Page, Prose, Section, Table, render

GOLDEN = Path(__file__).with_name("golden.html")
PAGE = Page(
    title="Fit of sway & tilt",
    subtitle="a made-up subject",
    lead=(Prose("Stiffness is 12.3 N·m/rad.", "good"), Prose("One value is at its bound.", "bad")),
    sections=(
        Section(
            "parameters", "Parameters", "two of them", "1 at its bound", "bad",
            (
                Table("", ("parameter", "value", "95 % interval", "unit"), (
                    ("stiffness", "12.3", "11 … 14", "N·m/rad"), ("delay", "0.1", "0.09 … 0.1", "s"),
                ), ("good", "bad"), fold=False),
                Table("Correlations", ("", "stiffness"), (("stiffness", "1.000"), ("delay", "-0.200")), fold=True),
            ),
        ),
        Section("rerun", "To reproduce it", blocks=(
            Bullets("Files", ("fit.toml", "<subject>.csv")), Code("biped fit fit.toml"), Code("seed = 1", "fit.toml"),
        )),
    ),
    made={"biped-balance": "0.1.0"},
    refresh=5,
)  # fmt: skip


def test_the_page_is_the_golden_one():
    """To update it, write ``body()`` to the file, and read the difference."""
    assert body() == GOLDEN.read_text(encoding="utf-8")


def body():
    html = render(PAGE)
    return html[: html.index("<style>")] + html[html.index("</style>") :]
