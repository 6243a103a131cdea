"""The function ``simulate``: run a model with a controller and the other members of a scene."""

import inspect
from typing import Any

from biped.control.controller import Controller
from biped.model import Model
from biped.runs.run import Run
from biped.simulation.driver import Announce, Progress
from biped.simulation.scene import Scene

__all__ = ["Announce", "Progress", "simulate"]


def simulate(
    model: Model,
    controller: Controller | None = None,
    *,
    progress: Progress | None = None,
    announce: Announce | None = None,
    **options: Any,
) -> Run:
    """Simulate a model and return the run: ``Scene(model, controller, **options).run(progress, announce)``.

    Args:
        model: the model to simulate.
        controller: the controller of the joints; None: the joints are free.
        progress: function that is called now and then with the time simulated so far [s].
        announce: function that is called with a sentence before kernels are compiled.
        options: the other members of ``Scene``: floor, state, duration, step, disturbances, …

    Raises:
        InputError, IntegrationError, RunInterrupted: the errors of ``Scene.run``; InputError for an unknown option.
    """
    return Scene.of(model, controller, options).run(progress, announce)


def _signature() -> inspect.Signature:
    """Return the signature of ``simulate`` with the members of ``Scene`` instead of ``options``, for completion."""
    signature = inspect.signature(simulate)
    *first, _ = signature.parameters.values()
    members = list(inspect.signature(Scene).parameters.values())[2:]
    named = [member.replace(kind=inspect.Parameter.KEYWORD_ONLY) for member in members]
    return signature.replace(parameters=[*first[:2], *named, *first[2:]])


simulate.__signature__ = _signature()  # type: ignore[attr-defined]
