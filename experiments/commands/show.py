"""``biped show``: all parameters of an experiment."""

from argparse import Namespace

from rich.table import Table
from rich.text import Text

from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import shown
from experiments.catalogue.registry import experiment_named
from experiments.cli.terminal import terminal


def main(options: Namespace) -> int:
    """Print the parameters of an experiment; the exit status."""
    experiment = experiment_named(options.experiment)
    console = terminal()
    console.print(Text(f"{experiment.name}: {experiment.title}", style="bold"))
    console.print(Text(f"{experiment.source}. Change any of these with --set NAME=VALUE.\n", style="dim"))
    console.print(parameter_table(experiment))
    return 0


def parameter_table(experiment: Experiment) -> Table:
    """One row for each parameter, a gap between the groups."""
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
