"""The recursive workspace controller of Wendlandt 1997, section 4.2."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np

from biped.control.controller import Controller, Impedance, SetPoint
from biped.dynamics import forward_kinematics
from biped.errors import InputError
from biped.inputs.checks import above_zero, is_finite, positive_definite
from biped.model import Model
from biped.model.legs import straight_knees
from biped.runs.postures import has_human_legs, standing
from contact import Floor
from contact.arrays import Floats
from controllers.feet import place_of
from controllers.held_joints import HeldJoints
from controllers.kernels.workspace import Gains, Legs, WorkspaceLaw, new_scratch
from controllers.parameter import parameter
from controllers.set_point import SetPointMotion, SetPointPath

Vector3 = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
#: Three numbers along x, y, z, or nine numbers of a matrix, row by row.
Gain = tuple[float, ...]

REFERENCES = ("world", "feet")
THESIS, THESIS_42 = "Wendlandt 1997, 4.3", "Wendlandt 1997, 4.2"
LARGEST_INERTIA = {
    "unit": "kg",
    "title": "Apparent trunk inertia along the legs above which leg torques are damped; inf: never",
    "infinite": True,
}
DESIRED_WRENCH = ("desired_fx", "desired_fy", "desired_fz", "desired_nx", "desired_ny", "desired_nz")
#: Further columns that are recorded if the set point moves.
TARGET = ("target_x", "target_y", "target_z", "target_qw", "target_qx", "target_qy", "target_qz")
#: [m] Greatest initial height of the soles above the floor; the thesis's experiments start at 5 mm.
HANGING = 0.03


#: Metadata of the gains; their ranges end at twice the tuned values.
_GAIN = {"source": THESIS, "repeats": True, "matrix": True}


@dataclass(frozen=True)
class WorkspaceGains:
    """Gains of the central body's error dynamics, in world axes.

    Each gain is three numbers, one number for all three axes, or a symmetric positive definite matrix: nine numbers row
    by row, or three rows of three. Gains are as in Wendlandt 1997, equations 4.14 and 4.24, with the defaults of
    section 4.3: vertical gains are from astronauts' jumps, others have a damping ratio of one half.

    Raises:
        InputError: a gain is negative or not finite, or a matrix is not symmetric positive definite.
    """

    kp_position: Gain = parameter(
        (50.0, 50.0, 200.0), "1/s²", "Trunk acceleration per position error, along x, y, z", 0.0, 400.0, **_GAIN
    )
    kd_position: Gain = parameter(
        (7.07, 7.07, 14.142), "1/s", "Trunk acceleration per velocity error, along x, y, z", 0.0, 60.0, **_GAIN
    )
    kp_orientation: Gain = parameter(
        (50.0, 50.0, 50.0), "1/s²", "Trunk angular acceleration per rotation error, about x, y, z", 0.0, 800.0, **_GAIN
    )
    kd_orientation: Gain = parameter(
        (7.07, 7.07, 7.07), "1/s", "Trunk angular acceleration per rate error, about x, y, z", 0.0, 120.0, **_GAIN
    )

    def __post_init__(self) -> None:
        for item in fields(self):
            object.__setattr__(self, item.name, _checked_gain(getattr(self, item.name), item.name))

    def matrix(self, name: str) -> Floats:
        """Return the gain of this name as a matrix (3, 3)."""
        gain = np.array(getattr(self, name))
        return np.diag(gain) if len(gain) == 3 else gain.reshape(3, 3)


def _checked_gain(value: Any, name: str) -> Gain:
    """Return a gain as three numbers, or as nine numbers of a matrix, after a check."""
    rows = value.tolist() if isinstance(value, np.ndarray) else value
    rows = rows if isinstance(rows, (tuple, list)) else (rows,) * 3
    entries = tuple(entry for row in rows for entry in (row if isinstance(row, (tuple, list)) else (row,)))
    if len(entries) == 9 and all(map(is_finite, entries)):
        positive_definite(np.reshape(entries, (3, 3)), f"gain {name}")
    elif len(entries) != 3 or not all(is_finite(x) and x >= 0.0 for x in entries):
        raise InputError(
            f"gain {name} = {value!r}: it must be three finite numbers, zero or above (x, y, z), or a symmetric "
            "positive definite matrix (nine numbers, row by row)"
        )
    return tuple(float(x) for x in entries)


@dataclass(frozen=True)
class WorkspaceController(Controller):
    """Workspace controller that keeps the central body at a set point by leg torques, with the feet on the floor.

    The wrench that gives the central body the desired acceleration follows from its articulated-body inertia and bias
    force with the feet fixed. It is split into foot wrenches of least norm, which are converted to joint torques.

    Attributes:
        target_orientation: set point of the orientation: unit quaternion, scalar first, body to world.
        reference: frame of the set point: ``world``, as in Wendlandt 1997, or ``feet``: it moves horizontally
            with the midpoint of the feet, and velocities are relative to that of the midpoint. On a moving floor,
            ``world`` corresponds to vestibular sensing alone, ``feet`` to proprioception of the legs.
        feet_at: [m] x and y of the midpoint of the feet's centres of mass for which the set point is given; default:
            that of the home configuration. Used only with the reference ``feet``.
        held: holding of the joints outside the legs, which the controller treats as locked.
        motion: motion of the set point, as signals (``SetPointPath``) or numbers (``SetPointMotion``). The controller
            feeds velocities and accelerations forward (equations 4.13 and 4.24), and the run records the set point in
            columns ``target_*``.
        largest_inertia: [kg, kg·m²] apparent inertia L of the central body above which torques are damped. With
            straight knees the trunk cannot be accelerated along the legs: its apparent inertia P_1 there is infinite,
            and torques grow without bounds. P_1 (1 + (P_1/L)²)⁻¹ then replaces P_1: at most L/2, and tending to zero
            for P_1 ≫ L. In any posture this costs a share (P_1/L)² of the desired force. inf: no damping.

    Raises:
        InputError: the set point is not finite, the orientation is not a unit quaternion, or a number is out of range.
    """

    analytic: ClassVar[bool] = True

    target_position: Vector3 = parameter((-0.01, 0.0, 1.10), "m", "Set point of the trunk CoM position", source=THESIS)
    target_orientation: Quaternion = parameter(
        (1.0, 0.0, 0.0, 0.0), "", "Set point of the trunk orientation, unit quaternion w, x, y, z", source=THESIS
    )
    gains: WorkspaceGains = field(default_factory=WorkspaceGains, metadata={"inline": True})
    reference: Literal["world", "feet"] = parameter(
        "world", "", f"Reference frame of the set point: {' or '.join(REFERENCES)}"
    )
    feet_at: tuple[float, float] | None = None
    period: float = parameter(2e-3, "s", "Control period", source=THESIS)
    # Hidden, since the human of the experiments has no joints outside the legs.
    held: HeldJoints = field(default_factory=HeldJoints, metadata={"hidden": True})
    motion: SetPointMotion | SetPointPath = field(default_factory=SetPointMotion)
    big_base: float = parameter(1e6, "", "Ratio of the feet's assumed inertia to the trunk's inertia", source=THESIS_42)
    largest_inertia: float = field(default=float("inf"), metadata=LARGEST_INERTIA)

    @property
    def recorded(self) -> tuple[str, ...]:  # type: ignore[override]
        """Columns that the controller records: the desired wrench and, for a moving set point, its pose."""
        return (*DESIRED_WRENCH, *TARGET) if self.motion.path.moves else DESIRED_WRENCH

    def __post_init__(self) -> None:
        above_zero(self.big_base, "controller.big_base")
        if not self.largest_inertia > 0.0:
            raise InputError(f"controller.largest_inertia = {self.largest_inertia!r}: it must be above zero, or inf")
        if not isinstance(self.motion, (SetPointMotion, SetPointPath)):
            raise InputError(f"controller.motion = {self.motion!r}: it must be a SetPointPath or a SetPointMotion")
        if not (np.isfinite(self.period) and self.period > 0.0):
            raise InputError(f"controller.period = {self.period!r}: it must be a finite number of seconds above zero")
        position, orientation = tuple(self.target_position), tuple(self.target_orientation)
        if len(position) != 3 or not all(is_finite(x) for x in position):
            raise InputError(f"controller.target_position = {position!r}: it must be three finite numbers")
        if (
            len(orientation) != 4
            or not all(is_finite(x) for x in orientation)
            or not abs(float(np.linalg.norm(orientation)) - 1.0) < 1e-6
        ):
            raise InputError(
                f"controller.target_orientation = {orientation!r}: it must be a unit quaternion (w, x, y, z)"
            )
        feet = () if self.feet_at is None else tuple(self.feet_at)
        if len(feet) not in (0, 2) or not all(is_finite(x) for x in feet):
            raise InputError(f"controller.feet_at = {self.feet_at!r}: it must be two finite numbers [m]")
        reference: str = self.reference
        if reference not in REFERENCES:
            raise InputError(f"controller.reference = {self.reference!r}: it must be one of {', '.join(REFERENCES)}")
        object.__setattr__(self, "target_position", tuple(float(x) for x in position))
        unit = np.asarray(orientation) / np.linalg.norm(orientation)
        object.__setattr__(self, "target_orientation", tuple(float(x) for x in unit))

    def set_point(self, model: Model) -> SetPoint:
        """Return the central body's set point; if it moves, at the end of its motion."""
        path, on_floor = self.motion.path, self.reference == "feet"
        if not path.moves:
            return SetPoint(self.target_position, self.target_orientation, on_floor)
        from scipy.spatial.transform import Rotation  # importing it takes a fifth of a command's start

        end = path.end()
        turned = Rotation.from_rotvec(end[3:]) * Rotation.from_quat(self.target_orientation, scalar_first=True)
        x, y, z = (float(c) for c in self.target_position + end[:3])
        w, i, j, k = (float(c) for c in turned.as_quat(scalar_first=True))
        return SetPoint((x, y, z), (w, i, j, k), on_floor)

    def singular_angles(self, model: Model) -> Mapping[str, float]:
        """Return the angles [rad] of straight knees by joint; empty if torques are damped there."""
        return straight_knees(model) if np.isinf(self.largest_inertia) else {}

    def initial_configuration(self, model: Model, floor: Floor) -> Floats | None:
        """Return the configuration (nq,) of a human with its trunk upright at the set point; None for other models."""
        return standing(model, floor, self.target_position).q if has_human_legs(model) else None

    def check_start(self, model: Model, q: Floats) -> None:
        """Check that feet are near the floor: the controller assumes stance, and would fling feet in the air.

        Raises:
            InputError: no foot has a contact point within a few centimetres of the floor.
        """
        gap = float(forward_kinematics(model, q).contact[:, 2].min()) if model.nc else 0.0
        if gap > HANGING:
            raise InputError(
                f"the workspace controller needs feet on the floor, but the lowest contact point of "
                f"{model.name!r} is {gap:.3g} m above it: start from biped.standing(model), or lower the model"
            )

    def holding(self, model: Model, q: Floats) -> Self:
        """Return this controller with the central body's position in ``q`` (nq,) as set point; orientation is kept."""
        return replace(self, target_position=place_of(q))

    def impedance(self, model: Model) -> Impedance | None:
        """Return the springs and dampers of the joints outside the legs; None with a servo."""
        return self.held.impedance(model, _joints_outside_legs(model))

    def law(self, model: Model) -> WorkspaceLaw:
        """Return the compiled law, for the kernels.

        Raises:
            InputError: the model has no floating root or no feet, or a joint outside the legs cannot be held.
        """
        if not model.is_floating or not model.feet:
            raise InputError(
                f"the workspace controller needs a floating root and feet; model {model.name!r} lacks them"
            )
        gains = {item.name: tuple(self.gains.matrix(item.name).ravel().tolist()) for item in fields(self.gains)}
        kernel_gains = Gains(
            **gains,
            target_position=self.target_position,
            target_orientation=self.target_orientation,
            follows=float(self.reference == "feet"),
            feet_at_home=self.feet_at or _between_feet_at_home(model),
            big_base=self.big_base,
            damping=1.0 / self.largest_inertia,
        )
        legs, servo = _legs(model), self.held.servo(model, _joints_outside_legs(model))
        scratch = new_scratch(len(model.feet), model.nv)
        return WorkspaceLaw(kernel_gains, self.motion.path.compiled(), legs, servo, scratch)


