"""``biped search-friction``: the friction that reproduces the published box drop."""

from argparse import Namespace

from experiments.cli.main import Parser
from experiments.cli.output import writable_folder
from experiments.cli.progress import ProgressBar
from experiments.cli.terminal import say_files, terminal

FIGURE = "search.png"

_EXAMPLES = """\
For each coefficient of friction, the box drop is compared with every fact that the thesis tells about it; the
interval in which all of them hold is then refined.

examples:
  biped search-friction
  biped search-friction --from 0.3 --to 0.5 --by 0.005 --out results/fine
"""


def parser() -> Parser:
    text = "Find the coefficient of friction that the thesis does not print."
    own = Parser("biped search-friction", text, _EXAMPLES)
    own.option("--from", "MU", "least coefficient of friction", 0.02, dest="begin")
    own.option("--to", "MU", "greatest coefficient of friction", 1.5, dest="end")
    own.option("--by", "MU", "step between the coefficients of the first search", 0.01)
    own.add_results("results/search-friction", forms=False)
    return own


def main(options: Namespace) -> int:
    from experiments.papers.wendlandt_1997.friction_search import search
    from experiments.papers.wendlandt_1997.friction_table import TABLE, print_search, save_search

    folder = writable_folder(options.out or "results/search-friction")
    with ProgressBar(1.0, "searching", "") as bar:
        found = search(options.begin, options.end, options.by, bar)
    print_search(found, terminal())
    files = [save_search(found, folder / TABLE)]
    if not options.no_figures:
        from experiments.papers.wendlandt_1997.friction_figure import draw_search

        files += draw_search(found, folder / FIGURE)
    say_files(folder, files, "\n")
    return 0
