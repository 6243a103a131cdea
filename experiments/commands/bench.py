"""``biped bench``: speed of the simulation on this machine."""

import os
from argparse import Namespace

from experiments.cli.machine import stamp
from experiments.cli.main import Parser, announce, folder_name, interrupted
from experiments.cli.output import writable_folder
from experiments.timing import ONE_THREAD

_DESCRIPTION = "Measure the speed of the simulation on this machine, and of MuJoCo for comparison if it is installed."


def parser() -> Parser:
    command = Parser("biped bench", _DESCRIPTION)
    command.switch("--quick", "measure for a few seconds instead of a few minutes, with more noise")
    command.option("--out", "DIR", "folder for the results (results/bench)", folder_name, default="results/bench")
    command.switch("--no-mujoco", "leave out the comparison with MuJoCo")
    return command


def main(options: Namespace) -> int:
    """Run the benchmark and save the results, even if interrupted; return the exit status."""
    os.environ.update(ONE_THREAD)
    from experiments.benchmarks.measure import budget, sections
    from experiments.benchmarks.section import Section, save
    from experiments.cli.terminal import terminal
    from experiments.timing import one_core

    folder = writable_folder(options.out)
    label = stamp() | {"quick": options.quick}
    known = ", ".join(f"{name} {value}" for name, value in label.items() if value is not None)
    terminal().print(known, style="dim", highlight=False)
    done: list[Section] = []
    status = 0
    try:
        with one_core():
            for what, measure in sections(budget(options.quick), not options.no_mujoco):
                announce(f"measuring {what} …")
                done.append(measure())
                done[-1].show()
    except KeyboardInterrupt:
        status = interrupted()
    save(folder, label, done)
    print(f"results are in {folder}")
    return status
