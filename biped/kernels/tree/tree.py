"""The multibody tree of the kernels: constant arrays, bodies numbered outboard from the root.

In the home configuration (all joint coordinates zero) the frames of all bodies are parallel to the
inertial frame, so that a joint needs no fixed rotation; every vector below is in those home axes.
"""

from typing import NamedTuple

from contact.arrays import Floats, Integers

REVOLUTE, PRISMATIC, SPHERICAL, FLOATING = range(1, 5)

# Indices in a row of ``Tree.passive``.
LOWER = 0  # [rad or m] position limit; −∞ without a limit
UPPER = 1
STOP_STIFFNESS = 2  # [N·m/rad or N/m] of the stop at either limit
STOP_DAMPING = 3  # [N·m·s/rad or N·s/m]
MAX_SPEED = 4  # [rad/s or m/s]
SPEED_DAMPING = 5  # [N·m·s/rad or N·s/m] above the maximum speed
DAMPING = 6  # [N·m·s/rad or N·s/m]
FRICTION = 7  # [N·m or N]
MAX_EFFORT = 8  # [N·m or N]
MIN_EFFORT = 9  # [N·m or N] limit in the negative direction, below zero
SPRING = 10  # [N·m/rad or N/m]
REST = 11  # [rad or m] rest position of the spring
PASSIVE = 12

# [rad/s or m/s] Rate at which dry friction has 1/√2 of its strength.
CREEP = 1e-3


class Tree(NamedTuple):
    """A tree of n bodies, nv degrees of freedom, nc contact points; joint i carries body i, ``parent[i] < i``.

    Parent −1 is the inertial frame: for body 0, and for other bodies if several trees are fixed to it. Only body 0
    may float, and then no other body has parent −1. Bodies between joints may be massless.
    """

    parent: Integers  # (n,)
    kind: Integers  # (n,) REVOLUTE, PRISMATIC, SPHERICAL or FLOATING
    axis: Floats  # (n, 3) unit axis of a revolute or prismatic joint
    pitch: Floats  # (n,) [m/rad] pitch of a revolute joint that is a screw; (0,) without screws
    joint_offset: Floats  # (n, 3) [m] from the parent's centre of mass to the joint
    com_offset: Floats  # (n, 3) [m] from the joint to the body's centre of mass
    mass: Floats  # (n,) [kg]
    inertia: Floats  # (n, 9) [kg m²] about the centre of mass
    first_q: Integers  # (n,) index of the joint's first coordinate; there are 1, 1, 4 or 7
    first_v: Integers  # (n,) index of its first degree of freedom; there are 1, 1, 3 or 6
    dofs: Integers  # (n,)
    gravity: Floats  # (3,) [m/s²]
    contact_body: Integers  # (nc,)
    contact_offset: Floats  # (nc, 3) [m] from the body's centre of mass to the contact point
    armature: Floats  # (nv,) [kg m² or kg] reflected rotor inertia of joints of one degree of freedom
    passive: Floats  # (n, PASSIVE) limits and bearings of joints of one degree of freedom; (0, ·) without any


class ClosingJoints(NamedTuple):
    """Set of m joints that close loops, with k rows in all, each kept at zero."""

    inboard: Integers  # (m,) body, −1 the ground
    outboard: Integers  # (m,) body
    inboard_point: Floats  # (m, 3) [m] from the inboard centre of mass, its axes; on the ground from the origin
    outboard_point: Floats  # (m, 3) [m] from the outboard centre of mass, its axes
    alignment: Floats  # (m, 4) quaternion from outboard to inboard axes at the zero of the joint
    first: Integers  # (m + 1,) first row of each joint
    joint: Integers  # (k,) joint of each row
    kind: Integers  # (k,) kind of row, of ``biped.kernels.tree.row_kinds``
    axis: Floats  # (k, 3) unit vector in inboard axes
    other: Floats  # (k, 3) unit vector in outboard axes, for rows with two axes
    reference: Floats  # (k, 3) zero direction of an azimuth
    pitch: Floats  # (k,) [m/rad] pitch of a helix
