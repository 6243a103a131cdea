"""The experiments by name; each is imported when it is first asked for."""

import difflib
import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from experiments.catalogue.experiment import Experiment

#: Each module has an ``EXPERIMENT`` of this name.
MODULES = {
    "stand-tilted": "experiments.catalogue.stand_tilted",
    "thrown-block": "experiments.catalogue.thrown_block",
    "balance": "experiments.catalogue.balance",
    "box-drop": "experiments.catalogue.box_drop",
    "tumble": "experiments.catalogue.tumble",
}


def experiment_named(name: str) -> "Experiment":
    """The experiment of this name.

    Raises:
        InputError: there is none; the message lists those that exist.
    """
    if name not in MODULES:
        from biped.errors import InputError

        close = difflib.get_close_matches(name, MODULES, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        raise InputError(f"unknown experiment {name!r}; {hint}experiments are {', '.join(MODULES)}")
    found: Experiment = importlib.import_module(MODULES[name]).EXPERIMENT
    return found


def all_experiments() -> "list[Experiment]":
    """Every experiment."""
    return [experiment_named(name) for name in MODULES]
