"""Integrators by name."""

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from biped.errors import InputError
from biped.integrators.integrator import Integrator
from contact.errors import did_you_mean

#: Each with its default settings; ``integrator_named`` makes one with others.
INTEGRATORS: dict[str, Integrator] = {}


def register(integrators: Iterable[Integrator]) -> None:
    """Let these be chosen by their names."""
    INTEGRATORS.update({integrator.name: integrator for integrator in integrators})


def settings_of(integrator: Integrator) -> dict[str, Any]:
    """The settings of an integrator, by name."""
    return {item.name: getattr(integrator, item.name) for item in fields(integrator)}  # type: ignore[arg-type]


def integrator_named(name: str, **settings: Any) -> Integrator:
    """The integrator of this name, with these settings and its defaults for the others.

    Raises:
        InputError: no integrator has this name, or it has no such setting, or a value is out of range.
    """
    if name not in INTEGRATORS:
        hint = did_you_mean(name, INTEGRATORS)
        raise InputError(f"unknown integrator {name!r}; {hint}integrators are {', '.join(INTEGRATORS)}")
    known = settings_of(INTEGRATORS[name])
    for setting in settings:
        if setting not in known:
            raise InputError(f"integrator {name!r} has no setting {setting!r}; it has: {', '.join(known) or 'none'}")
    chosen = INTEGRATORS[name]
    return type(chosen)(**(known | settings))
