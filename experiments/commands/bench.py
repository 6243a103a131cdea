"""``biped bench``: measure, show, save."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.benchmarks.sections import CSV, JSON, Section

_DESCRIPTION = "Measure the speed of the simulation on this machine, and of MuJoCo beside it where it is installed."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``biped bench``."""
    parser.add_argument("--quick", action="store_true", help="a few seconds instead of a few minutes; noisier")
    parser.add_argument("--out", metavar="DIR", default="results/bench", help="folder for the results (results/bench)")
    parser.add_argument("--no-mujoco", action="store_true", help="do not compare with MuJoCo")
    parser.add_argument("--repeat", metavar="N", type=_count, help="how often everything is timed (15; quick: 3)")


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above zero")
    return int(text)


def main(argv: Sequence[str]) -> int:
    """Do what the command line after ``bench`` says; the exit status."""
    from experiments.cli.main import Parser

    parser = Parser(prog="biped bench", description=_DESCRIPTION)
    add_arguments(parser)
    return run(parser.parse_args(argv))


def run(arguments: argparse.Namespace) -> int:
    """Measure; what was measured is saved even if it ends early."""
    from experiments.benchmarks.sections import print_section, print_stamp
    from experiments.benchmarks.speed.measure import effort, sections
    from experiments.benchmarks.timing import one_core
    from experiments.cli.failures import INTERRUPTED
    from experiments.cli.machine import stamp
    from experiments.cli.output import writable_folder

    folder = writable_folder(arguments.out)
    label = stamp() | {"quick": arguments.quick}
    print_stamp(label)
    done: list[Section] = []
    status = 0
    try:
        with one_core():
            for what, measure in sections(effort(arguments.quick, arguments.repeat), folder, not arguments.no_mujoco):
                print(f"biped: measuring {what} …", file=sys.stderr)
                done.append(measure())
                print_section(done[-1])
    except KeyboardInterrupt:
        print("biped: interrupted", file=sys.stderr)
        status = INTERRUPTED
    _save(folder, label, done)
    return status


def _save(folder: Path, label: dict[str, str | int | None], done: list[Section]) -> None:
    from experiments.benchmarks.sections import write_csv, write_json

    write_json(folder / JSON, label, done)
    write_csv(folder / CSV, label, done)
    print(f"results are in {folder}")
