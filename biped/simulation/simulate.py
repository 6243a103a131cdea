"""``simulate``: a model, a controller and the rest of a scene in, a recorded run out."""

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
    """``Scene(model, controller, **options).run(progress, announce)``; a given ``state`` stays what it is.

    Args:
        model: what moves.
        controller: what drives its joints; without one they are free.
        progress: as in ``Scene.run``.
        announce: as in ``Scene.run``.
        options: the other members of ``Scene``: floor, state, duration, step, disturbances, …

    Raises:
        InputError, IntegrationError, RunInterrupted: as ``Scene.run``; for an unknown option too.
    """
    return Scene.of(model, controller, options).run(progress, announce)


def _signature() -> inspect.Signature:
    """That of ``simulate`` with the members of ``Scene`` in the place of ``options``, for help and completion."""
    own = inspect.signature(simulate)
    *first, _ = own.parameters.values()
    members = list(inspect.signature(Scene).parameters.values())[2:]
    named = [member.replace(kind=inspect.Parameter.KEYWORD_ONLY) for member in members]
    return own.replace(parameters=[*first[:2], *named, *first[2:]])


simulate.__signature__ = _signature()  # type: ignore[attr-defined]
