"""``biped report``: a page, and optionally a notebook, about a run or a study."""

from argparse import Namespace
from pathlib import Path

from biped.errors import InputError
from biped.inputs.modules import saved_names
from experiments.cli.main import Parser

PAGE = "report.html"

_DESCRIPTION = """\
Write a page about a run or a study: results, interactive figures, tables, and the command that reproduces it. The page
is a single file for any browser, without a network."""

_EXAMPLES = """\
examples:
  biped report results/thrown-block                results/thrown-block/report.html
  biped report results/push-map/published --watch  a page that refreshes itself while the study runs
  biped report results/balance --record subject.csv   with a measured record over the run, and their differences
  biped report results/thrown-block --notebook     with a notebook that draws the same figures
"""


def parser() -> Parser:
    command = Parser("biped report", _DESCRIPTION, _EXAMPLES, page="report")
    command.add_argument("folder", metavar="RUN|STUDY", help="folder of a run or of a study")
    command.option("--out", "FILE", f"file of the page (default: {PAGE} in the folder)")
    command.add_figure_axes()
    command.option("--record", "FILE", "record to compare with a run: CSV, C3D, ...; or a TOML file with [[record]]")
    command.switch("--watch", "update the page every few seconds while the study runs")
    command.add_trust()
    command.switch("--notebook", "also write a notebook (.ipynb) next to the page")
    return command


@saved_names()
def main(options: Namespace) -> int:
    from experiments.visualization.report.write import watch_study, write_report

    folder = Path(options.folder)
    page = Path(options.out) if options.out else folder / PAGE
    if options.watch:
        for name in ("notebook", "record"):
            if getattr(options, name):
                raise InputError(f"--watch and --{name} cannot be used together: leave one of them out")
        print(f"watching {folder}: open {page} in a browser; Ctrl-C stops the watching, not the study", flush=True)
        print(watch_study(folder, page, options.typed))
        return 0
    for file in write_report(folder, page, options.typed, notebook=options.notebook, record=options.record):
        print(file)
    return 0
