"""The quadruped Unitree A1 (figure 13) by the authors' simplified URDF, and the trot of their program.

x points forwards, y to the left. Legs are FR, FL, RR and RL; each has a hip about x, a thigh and a calf about y. Only
the feet touch the floor: four points below the calves. The program leaves the joints' limits out, and so does this.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from biped import Body, Box, ContactPoint, Controller, Joint, Model, State, floating, forward_kinematics, revolute
from biped.model.geometry import Matrix3, Vector3, quaternion_matrix
from contact.arrays import Floats
from controllers.kernels.joint_pd import PdLaw
from experiments.papers.bruedigam_2024.kernels import TrotLaw
from formulations.assembly import Assembly, from_model


class Unit(NamedTuple):
    """A link of a program's URDF."""

    mass: float  # [kg]
    com: Vector3  # [m] in the link's axes
    inertia: tuple[float, float, float, float, float, float]  # [kg m²] xx, xy, xz, yy, yz, zz, about the centre of mass

    @property
    def tensor(self) -> Matrix3:
        """(3, 3) [kg m²] about the centre of mass."""
        xx, xy, xz, yy, yz, zz = self.inertia
        return (xx, xy, xz), (xy, yy, yz), (xz, yz, zz)


#: Of the legs the left front one's links, of which the others are mirror images.
TRUNK = Unit(4.713, (0.012731, 0.002186, 0.000515),
             (0.01683993, 8.3902e-05, 0.000597679, 0.056579028, 2.5134e-05, 0.064713601))  # fmt: skip
HIP = Unit(0.696, (-0.003311, 0.000635, 3.1e-05),
           (0.000469246, -9.409e-06, -3.42e-07, 0.00080749, -4.66e-07, 0.000552929))  # fmt: skip
THIGH = Unit(1.013, (-0.003237, -0.022327, -0.027326),
             (0.005529065, 4.825e-06, 0.000343869, 0.005139339, 2.2448e-05, 0.001367788))  # fmt: skip
CALF = Unit(0.166, (0.006435, 0.0, -0.107388), (0.002997972, 0.0, -0.000141163, 0.003014022, 0.0, 3.2426e-05))
#: Legs in the program's order: whether they are in front and on the left, as signs of x and y.
LEGS = {"FR": (1, -1), "FL": (1, 1), "RR": (-1, -1), "RL": (-1, 1)}
PARTS = ("hip", "thigh", "calf")
#: [m] from the trunk's axes to the hip, from there to the thigh, and along the thigh to the knee.
HIP_PLACE, THIGH_PLACE, KNEE_PLACE = (0.183, 0.047, 0.0), (0.0, 0.08505, 0.0), (0.0, 0.0, -0.2)
#: [m] from the calf's centre of mass to the foot.
FOOT = (0.0, 0.0, -0.1)
#: [N·m] that the URDF lets the motors of hips, thighs and calves give; neither the program nor this keeps to it.
EFFORT = (20.0, 55.0, 55.0)
#: [m] of the feet above the floor where an episode begins.
CLEARANCE = 0.01
TRUNK_SIZE: Vector3 = (0.267, 0.194, 0.114)
THIGH_SIZE: Vector3 = (0.0245, 0.034, 0.2)
CALF_SIZE: Vector3 = (0.016, 0.016, 0.2)


def quadruped() -> Model:
    """A1: a trunk on four legs of three hinges each, ``FR_hip`` …, ``FR_thigh`` …, ``FR_calf`` …"""
    bodies, feet, shapes = [_body("trunk", TRUNK, floating("trunk"))], [], [Box("trunk", TRUNK_SIZE)]
    for leg, (front, left) in LEGS.items():
        hip, thigh, calf = (f"{leg}_{part}" for part in PARTS)
        at_trunk, at_hip = mirrored_point(HIP_PLACE, front, left), mirrored_point(THIGH_PLACE, 1, left)
        bodies += [
            _body(hip, mirrored(HIP, front, left), revolute(hip, (1, 0, 0), at_trunk), "trunk"),
            _body(thigh, mirrored(THIGH, 1, left), revolute(thigh, (0, 1, 0), at_hip), hip),
            _body(calf, CALF, revolute(calf, (0, 1, 0), KNEE_PLACE), thigh),
        ]
        x, y, z = (a + b for a, b in zip(CALF.com, FOOT, strict=True))
        feet.append(ContactPoint(leg, calf, (x, y, z)))
        shapes += [Box(thigh, THIGH_SIZE, (0.0, 0.0, -0.1)), Box(calf, CALF_SIZE, (0.0, 0.0, -0.1))]
    return Model("A1", tuple(bodies), tuple(feet), tuple(shapes))


