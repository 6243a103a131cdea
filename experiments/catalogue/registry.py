"""The experiments by name, this project's and anybody's; each is imported when it is first asked for."""

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from experiments.catalogue.experiment import Experiment
    from experiments.lookup.open_registry import OpenRegistry

#: Each module has an ``EXPERIMENT`` of this name.
MODULES = {
    "stand-tilted": "experiments.catalogue.stand_tilted",
    "thrown-block": "experiments.catalogue.thrown_block",
    "balance": "experiments.catalogue.balance",
    "box-drop": "experiments.catalogue.box_drop",
    "tumble": "experiments.catalogue.tumble",
    "squat": "experiments.catalogue.squat",
    "sway": "experiments.catalogue.sway",
    "lean": "experiments.catalogue.lean",
    "sit-to-stand": "experiments.catalogue.sit_to_stand",
}


@cache
def experiment_registry() -> "OpenRegistry":
    from experiments.lookup.open_registry import OpenRegistry

    own = {name: f"{module}:EXPERIMENT" for name, module in MODULES.items()}
    return OpenRegistry("experiment", own, _is_experiment, "an object of experiments.Experiment")


def experiment_named(
    name: str, controller: str | None = None, metrics: Iterable[str] = (), robot: str | None = None
) -> "Experiment":
    """The experiment of this name, ``FILE.py:NAME`` or ``module:NAME``.

    Args:
        name: of it.
        controller: that drives it, by name; its own, if not given.
        metrics: somebody's, by name, that are measured besides the project's.
        robot: as `biped.load_robot` takes it; the human, if not given.

    Raises:
        InputError: there is none; the message lists those that exist.
    """
    entry = experiment_registry().find(name)
    found: Experiment = entry.thing if entry.file is None else entry.thing.brought_from(entry)
    found = found if robot is None else found.of_robot(robot)
    found = found if controller is None else found.driven_by(controller)
    metrics = tuple(metrics)
    return found.measured_by(metrics) if metrics else found


def all_experiments() -> "list[Experiment]":
    """Every experiment of this project."""
    return [experiment_named(name) for name in MODULES]


def _is_experiment(thing: Any) -> bool:
    from experiments.catalogue.experiment import Experiment

    return isinstance(thing, Experiment)
