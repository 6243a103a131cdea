"""``biped report``: one page about a run or a study, and a notebook of the same."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from experiments.cli.main import Parser

PAGE = "report.html"

_DESCRIPTION = """\
Write one page about a run or a study: what came of it, what was run, interactive figures, tables, and how to make it
again. The page is one file; any browser shows it, and it needs no network."""

_EXAMPLES = """\
examples:
  biped run thrown-block
  biped report results/thrown-block                the page results/thrown-block/report.html
  biped report results/sweep/friction --out friction.html
  biped report results/thrown-block --notebook     also a notebook, that draws the same figures from Python

A study that is still running can be reported; the page says how far it is. What is there already stays until the new
page is complete.
Exit status: 0 done, 2 bad input or a file that cannot be written, 130 interrupted.
"""


def parser() -> Parser:
    own = Parser("biped report", _DESCRIPTION, _EXAMPLES)
    own.add_argument("folder", metavar="RUN|STUDY", help="the folder of a run or of a study")
    own.add_argument("--out", metavar="FILE", help=f"the page (default: {PAGE} in the folder)")
    own.add_argument("--notebook", action="store_true", help="also write a notebook beside the page (.ipynb)")
    return own


def main(argv: Sequence[str]) -> int:
    options = parser().parse_args(argv)
    from experiments.visualization.report.write import write_report

    parts = ["biped", "report", options.folder, *(["--out", options.out] if options.out else [])]
    command = shlex.join([*parts, *(["--notebook"] if options.notebook else [])])
    folder = Path(options.folder)
    page = Path(options.out) if options.out else folder / PAGE
    for file in write_report(folder, page, command, notebook=options.notebook):
        print(file)
    return 0
