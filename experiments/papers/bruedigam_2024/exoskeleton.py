"""An arm in an exoskeleton for the shoulder and the elbow (figure 14), with the numbers of the authors' program.

The program locks two of the exoskeleton's four joints; so does this. The world's z is up, and the arm hangs on the
ground at the shoulder; all its motion is about y.
"""

import math
from typing import NamedTuple

import numpy as np

from biped.assembly import Assembly, Freedom, Joint, Placement, RigidBody, joint
from biped.model.geometry import Quaternion, Vector3, quaternion_matrix

EIGHTH = 0.25 * math.pi
_Y: Vector3 = (0.0, 1.0, 0.0)
_Z: Vector3 = (0.0, 0.0, 1.0)
_ORIGIN: Vector3 = (0.0, 0.0, 0.0)
SHOULDER: Vector3 = (0.2483, 0.0, 0.0)
#: [m] in the axes of the exoskeleton's sFE, and of the upper arm.
ELBOW_OF_EXOSKELETON, ELBOW_OF_ARM = (0.0, 0.3087, 0.0), (0.0, 0.0, 0.3087)
#: From outboard to inboard axes where joints are at zero: a third of a turn either way, and a quarter about x.
ALONG_EXOSKELETON, ALONG_ARM = (0.5, -0.5, -0.5, -0.5), (0.5, 0.5, 0.5, 0.5)
FORTH, BACK = (math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0), (math.sqrt(0.5), -math.sqrt(0.5), 0.0, 0.0)
#: [N/m, N·m/rad] of attachments.
ATTACHMENT = 100.0


class Unit(NamedTuple):
    """A link of the program's URDF."""

    mass: float  # [kg]
    com: Vector3  # [m] in the link's axes
    inertia: tuple[float, float, float, float, float, float]  # [kg m²] xx, xy, xz, yy, yz, zz


UNITS = {
    "sFE": Unit(3.487, (0.0001, 0.1051, -0.1201), (0.1108677, -0.0000977, 0.0000399, 0.0689688, 0.0384741, 0.0569634)),
    "sIE": Unit(1.663, (-0.0006, 0.1079, -0.03), (0.0266938, 0.0001282, -0.0000556, 0.007941, 0.0038772, 0.0235228)),
    "eFE": Unit(0.494, (0.0, 0.0557, -0.0803), (0.0069974, -0.0000009, -0.0000004, 0.0035498, 0.001812, 0.0037622)),
    "upper_arm": Unit(2.25, (0.0, 0.0, 0.155), (0.01875, 0.0, 0.0, 0.01875, 0.0, 0.00375)),
    "lower_arm": Unit(1.5, (0.0, 0.125, 0.0), (0.008515625, 0.0, 0.0, 0.00140625, 0.0, 0.008515625)),
}  # fmt: skip
#: [m] from the centre of mass of sIE to the attachment of the upper arm.
UPPER_POINT: Vector3 = (0.0006, -0.1079, -0.1237)
#: [m] from that of eFE to the attachment of the forearm: at its centre of mass, and as it is in the program.
FITTING: Vector3 = (0.0, 0.0693, 0.0803)
PROGRAM: Vector3 = (0.0, -0.0693, 0.0803)


class Gains(NamedTuple):
    """Of the motors at the shoulder and the elbow [N·m/rad]; their damping is a tenth of it [N·m·s/rad]."""

    shoulder: float
    elbow: float


def exoskeleton(gains: Gains, spastic: bool, lower_point: Vector3 = FITTING) -> tuple[Assembly, Placement]:
    """The arm in the exoskeleton, and where it starts.

    Motors hold joints sFE and eFE with springs and dampers; what they follow is added as a force. A spastic elbow has a
    spring of 10 N·m/rad that is at rest at −π/4, and a damper of 2 N·m·s/rad.
    """
    attached = [Freedom(stiffness=ATTACHMENT)]
    elbow = Freedom(stiffness=10.0, rest=-EIGHTH, damping=2.0) if spastic else Freedom()
    joints = (
        _hinge("sFE", None, "sFE", SHOULDER, ALONG_EXOSKELETON, _motor(gains.shoulder)),
        joint("fixed", "sIE", "sFE", "sIE", inboard_point=_from_com("sFE", ELBOW_OF_EXOSKELETON),
              outboard_point=_from_com("sIE"), alignment=BACK),
        _hinge("eFE", "sIE", "eFE", _ORIGIN, FORTH, _motor(gains.elbow)),
        joint("planar_axis", "upper_attachment", "sIE", "upper_arm", _Y, inboard_point=UPPER_POINT, freedoms=attached),
        _hinge("elbow", "upper_arm", "lower_arm", ELBOW_OF_ARM, FORTH, elbow),
        joint("planar_axis", "lower_attachment", "eFE", "lower_arm", _Z, inboard_point=lower_point, freedoms=attached),
        joint("spherical", "shoulder", None, "upper_arm", inboard_point=SHOULDER,
              outboard_point=_from_com("upper_arm"), alignment=ALONG_ARM),
    )  # fmt: skip
    assembly = Assembly("exoskeleton", tuple(_body(name) for name in UNITS), joints)
    start = assembly.place({"sFE": EIGHTH, "eFE": -EIGHTH, "elbow": -EIGHTH})
    return assembly, assembly.assemble(start)


def _motor(gain: float) -> Freedom:
    return Freedom(stiffness=gain, damping=0.1 * gain)


def _from_com(unit: str, point: Vector3 = _ORIGIN) -> tuple[float, ...]:
    """[m] A point of a link, from its centre of mass."""
    return tuple((np.array(point) - UNITS[unit].com).tolist())


def _hinge(
    name: str, inboard: str | None, outboard: str, point: Vector3, alignment: Quaternion, freedom: Freedom
) -> Joint:
    """About the outboard link's z, at its origin and at a point of the inboard link, or of the ground."""
    return joint(
        "revolute", name, inboard, outboard, quaternion_matrix(alignment) @ _Z,
        inboard_point=point if inboard is None else _from_com(inboard, point), outboard_point=_from_com(outboard),
        alignment=alignment, freedoms=[freedom],
    )  # fmt: skip


def _body(name: str) -> RigidBody:
    xx, xy, xz, yy, yz, zz = UNITS[name].inertia
    return RigidBody(name, UNITS[name].mass, ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))
