"""``biped list``: the experiments, controllers and contact laws."""

from argparse import Namespace
from collections.abc import Mapping, Sequence

from experiments.catalogue.registry import all_experiments, experiment_registry
from experiments.cli.main import Parser
from experiments.cli.reply import reply
from experiments.cli.terminal import print_explained, say
from experiments.lookup.open_registry import PROJECT

_DESCRIPTION = """\
List the experiments, controllers and contact laws, and what installed packages add to them. --json adds the sources."""


def parser() -> Parser:
    command = Parser("biped list", _DESCRIPTION)
    command.add_forms()
    return command


def main(_: Namespace) -> int:
    from experiments.catalogue.parameters.controllers import CONTROLLERS
    from experiments.catalogue.parameters.floors import LAWS
    from experiments.lookup.metric_files import METRIC_FILES

    ours = [{"name": item.name, "title": item.title, "source": item.source} for item in all_experiments()]
    table = {
        "experiments": [*ours, *_sources(experiment_registry().installed_from())],
        "controllers": _sources(CONTROLLERS.origins()),
        "contact laws": _sources(LAWS.origins()),
        "metrics": _sources(METRIC_FILES.installed_from()),
    }
    reply(table)
    _print(table)
    return 0


def _sources(origins: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "title": "", "source": origin} for name, origin in origins.items()]


def _print(table: Mapping[str, Sequence[Mapping[str, str]]]) -> None:
    for kind, rows in table.items():
        if rows:
            say(kind, "bold cyan")
            print_explained([(row["name"], row["title"] or row["source"].replace(PROJECT, "")) for row in rows])
            say()
