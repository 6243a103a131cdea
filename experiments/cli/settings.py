"""Options that set an experiment's parameters, the same in all commands that run one, and what they change."""

import math
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from typing import TYPE_CHECKING

from biped.robot_names import ROBOT_NAMES
from experiments.catalogue.registry import MODULES, experiment_named

if TYPE_CHECKING:
    from experiments.catalogue.experiment import Experiment
    from experiments.catalogue.parameters.parameter import Value

#: Options that are short for ``--set`` of a parameter: its name, and their help.
SHORTHANDS = {
    "duration": ("run.duration", "S", "seconds to simulate (run.duration)"),
    "step": ("run.step", "S", "seconds of a step (run.step)"),
    "integrator": ("integrator.name", "NAME", "an integrator of ours, or another engine: pybullet, mujoco, drake"),
    "seed": ("initial.seed", "N", "scatter the start (by initial.jitter, 0.01 rad unless set) with this seed"),
}
#: Other names of them.
ALIASES = {"integrator": ("--engine",)}


def add_experiment(parser: ArgumentParser) -> None:
    known = ", ".join(MODULES)
    parser.add_argument("experiment", metavar="EXPERIMENT", help=f"one of: {known}; or FILE.py, or MODULE:NAME")


def add_controller(parser: ArgumentParser) -> None:
    text = (
        "control law: workspace, cone-workspace, whole-body, joint-pd, …, FILE.py:NAME or MODULE:NAME (controller.name)"
    )
    parser.add_argument("--controller", metavar="NAME", help=text)


def add_robot(parser: ArgumentParser) -> None:
    parser.add_argument("--robot", metavar="FILE", help=f"robot instead of the human: {ROBOT_NAMES} (robot.name)")


def add_counts(parser: ArgumentParser) -> None:
    """``options.counts``: a tuple of words, None if not given."""
    text = 'verdicts that count as losses, separated by commas: "fell,lost control" (stepped,fell,lost control,failed)'
    parser.add_argument("--counts", metavar="VERDICTS", type=_words, help=text)


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(","))


def add_metric_files(parser: ArgumentParser) -> None:
    text = "a metric of one's own, FILE.py:NAME or MODULE:NAME; may be repeated"
    parser.add_argument("--metric-file", metavar="NAME", action="append", default=[], dest="metric_files", help=text)


def add_after(parser: ArgumentParser) -> None:
    text = "seconds that a fall goes on for, limp, until it lies; no metric or verdict is about them"
    parser.add_argument("--after", metavar="S", type=float, help=text)


def check_after(options: Namespace) -> None:
    from biped.errors import InputError

    if options.after is not None and not 0.0 < options.after < math.inf:
        raise InputError(f"--after {options.after:g}: it must be a number of seconds above zero")


def experiment_of(options: Namespace, name: str | None = None) -> "Experiment":
    """The experiment of this name, or of the options, under the controller that they name."""
    metrics = getattr(options, "metric_files", ())
    return experiment_named(options.experiment if name is None else name, options.controller, metrics, options.robot)


def add_shorthand(parser: ArgumentParser, short: str, where: str = "") -> None:
    """One of ``SHORTHANDS``, with its other names; its help may begin with ``where`` it is set."""
    _, what, text = SHORTHANDS[short]
    parser.add_argument(f"--{short}", *ALIASES.get(short, ()), metavar=what, help=where + text)


def add_settings(parser: ArgumentParser, *shorthands: str) -> None:
    for short in shorthands:
        add_shorthand(parser, short)
    add_controller(parser)
    add_robot(parser)
    parser.add_argument("--gains", metavar="FILE", help="gains, or other parameters, of the controller: a TOML file")
    add_assignments(parser)


def add_assignments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--set",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        dest="assignments",
        help="set any parameter by its dotted name, angles as 1.57 or 90deg; may be repeated",
    )


def changes_of(
    experiment: "Experiment", options: Namespace, shorthands: Iterable[str] = tuple(SHORTHANDS)
) -> "dict[str, Value]":
    """The values that differ from the published ones: the file of gains, then the shorthands, then ``--set``.

    Those of ``shorthands`` are read that the command has; another option may have the name of one that is left out.
    """
    from biped.errors import InputError

    changes: dict[str, Value] = {}
    if options.gains is not None:
        changes |= _gains(experiment, options.gains)
    given = {SHORTHANDS[short][0]: getattr(options, short, None) for short in shorthands}
    texts = {name: text for name, text in given.items() if text is not None}
    for assignment in options.assignments:
        name, equals, text = assignment.partition("=")
        if not equals:
            raise InputError(f"--set {assignment}: it must be NAME=VALUE, such as --set floor.mu_s=0.5")
        texts[name.strip()] = text
    return changes | experiment.parse(texts)


def _gains(experiment: "Experiment", file: str) -> "dict[str, Value]":
    from biped.errors import InputError
    from experiments.catalogue.parameters.controller_file import read_controller

    if not any(parameter.name.startswith("controller.") for parameter in experiment.parameters):
        raise InputError(f"--gains: {experiment.name} has no controller")
    return read_controller(file, experiment)