def _between_feet_at_home(model: Model) -> tuple[float, float]:
    """Return x and y [m] of the midpoint of the feet's centres of mass in the home configuration."""
    places = [model.home_positions[model.body_index(foot)] for foot in model.feet]
    return float(sum(place[0] for place in places)) / len(places), float(sum(place[1] for place in places)) / len(
        places
    )


def _legs(model: Model) -> Legs:
    feet = [model.body_index(foot) for foot in model.feet]
    leg = np.full(model.n, -1, dtype=np.int64)
    for index, foot in enumerate(feet):
        body = foot
        while body > 0:
            leg[body] = index
            body = int(model.tree.parent[body])
    diagonal = model.tree.armature.copy()
    for part, index in zip(model.bodies[1:], leg[1:], strict=True):
        if index < 0:
            if not part.joint.has_axis:
                raise InputError(
                    f"the workspace controller holds joints of one degree of freedom; {part.joint.name!r} of model "
                    f"{model.name!r}, outside the legs, is {part.joint.kind}: weld {part.name!r} to {part.parent!r}"
                )
            diagonal[model.dof(part.joint.name)] = np.inf
    return Legs(np.array(feet, dtype=np.int64), leg, diagonal)


def _joints_outside_legs(model: Model) -> tuple[str, ...]:
    """Return the names of the joints outside the legs."""
    held = np.isinf(_legs(model).diagonal)
    return tuple(joint for joint in model.joint_names if held[model.dof(joint)])
