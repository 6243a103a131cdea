"""How a model with loops is stepped, and what its runs tell of them."""

from typing import Any

from biped.integrators.closing.kernels import record  # noqa: F401  registers what is recorded
from biped.integrators.closing.kernels.method import ClosedVariational
from biped.kernels.state.method import Solver
from biped.kernels.tree.closing import Closing
from biped.kernels.variational.discrete_body import MidpointBody
from biped.kernels.variational.newton import Extrapolation
from biped.model import Model

#: Parts of a reaction in a run's columns, with their units.
WRENCH = {"fx": "N", "fy": "N", "fz": "N", "nx": "N*m", "ny": "N*m", "nz": "N*m"}


def closed_variational(root_finder: Any, solver: Solver, closing: Closing) -> ClosedVariational:
    """The method; ``closing`` is room for the model's tree and its closing joints."""
    return ClosedVariational(MidpointBody(), root_finder, Extrapolation(), solver, closing)


def closing_columns(model: Model) -> dict[str, str]:
    """Names and units of what a run has of the joints that close loops, none for a model without.

    ``reaction_<joint>_fx`` … ``_nz`` are force and moment on the child about its point of the joint, in world axes;
    ``loop_gap_position`` and ``loop_gap_rotation`` the worst of the rows that are held since the last row.
    """
    if not model.closing_joints:
        return {}
    wrenches = {f"reaction_{one.name}_{part}": unit for one in model.closing_joints for part, unit in WRENCH.items()}
    return wrenches | {"loop_gap_position": "m", "loop_gap_rotation": "rad"}
