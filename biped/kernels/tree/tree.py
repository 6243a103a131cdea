"""The multibody tree as the kernels see it: constant arrays, bodies numbered outboard from the root.

In the home configuration (all joint coordinates zero) the frames of all bodies are parallel to the
inertial frame, so that a joint needs no fixed rotation; every vector below is in those home axes.
"""

from typing import NamedTuple

from contact.arrays import Floats, Integers

REVOLUTE, PRISMATIC, SPHERICAL, FLOATING = range(1, 5)

# Places in a row of ``Tree.passive``.
LOWER = 0  # [rad or m] −∞ where there is no limit
UPPER = 1
STOP_STIFFNESS = 2  # [N·m/rad or N/m] beyond either
STOP_DAMPING = 3  # [N·m·s/rad or N·s/m]
MAX_SPEED = 4  # [rad/s or m/s]
SPEED_DAMPING = 5  # [N·m·s/rad or N·s/m] beyond it
DAMPING = 6  # [N·m·s/rad or N·s/m]
FRICTION = 7  # [N·m or N]
MAX_EFFORT = 8  # [N·m or N]
MIN_EFFORT = 9  # [N·m or N] the greatest towards the other side, below zero
SPRING = 10  # [N·m/rad or N/m]
REST = 11  # [rad or m] of the spring
PASSIVE = 12

# [rad/s or m/s] at this rate dry friction has 1/√2 of its strength.
CREEP = 1e-3


class Tree(NamedTuple):
    """n bodies, nv degrees of freedom, nc contact points; body i hangs on joint i, ``parent[i] < i``.

    The inertial frame is parent -1: of body 0, and of others where several trees stand on the ground. Only body 0 may
    float, and then it is the only one of them. Bodies between joints may be without mass.
    """

    parent: Integers  # (n,)
    kind: Integers  # (n,) REVOLUTE, PRISMATIC, SPHERICAL or FLOATING
    axis: Floats  # (n, 3) unit axis of a revolute or prismatic joint
    pitch: Floats  # (n,) [m/rad] of a revolute joint that advances as it turns, a screw; (0,) if none does
    joint_offset: Floats  # (n, 3) [m] from the parent's centre of mass to the joint
    com_offset: Floats  # (n, 3) [m] from the joint to the body's centre of mass
    mass: Floats  # (n,) [kg]
    inertia: Floats  # (n, 9) [kg m²] about the centre of mass
    first_q: Integers  # (n,) where the joint's coordinates start: 1, 1, 4 or 7 of them
    first_v: Integers  # (n,) where its degrees of freedom start: 1, 1, 3 or 6 of them
    dofs: Integers  # (n,)
    gravity: Floats  # (3,) [m/s²]
    contact_body: Integers  # (nc,)
    contact_offset: Floats  # (nc, 3) [m] from the body's centre of mass to the contact point
    armature: Floats  # (nv,) [kg m² or kg] rotors' inertia that joints of one degree of freedom feel
    passive: Floats  # (n, PASSIVE) what joints of one degree of freedom have of limits and bearings; (0, ·) if none has


class ClosingJoints(NamedTuple):
    """m joints that close loops, with k rows in all, each held at zero."""

    inboard: Integers  # (m,) body, −1 the ground
    outboard: Integers  # (m,) body
    inboard_point: Floats  # (m, 3) [m] from the inboard centre of mass, its axes; on the ground from the origin
    outboard_point: Floats  # (m, 3) [m] from the outboard centre of mass, its axes
    alignment: Floats  # (m, 4) outboard to inboard axes where the joint is at zero
    first: Integers  # (m + 1,) where its rows begin
    joint: Integers  # (k,) whose row it is
    kind: Integers  # (k,) of ``biped.kernels.tree.row_kinds``
    axis: Floats  # (k, 3) unit, inboard axes
    other: Floats  # (k, 3) unit, outboard axes, of rows with two axes
    reference: Floats  # (k, 3)
    pitch: Floats  # (k,) [m/rad] of a helix
