"""``biped list``: the experiments."""

from collections.abc import Sequence

from experiments.cli.main import Parser


def main(argv: Sequence[str]) -> int:
    Parser("biped list", "List the experiments.").parse_args(argv)
    from rich.table import Table

    from experiments.catalogue.registry import all_experiments
    from experiments.cli.terminal import terminal

    table = Table(box=None, pad_edge=False, padding=(0, 2))
    for heading in ("experiment", "what happens", "source"):
        table.add_column(heading, header_style="bold")
    for experiment in all_experiments():
        table.add_row(experiment.name, experiment.title, experiment.source)
    terminal().print(table)
    return 0
