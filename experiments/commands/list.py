"""``biped list``: the experiments, controllers and contact laws."""

from argparse import Namespace
from collections.abc import Mapping, Sequence

from experiments.catalogue.registry import all_experiments, experiment_registry
from experiments.cli.main import Parser
from experiments.cli.reply import reply
from experiments.cli.terminal import print_explained, say

_DESCRIPTION = """\
List the experiments, controllers and contact laws, and the metrics and experiments that installed packages register."""


def parser() -> Parser:
    own = Parser("biped list", _DESCRIPTION)
    own.add_forms()
    return own


def main(_: Namespace) -> int:
    from experiments.catalogue.parameters.controllers import CONTROLLERS
    from experiments.catalogue.parameters.floors import LAWS
    from experiments.lookup.metric_files import METRIC_FILES

    known = [{"name": one.name, "title": one.title, "source": one.source} for one in all_experiments()]
    found = {
        "experiments": [*known, *_sources(experiment_registry().installed_from())],
        "controllers": _sources(CONTROLLERS.origins()),
        "contact laws": _sources(LAWS.origins()),
        "metrics": _sources(METRIC_FILES.installed_from()),
    }
    reply(found)
    _print(found)
    return 0


def _sources(origins: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "title": "", "source": origin} for name, origin in origins.items()]


def _print(found: Mapping[str, Sequence[Mapping[str, str]]]) -> None:
    for kind, things in found.items():
        if things:
            say(kind, "bold cyan")
            print_explained([(one["name"], f"{one['title']} [{one['source']}]".lstrip()) for one in things])
            say()
