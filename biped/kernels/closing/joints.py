"""Joints that close loops of a tree, as the kernels see them: constant arrays beside those of the tree."""

from typing import NamedTuple

from contact.arrays import Floats, Integers


class ClosingJoints(NamedTuple):
    """m joints with k rows in all, each held at zero: ``biped.kernels.rigid.joints`` has the formulas of rows."""

    inboard: Integers  # (m,) body, −1 the ground
    outboard: Integers  # (m,) body
    inboard_point: Floats  # (m, 3) [m] from the inboard centre of mass, its axes; on the ground from the origin
    outboard_point: Floats  # (m, 3) [m] from the outboard centre of mass, its axes
    alignment: Floats  # (m, 4) outboard to inboard axes where the joint is at zero
    first: Integers  # (m + 1,) where its rows begin
    joint: Integers  # (k,) whose row it is
    kind: Integers  # (k,)
    axis: Floats  # (k, 3) unit, inboard axes
    other: Floats  # (k, 3) unit, outboard axes, of rows with two axes
    reference: Floats  # (k, 3)
    pitch: Floats  # (k,) [m/rad] of a helix
