"""``biped list``: the experiments."""

from argparse import Namespace

from rich.table import Table

from experiments.catalogue.registry import all_experiments
from experiments.cli.terminal import terminal


def main(options: Namespace) -> int:  # noqa: ARG001 - every subcommand takes its options
    """Print the experiments; the exit status."""
    table = Table(box=None, pad_edge=False, padding=(0, 2))
    for heading in ("experiment", "what happens", "source"):
        table.add_column(heading, header_style="bold")
    for experiment in all_experiments():
        table.add_row(experiment.name, experiment.title, experiment.source)
    terminal().print(table)
    return 0
