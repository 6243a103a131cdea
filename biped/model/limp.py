"""Joints without muscles: what hangs on them swings."""

import math
from dataclasses import replace

from biped.model.anthropometry import Lump
from biped.model.geometry import STANDARD_GRAVITY
from biped.model.joint import Joint

#: Of a limp joint: its effort, of the body's weight times its height: next to none. Ours.
_EFFORT = 1e-9


def limp(joint: Joint, carried: Lump, lever: float, body: float, damping: float) -> Joint:
    """The joint, limp.

    Args:
        joint: about the Y axis, or beside one that is.
        carried: what hangs on it.
        lever: [m] from it to the centre of mass of that.
        body: [N·m] the whole body's weight times its stature.
        damping: its bearings', as a share of that with which what hangs on it would just not swing.
    """
    inertia = float(carried.inertia[1, 1]) + carried.mass * lever**2
    critical = 2.0 * math.sqrt(inertia * carried.mass * -STANDARD_GRAVITY[2] * lever)
    return replace(joint, damping=damping * critical, max_effort=_EFFORT * body)
