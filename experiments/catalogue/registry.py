"""The experiments by name, this project's and anybody's; each is imported when it is first asked for."""

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from experiments.catalogue.experiment import Experiment
    from experiments.lookup.open_registry import OpenRegistry

#: Each by its name: the module beside this one, and what it is called there.
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

    own = {name: f"experiments.catalogue.{place}" for name, place in MODULES.items()}
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
