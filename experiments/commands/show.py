"""``biped show``: all parameters of an experiment."""

import math
from argparse import Namespace
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from biped.errors import InputError
from contact.errors import did_you_mean
from experiments.cli.main import Parser
from experiments.cli.reply import reply
from experiments.cli.settings import add_controller, add_experiment, add_robot, experiment_of
from experiments.cli.terminal import print_explained, say

if TYPE_CHECKING:
    from experiments.catalogue.experiment import Experiment
    from experiments.catalogue.parameters.parameter import Parameter

_EXAMPLES = """\
examples:
  biped show balance push                          the parameters of a group
  biped show balance delay friction --sources      parameters with one of these words, and their sources

Change a parameter with --set NAME=VALUE; angles may be given in degrees: push.azimuth=90deg.
"""


def parser() -> Parser:
    command = Parser("biped show", "Show the parameters of an experiment.", _EXAMPLES, page="run-an-experiment")
    add_experiment(command)
    command.add_argument("words", metavar="WORD", nargs="*", help="show only this group, or names and titles with it")
    command.switch("--sources", "show the source of each default value")
    add_controller(command)
    add_robot(command)
    command.option("--law", "NAME", "contact law: spring-damper, hunt-crossley, FILE.py:NAME, MODULE:NAME (floor.law)")
    command.add_forms()
    command.intermixed = True
    return command


def main(options: Namespace) -> int:
    experiment = experiment_of(options).on_law(options.law)
    chosen = matching(experiment, options.words)
    reply([_as_json(parameter) for parameter in chosen])
    say(f"{experiment.name}: {experiment.title}", "bold")
    say(f"Source: {experiment.source}. Change any of these with --set NAME=VALUE (in SI units, or 10deg, 60mm).", "dim")
    for group, parameters in groupby(chosen, lambda parameter: parameter.name.partition(".")[0]):
        say(f"\n{group}", "bold cyan")
        print_explained([_row(parameter, options.sources) for parameter in parameters])
    return 0


def matching(experiment: "Experiment", words: Sequence[str]) -> "list[Parameter]":
    """Return the parameters that match any of these words by group, name or meaning; all parameters without words.

    Raises:
        InputError: no parameter matches one of the words.
    """
    groups = list(dict.fromkeys(parameter.name.partition(".")[0] for parameter in experiment.parameters))
    chosen: set[str] = set()
    for word in words:
        names = [p.name for p in experiment.parameters if p.name.partition(".")[0] == word] or [
            p.name for p in experiment.parameters if word.lower() in f"{p.name} {p.meaning}".lower()
        ]
        if not names:
            hint = did_you_mean(word, groups)
            hint += f"groups of parameters are {', '.join(groups)}"
            raise InputError(f"no parameter of {experiment.name} matches {word!r}; {hint}")
        chosen.update(names)
    return [parameter for parameter in experiment.parameters if not words or parameter.name in chosen]


def _row(parameter: "Parameter", sources: bool) -> tuple[str, str, str]:
    from experiments.catalogue.parameters.parameter import shown

    value = f"{shown(parameter.default)} {parameter.unit.replace(', ', ' or ')}".rstrip()
    numbers = parameter.default if isinstance(parameter.default, tuple) else (parameter.default,)
    if parameter.unit == "rad" and any(numbers):
        value += f" ({','.join(f'{math.degrees(float(number)):.4g}°' for number in numbers)})"
    source = f" ({parameter.source})" if sources and parameter.source else ""
    return parameter.name, value, f"{parameter.meaning}{source}"


def _as_json(parameter: "Parameter") -> dict[str, object]:
    from experiments.catalogue.parameters.parameter import as_json

    return {
        "name": parameter.name,
        "value": as_json(parameter.default),
        "unit": parameter.unit,
        "meaning": parameter.meaning,
        "source": parameter.source,
        "choices": list(parameter.choices),
    }
