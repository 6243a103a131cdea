"""Joints that close loops: their data in a method, and their columns in a run."""

from biped.dynamics.closing import closing_of
from biped.kernels.tree.closing import Closing
from biped.model import Model
from kernelcache import Nothing

#: Components of a reaction in a run's columns, with their units.
WRENCH = {"fx": "N", "fy": "N", "fz": "N", "nx": "N*m", "ny": "N*m", "nz": "N*m"}


def closing_if_any(model: Model) -> Closing | Nothing:
    """Return the closing joints of a model as the kernels need them, with buffers; ``Nothing()`` if it has none."""
    return closing_of(model) if model.closing_joints else Nothing()


def closing_columns(model: Model) -> dict[str, str]:
    """Return names and units of a run's columns for joints that close loops; empty without such joints.

    ``reaction_<joint>_fx`` … ``_nz`` are the force on the outboard body, and its moment about that body's point of the
    joint, in world axes. ``loop_gap_position`` and ``loop_gap_rotation`` are the largest gaps since the last row.
    """
    if not model.closing_joints:
        return {}
    columns = {f"reaction_{joint.name}_{part}": unit for joint in model.closing_joints for part, unit in WRENCH.items()}
    return columns | {"loop_gap_position": "m", "loop_gap_rotation": "rad"}
