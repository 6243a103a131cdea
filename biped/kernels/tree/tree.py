"""The multibody tree as the kernels see it: constant arrays, bodies numbered outboard from the root.

In the home configuration (all joint coordinates zero) the frames of all bodies are parallel to the
inertial frame, so that a joint needs no fixed rotation; every vector below is in those home axes.
"""

from typing import NamedTuple

from contact.arrays import Floats, Integers

REVOLUTE = 1
PRISMATIC = 2
SPHERICAL = 3
FLOATING = 4


class Tree(NamedTuple):
    """n bodies, nv degrees of freedom, nc contact points; body i hangs on joint i, ``parent[i] < i``.

    Only body 0 has the inertial frame as its parent (-1); only body 0 may float.
    """

    parent: Integers  # (n,)
    kind: Integers  # (n,) REVOLUTE, PRISMATIC, SPHERICAL or FLOATING
    axis: Floats  # (n, 3) unit axis of a revolute or prismatic joint
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
