"""The registry of integrators by name."""

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from biped.errors import InputError
from biped.integrators.integrator import Integrator
from contact.errors import did_you_mean

#: Integrators with default settings, by name; ``integrator_named`` makes one with other settings.
INTEGRATORS: dict[str, Integrator] = {}


def register(integrators: Iterable[Integrator]) -> None:
    """Add integrators to ``INTEGRATORS``, by name."""
    INTEGRATORS.update({integrator.name: integrator for integrator in integrators})


def settings_of(integrator: Integrator) -> dict[str, Any]:
    """Return the settings of an integrator, by name."""
    return {item.name: getattr(integrator, item.name) for item in fields(integrator)}  # type: ignore[arg-type]


def integrator_named(name: str, **settings: Any) -> Integrator:
    """Return the integrator called ``name``, with ``settings`` instead of its default settings.

    Raises:
        InputError: the integrator or a setting is unknown, or a value is out of range.
    """
    if name not in INTEGRATORS:
        hint = did_you_mean(name, INTEGRATORS)
        raise InputError(f"unknown integrator {name!r}; {hint}integrators are {', '.join(INTEGRATORS)}")
    known = settings_of(INTEGRATORS[name])
    for setting in settings:
        if setting not in known:
            raise InputError(f"integrator {name!r} has no setting {setting!r}; settings: {', '.join(known) or 'none'}")
    chosen = INTEGRATORS[name]
    return type(chosen)(**(known | settings))
