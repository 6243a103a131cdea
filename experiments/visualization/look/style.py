"""Style of all figures: fonts, lines, and colours for the colour-blind."""

from typing import Any

from biped.runs import verdict

# Okabe and Ito's palette, without yellow, which is too light for lines.
BLUE = "#0072B2"
ORANGE = "#E69F00"
GREEN = "#009E73"
RED = "#D55E00"
PURPLE = "#CC79A7"
SKY = "#56B4E9"
BLACK = "#222222"
GREY = "#8C8C8C"

#: Colours of x, y, z.
AXES = (BLUE, RED, GREEN)
#: Colours of w, x, y, z.
QUATERNION = (BLACK, *AXES)
#: Colours of a few lines, such as the six joints of a leg from the hip down.
LINES = (BLUE, ORANGE, GREEN, RED, PURPLE, SKY, BLACK, GREY)

#: Darker versions of these colours, for a second line over the first.
DARKER = ("#00395A", "#735000", "#004F3A", "#6B2F00", "#6A3450", "#1F5C80", "#000000", "#464646")

#: Colours of the contact states 1 … 6: none, sliding, sliding to sticking, sticking, sticking to sliding, pulling.
MODES = ("#F4F4F4", ORANGE, PURPLE, "#8DBFE0", RED, "#4A4A4A")

#: Colours of the verdicts on runs and trials (``biped.runs.verdict``).
VERDICTS = {
    verdict.RECOVERED: GREEN,
    verdict.STEPPED: SKY,
    verdict.FELL: ORANGE,
    verdict.LOST_CONTROL: RED,
    verdict.UNDECIDED: GREY,
    verdict.UNRELIABLE: PURPLE,
    verdict.FAILED: "#7A3E9D",
    verdict.INTERRUPTED: GREY,
    verdict.COMPLETED: BLUE,
}
#: Colours of what studies count as success (``experiments.studies.sweep.groups.successes_in``).
SUCCESSES = {
    verdict.RECOVERED: VERDICTS[verdict.RECOVERED],
    f"{verdict.RECOVERED} or {verdict.STEPPED}": VERDICTS[verdict.STEPPED],
    "withstood": BLUE,
}

#: Colour map from low to high, in files and on pages: for the colour-blind, and in grey.
MAP = "cividis"

#: [inch] size of a figure with one panel.
SIZE = (7.0, 3.6)

#: Settings for ``matplotlib.rc_context``.
STYLE: Any = {
    "figure.constrained_layout.use": True,
    "figure.dpi": 100,
    "savefig.dpi": 160,
    "pdf.fonttype": 42,  # text as text, as journals require
    "svg.fonttype": "none",
    "svg.hashsalt": "biped",  # equal figures give equal files
    "font.family": "DejaVu Sans",
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.formatter.limits": (-4, 5),
    "axes.formatter.useoffset": False,
    "axes.xmargin": 0.0,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.4,
    "lines.solid_capstyle": "round",
    "legend.frameon": False,
    "legend.fontsize": 8.0,
    "xtick.direction": "out",
    "ytick.direction": "out",
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
}

#: Smaller sizes for a figure in a journal's column, whose text has 7 points.
IN_COLUMNS: Any = {
    "font.size": 7.0,
    "axes.titlesize": 7.5,
    "axes.labelsize": 7.0,
    "axes.linewidth": 0.6,
    "grid.linewidth": 0.4,
    "lines.linewidth": 1.0,
    "legend.fontsize": 6.5,
    "xtick.labelsize": 6.5,
    "ytick.labelsize": 6.5,
}