def crouched(model: Model, thigh: float, calf: float) -> State:
    """Return a state of rest: these angles [rad] in all legs, the trunk level at x = 0, feet just above the floor."""
    angles = {f"{leg}_thigh": thigh for leg in LEGS} | {f"{leg}_calf": calf for leg in LEGS}
    q = model.configuration(angles=angles)
    q[:3] = 0.0
    q[2] = CLEARANCE - forward_kinematics(model, q).contact[0, 2]
    return State.at(model, q)


def limbs(model: Model, q: ArrayLike) -> Floats:
    """(4, 3, 3) [m] of each leg, in the order of ``LEGS``: the places of its thigh's joint, its knee and its foot."""
    motion = forward_kinematics(model, q)
    found = np.zeros((len(LEGS), 3, 3))
    for points, leg, foot in zip(found, LEGS, motion.contact, strict=True):
        for point, name in zip(points, (f"{leg}_thigh", f"{leg}_calf"), strict=False):
            i = model.body_index(name)
            point[:] = motion.position[i] - quaternion_matrix(motion.orientation[i]) @ model.bodies[i].com
        points[2] = foot
    return found


def mirrored_point(point: Vector3, x: int, y: int) -> Vector3:
    """A point of the left front leg in another: with another sign of its coordinates along x and y."""
    return x * point[0], y * point[1], point[2]


def mirrored(unit: Unit, x: int, y: int) -> Unit:
    """The mirror image of a link."""
    xx, xy, xz, yy, yz, zz = unit.inertia
    return Unit(unit.mass, mirrored_point(unit.com, x, y), (xx, x * y * xy, x * xz, yy, y * yz, zz))


def _body(name: str, unit: Unit, joint: Joint, parent: str | None = None) -> Body:
    return Body(name, unit.mass, unit.tensor, unit.com, joint, parent)


#: Gains of hips, thighs and calves [N·m/rad, N·m·s/rad].
STIFFNESS, DAMPING = (100.0, 80.0, 60.0), (5.0, 4.0, 3.0)
#: [Hz] for each unit of the gait's first parameter.
PACE = 10.0


class Gait(NamedTuple):
    """The parameters that are learned, in the authors' program's order."""

    pace: float  # frequency over 10 Hz
    thigh_swing: float  # [rad] amplitude
    thigh: float  # [rad] about which it swings
    calf_swing: float  # [rad]
    calf: float  # [rad]


@dataclass(frozen=True)
class Trot(Controller):
    """A trot held by springs and dampers in the joints.

    Diagonal legs swing together, the two pairs half a period apart; calves are a quarter behind their thighs.
    """

    gait: Gait
    period: float = 1e-3  # [s] between two ticks

    def law(self, model: Model) -> TrotLaw:
        """Return the gait as the kernel takes it."""
        kp, kd, centre, swing, phase = np.zeros((5, model.nv))
        for leg, (front, left) in LEGS.items():
            half = 0.0 if front != left else math.pi
            parts = (
                ("hip", 0.0, 0.0, 0.0),
                ("thigh", self.gait.thigh, self.gait.thigh_swing, half),
                ("calf", self.gait.calf, self.gait.calf_swing, half - 0.5 * math.pi),
            )
            for (part, *target), *gains in zip(parts, STIFFNESS, DAMPING, strict=True):
                dof = model.dof(f"{leg}_{part}")
                kp[dof], kd[dof] = gains
                centre[dof], swing[dof], phase[dof] = target
        pd = PdLaw(kp, kd, target=np.zeros(model.nv), limit=np.full(model.nv, np.inf))
        return TrotLaw(pd, centre, swing, phase, 2.0 * math.pi * PACE * self.gait.pace)


def in_maximal(gait: Gait, friction: float) -> tuple[Assembly, dict[str, Callable[[Floats], Floats]]]:
    """Return the quadruped in maximal coordinates with springs and dampers in its joints, and what moves their rest."""
    model = quadruped()
    bare, law = from_model(model, friction=friction), Trot(gait).law(model)
    joints = []
    forces: dict[str, Callable[[Floats], Floats]] = {}
    for joint in bare.joints:
        dof = model.dof(joint.name)
        motor = replace(joint.freedoms[0], stiffness=law.pd.kp[dof], damping=law.pd.kd[dof])
        joints.append(replace(joint, freedoms=(motor,)))
        forces[joint.name] = partial(_rest, law, dof)
    return Assembly(bare.name, bare.bodies, tuple(joints), bare.contacts, bare.gravity), forces


def _rest(law: TrotLaw, dof: int, time: Floats) -> Floats:
    """[N·m] of a joint's spring from zero to its target."""
    target = law.centre[dof] + law.swing[dof] * np.cos(law.frequency * time + law.phase[dof])
    return np.asarray(law.pd.kp[dof] * target)
