"""``biped list``: what goes by a name: the experiments, and the controllers that they may have."""

from collections.abc import Mapping, Sequence

from experiments.cli.main import Parser

_DESCRIPTION = """\
List the experiments, and the controllers, metrics and experiments that installed packages register."""


def main(argv: Sequence[str]) -> int:
    Parser("biped list", _DESCRIPTION).parse_args(argv)
    from experiments.catalogue.metric_files import METRIC_FILES
    from experiments.catalogue.parameters.controllers import CONTROLLERS
    from experiments.catalogue.registry import all_experiments, experiment_registry

    known = [(one.name, one.title, one.source) for one in all_experiments()]
    others = experiment_registry().installed_from()
    _print(("experiment", "what happens", "source"), [*known, *((name, "", origin) for name, origin in others.items())])
    _print(("controller", "from"), _pairs(CONTROLLERS.origins()))
    if METRIC_FILES.installed:
        _print(("metric", "from"), _pairs(METRIC_FILES.installed_from()))
    return 0


def _pairs(origins: Mapping[str, str]) -> list[tuple[str, ...]]:
    return [(name, origin) for name, origin in origins.items()]


def _print(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.table import Table

    from experiments.cli.terminal import terminal

    table = Table(box=None, pad_edge=False, padding=(0, 2))
    for heading in headings:
        table.add_column(heading, header_style="bold")
    for row in rows:
        table.add_row(*row)
    terminal().print(table)
    terminal().print()
