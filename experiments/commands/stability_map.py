"""``biped stability-map``: local stability of a closed loop over two parameters."""

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from biped.errors import InputError
from experiments.cli.main import Parser, announce
from experiments.cli.output import writable_folder
from experiments.cli.progress import ProgressBar
from experiments.cli.reply import reply
from experiments.cli.settings import add_experiment, add_settings, changes_of, experiment_of
from experiments.cli.terminal import say_files
from experiments.studies.grid import LINEAR, LOG

if TYPE_CHECKING:
    from experiments.studies.stability.loop import Range

_DESCRIPTION = """\
Find the values of two parameters for which small deviations from the equilibrium decay. Continuation follows the
boundary, on which the greatest |λ| of the closed loop is one; on a grid, small deviations are simulated."""

_EXAMPLES = """\
examples:
  biped stability-map balance --x "controller.kp_position[2]=10..3000" --y "controller.kd_position[2]=1..60"
  biped stability-map --x controller.kp_orientation=1..1e5 --log-x --y controller.kd_orientation=0.1..1e3 --log-y
  biped stability-map balance --controller joint-pd --x controller.kp=500..3000 --y controller.kd=0..20
"""


def parser() -> Parser:
    command = Parser("biped stability-map", _DESCRIPTION, _EXAMPLES, page="stability-map")
    add_experiment(command, "balance", "name of the experiment (balance)")
    for axis in "xy":
        text = "parameter (or one number of it, by index) and its range"
        command.option(f"--{axis}", "NAME=LOW..HIGH", text, required=True)
    for axis in "xy":
        command.switch(f"--log-{axis}", f"use a log scale for {axis}")
    command.option("--grid", "N", "number of grid nodes along each axis, from which the boundary is searched", 9)
    command.option("--size", "PART", "step along the boundary, as a fraction of the ranges", 0.04)
    command.option("--span", "S", "simulated time of each deviation in seconds", 3.0)
    command.option("--seed", "N", "seed of the random deviations", 0)
    command.switch("--no-simulation", "compute eigenvalues only, without simulations on the grid")
    add_settings(command)
    command.add_results("results/stability-map/EXPERIMENT")
    return command


def main(options: Namespace) -> int:
    from experiments.studies.stability.loop import StabilityField
    from experiments.studies.stability.stability_map import stability_map
    from experiments.visualization.document import print_document, write_document
    from experiments.visualization.studies.stability_output import document

    experiment = experiment_of(options)
    changes = changes_of(experiment, options, ())
    ranges = [_range(getattr(options, axis), axis, getattr(options, f"log_{axis}")) for axis in "xy"]
    field = StabilityField(experiment.under(changes), changes, *ranges)
    folder = writable_folder(options.out or Path("results") / "stability-map" / experiment.name)
    announce("linearizing; new kernels are compiled once")
    with ProgressBar(options.grid**2, "grid", "nodes", counts=True) as bar:

        def count(what: str, done: int, total: int) -> None:
            if total:
                bar(done)
            else:
                bar.say(f"{what}, {done} points")

        stability = stability_map(
            field, grid=options.grid, size=options.size, seconds=options.span, seed=options.seed,
            simulate=not options.no_simulation, progress=count,
        )  # fmt: skip
    shown = document(stability)
    files = write_document(shown, folder, not options.no_figures)
    reply({"folder": folder, "files": [file.name for file in files], **shown.data})
    print_document(shown)
    say_files(folder, files)
    return 0


def _range(text: str, axis: str, is_log: bool) -> "Range":
    """Return the range in a text ``NAME=LOW..HIGH``."""
    from experiments.studies.stability.loop import Range

    name, equals, span = text.partition("=")
    low, dots, high = span.partition("..")
    try:
        ends = float(low), float(high)
    except ValueError:
        ends = None
    if not equals or not dots or ends is None:
        raise InputError(f"--{axis} {text}: it must be NAME=LOW..HIGH, such as floor.k_n=2e4..2e5")
    return Range(name.strip(), *ends, LOG if is_log else LINEAR)
