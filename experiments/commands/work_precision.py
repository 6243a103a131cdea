"""``biped work-precision``: all integrators on the same problems, error against cost."""

import argparse
import difflib
import sys
from collections.abc import Sequence
from fnmatch import filter as matching

from experiments.cli.failures import INTERRUPTED
from experiments.cli.file_names import WORK_PRECISION_PAGE
from experiments.cli.main import Parser, fail

_DESCRIPTION = """\
Compare all integrators on the same problems: each climbs a ladder of steps; its errors against a converged reference
and its cost make a figure, a table, and one sentence on which method to pick at which accuracy."""

_EXAMPLES = """\
problems:
  free-body   a free rigid body tumbles (Wendlandt 1997, 2.52)
  pendulum    a double spherical pendulum swings (Wendlandt 1997, after 2.55)
  chain       a chain of 10 links falls from a bend
  flight      a human tumbles freely, without gravity
  standing    a human sways on its feet, held by springs and dampers in its joints

examples:
  biped work-precision                             all of them: some minutes
  biped work-precision pendulum                    one
  biped work-precision chain flight --method recursive --method 'lee*'
  biped work-precision --quick --out results/look  four rungs of each ladder

The kernels of each integrator, and those derived for each Lagrangian system, are compiled once per installation, which
takes longer than the comparison. Each problem is written as it is done: Ctrl-C keeps those before.
Exit status: 0 done, 2 bad input, 130 interrupted. A step without a solution is a result, and is in the table.
"""


def parser() -> argparse.ArgumentParser:
    """The options of ``biped work-precision``."""
    own = Parser(
        prog="biped work-precision",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    own.add_argument("problems", metavar="PROBLEM", nargs="*", help="a name or a pattern; all, if none is given")
    own.add_argument(
        "--method", metavar="NAME", action="append", default=[], help="only these; a name or a pattern; may be repeated"
    )
    own.add_argument(
        "--out", metavar="DIR", default="results/work-precision", help="folder for the results (results/work-precision)"
    )
    own.add_argument("--quick", action="store_true", help="four rungs of each ladder")
    own.add_argument("--no-figures", action="store_true", help="draw no figures")
    return own


def main(argv: Sequence[str]) -> int:
    """Do what the command line after ``work-precision`` says; the exit status."""
    options = parser().parse_args(argv)
    return run(options)


def run(options: argparse.Namespace) -> int:
    """Compare, print and write; the exit status."""
    from biped.extras import need
    from experiments.benchmarks.timing import one_core
    from experiments.benchmarks.work_precision.problems import PROBLEMS
    from experiments.benchmarks.work_precision.step_sizes import FULL, QUICK, compare
    from experiments.cli.output import writable_folder
    from experiments.cli.progress import ProgressBar
    from experiments.visualization.work_precision.output import Output

    names = _chosen(options.problems, list(PROBLEMS), "problem")
    _check_methods(options.method)
    need("jinja2", *{package for name in names for package in PROBLEMS[name].packages})
    folder = writable_folder(options.out)
    output = Output(folder, names, command_of(options), draw=not options.no_figures)
    effort = QUICK if options.quick else FULL
    for name in names:
        print(f"biped: {name}, {PROBLEMS[name].title} …", file=sys.stderr)
        try:
            with one_core(), ProgressBar(1.0, name, "") as bar:
                comparison = compare(PROBLEMS[name], effort, options.method, bar)
        except KeyboardInterrupt:
            output.write()
            return fail(f"interrupted; what was done is in {folder / WORK_PRECISION_PAGE}", INTERRUPTED, "")
        output.add(comparison)
    output.print_files()
    return 0


def _chosen(patterns: Sequence[str], known: list[str], what: str) -> list[str]:
    """The known names that fit any of the patterns; all for none.

    Raises:
        InputError: a pattern fits none.
    """
    from biped.errors import InputError

    wanted: set[str] = set()
    for pattern in patterns or known:
        found = matching(known, pattern)
        if not found:
            close = difflib.get_close_matches(pattern, known, n=3, cutoff=0.5)
            hint = f"the nearest are {', '.join(close)}" if close else f"there are {', '.join(known)}"
            raise InputError(f"unknown {what} {pattern!r}; {hint}")
        wanted.update(found)
    return [name for name in known if name in wanted]


def _check_methods(patterns: Sequence[str]) -> None:
    from biped.integrators import INTEGRATORS
    from biped.lagrangian import LAGRANGIAN_METHODS

    _chosen(patterns, [*INTEGRATORS, *LAGRANGIAN_METHODS], "method")


def command_of(options: argparse.Namespace) -> str:
    """What was typed, without the folder."""
    words = ["biped work-precision", *options.problems]
    words += [f"--method {name}" for name in options.method]
    words += [f"--{name}" for name in ("quick", "no-figures") if getattr(options, name.replace("-", "_"))]
    return " ".join(words)
