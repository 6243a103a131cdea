"""``biped show``: all parameters of an experiment."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from experiments.cli.main import Parser
from experiments.cli.settings import add_controller, add_experiment, add_robot, experiment_of

if TYPE_CHECKING:
    from rich.table import Table

    from experiments.catalogue.experiment import Experiment


def main(argv: Sequence[str]) -> int:
    parser = Parser("biped show", "Show all parameters of an experiment, with units and sources.")
    add_experiment(parser)
    add_controller(parser)
    add_robot(parser)
    options = parser.parse_args(argv)
    from rich.text import Text

    from experiments.cli.terminal import terminal

    experiment = experiment_of(options)
    console = terminal()
    console.print(Text(f"{experiment.name}: {experiment.title}", style="bold"))
    console.print(Text(f"{experiment.source}. Change any of these with --set NAME=VALUE.\n", style="dim"))
    console.print(parameter_table(experiment))
    return 0


def parameter_table(experiment: "Experiment") -> "Table":
    """One row for each parameter, a gap between the groups."""
    from rich.table import Table

    from experiments.catalogue.parameters.parameter import shown

    table = Table(box=None, pad_edge=False, padding=(0, 2))
    for heading in ("parameter", "value", "unit"):
        table.add_column(heading, header_style="bold", no_wrap=True)
    for heading in ("meaning", "source"):
        table.add_column(heading, header_style="bold", overflow="fold")
    group = None
    for parameter in experiment.parameters:
        name = parameter.name.partition(".")[0]
        if group not in (None, name):
            table.add_row()
        group = name
        table.add_row(parameter.name, shown(parameter.default), parameter.unit, parameter.meaning, parameter.source)
    return table
