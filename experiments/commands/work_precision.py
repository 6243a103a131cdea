"""``biped work-precision``: error against cost of all integrators on the same problems."""

from argparse import Namespace
from collections.abc import Sequence

from biped.inputs.extras import need
from experiments.cli.main import Parser, announce, interrupted
from experiments.cli.names import WORK_PRECISION_PAGE, matching
from experiments.cli.output import writable_folder
from experiments.cli.progress import ProgressBar

_DESCRIPTION = """\
Compare the error, against a converged reference, and the cost of all integrators on the same problems and step sizes.
Problems are free-body, pendulum, chain, flight and standing."""

_EXAMPLES = """\
examples:
  biped work-precision pendulum
  biped work-precision chain flight --method recursive --method 'lee*'
  biped work-precision --quick --out results/look  four step sizes for each method

Each problem is written when it is finished: Ctrl-C keeps the finished ones.
"""


def parser() -> Parser:
    command = Parser("biped work-precision", _DESCRIPTION, _EXAMPLES, page="integrators")
    command.add_argument("problems", metavar="PROBLEM", nargs="*", help="name or pattern of problems (default: all)")
    text = "measure only methods with this name or pattern; may be repeated"
    command.option("--method", "NAME", text, action="append", default=[])
    command.switch("--quick", "use only four step sizes for each method")
    command.add_results("results/work-precision", forms=False)
    return command


def main(options: Namespace) -> int:
    from experiments.timing import one_core
    from experiments.visualization.work_precision.output import Output
    from experiments.work_precision.problems import PROBLEMS
    from experiments.work_precision.step_sizes import FULL, QUICK, compare

    names = matching(options.problems, list(PROBLEMS), "unknown problem")
    _check_methods(options.method)
    need("jinja2", *{package for name in names for package in PROBLEMS[name].packages})
    folder = writable_folder(options.out or "results/work-precision")
    output = Output(folder, names, options.typed, draw=not options.no_figures)
    for number, name in enumerate(names, 1):
        announce(f"{name}, {PROBLEMS[name].title}, {number} of {len(names)} …")
        try:
            with one_core(), ProgressBar(1.0, name, "") as bar:
                comparison = compare(PROBLEMS[name], QUICK if options.quick else FULL, options.method, bar)
        except KeyboardInterrupt:
            output.write()
            return interrupted(f"; the finished problems are in {folder / WORK_PRECISION_PAGE}")
        output.add(comparison)
    output.print_files()
    return 0


def _check_methods(patterns: Sequence[str]) -> None:
    from biped.integrators import INTEGRATORS
    from formulations.lagrangian import LAGRANGIAN_METHODS

    matching(patterns, [*INTEGRATORS, *LAGRANGIAN_METHODS], "unknown method")
