"""Registry of experiments, the project's and the user's; each is imported when it is first used."""

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from experiments.catalogue.experiment import Experiment
    from experiments.lookup.open_registry import OpenRegistry

#: Experiments by name: their module in this package, and their name in it.
MODULES = {
    "stand-tilted": "balancing:STAND_TILTED",
    "thrown-block": "balancing:THROWN_BLOCK",
    "balance": "balance:EXPERIMENT",
    "box-drop": "box_drop:EXPERIMENT",
    "tumble": "tumble:EXPERIMENT",
    "squat": "tracking:SQUAT",
    "sway": "tracking:SWAY",
    "lean": "tracking:LEAN",
    "sit-to-stand": "tracking:SIT_TO_STAND",
}


@cache
def experiment_registry() -> "OpenRegistry":
    from experiments.lookup.open_registry import OpenRegistry

    modules = {name: f"experiments.catalogue.{place}" for name, place in MODULES.items()}
    return OpenRegistry("experiment", modules, _is_experiment, "an object of experiments.Experiment")


def experiment_named(
    name: str, controller: str | None = None, metrics: Iterable[str] = (), robot: str | None = None
) -> "Experiment":
    """Return an experiment by its name.

    Args:
        name: name of an experiment of this project, or ``FILE.py:NAME`` or ``module:NAME`` of a user's experiment.
        controller: name of another controller; None: the experiment's controller.
        metrics: names of the user's own metrics, measured in addition to the project's.
        robot: name of another robot, as for `biped.load_robot`; None: the experiment's robot, by default the human.

    Raises:
        InputError: there is no experiment (the message lists the known ones), controller or metric of this name.
    """
    entry = experiment_registry().find(name)
    experiment: Experiment = entry.thing if entry.file is None else entry.thing.brought_from(entry)
    experiment = experiment if robot is None else experiment.of_robot(robot)
    experiment = experiment if controller is None else experiment.driven_by(controller)
    metrics = tuple(metrics)
    return experiment.measured_by(metrics) if metrics else experiment


def all_experiments() -> "list[Experiment]":
    """Return every experiment of this project."""
    return [experiment_named(name) for name in MODULES]


def _is_experiment(thing: Any) -> bool:
    from experiments.catalogue.experiment import Experiment

    return isinstance(thing, Experiment)
