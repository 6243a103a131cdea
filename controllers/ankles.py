"""Base class of quiet-stance controllers: an inverted pendulum on passive ankles, with all other joints held."""

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from biped.control.controller import Controller, Impedance, SetPoint
from biped.dynamics import forward_kinematics
from biped.dynamics.whole_body import WholeBody
from biped.inputs.checks import above_zero, zero_or_above
from biped.model import Model, ModelError
from biped.model.legs import legs_of
from biped.runs.stance import Stance
from contact import Floor
from contact.arrays import Floats
from controllers.feet import a_posture, place_of
from controllers.joint_values import angles_of
from controllers.kernels.ankles import Ankles
from controllers.parameter import parameter


@dataclass(frozen=True)
class AnkleController(Controller):
    """Base class of controllers that balance as an inverted pendulum on the ankles; subclasses define ``law``.

    Stiffness is in units of the toppling torque m g h, so that values suit any subject. Filter states persist
    within a run and a session; a run that continues from a state starts with the signals of that state.

    Attributes:
        passive_stiffness: [m g h] intrinsic stiffness of both ankles together, tendons and muscles; about 0.65
            (Casadio et al. 2005) to 0.9 (Loram and Lakie 2002) in quiet stance; 0.15 in large sways (Peterka 2002).
        smoothing: [s] time constant of the low-pass filter on proprioception (our choice). Feet tremble on a compliant
            floor, and unfiltered feedback would sustain the tremor.
        posture: (nq,) reference posture, set by ``holding``; default: that of ``biped.Stance()``.

    Raises:
        InputError: a number is out of range.
        ModelError: the model does not have two legs with pitching ankles; raised when the model is known.
    """

    takes_estimates: ClassVar[bool] = False

    passive_stiffness: float = parameter(0.65, "m g h", "Passive stiffness of both ankles together", 0.0, 2.0)
    passive_damping: float = parameter(0.015, "m g h s", "Passive damping of both ankles together", 0.0, 0.2)
    held_stiffness: float = parameter(3000.0, "N·m/rad", "Stiffness of the held joints (all but the ankles)")
    held_damping: float = parameter(60.0, "N·m·s/rad", "Damping of the held joints (all but the ankles)")
    smoothing: float = parameter(0.02, "s", "Time constant of the low-pass filter on proprioception")
    period: float = parameter(2e-3, "s", "Control period")
    posture: tuple[float, ...] | None = a_posture()

    def __post_init__(self) -> None:
        for name in ("passive_stiffness", "passive_damping", "held_stiffness", "held_damping", "smoothing"):
            zero_or_above(getattr(self, name), f"{self._name}.{name}")
        above_zero(self.period, f"{self._name}.period")

    @property
    def _name(self) -> str:
        return type(self).__name__.lower()

    def holding(self, model: Model, q: Floats) -> Self:
        """Return this controller with reference posture ``q`` (nq,)."""
        return replace(self, posture=tuple(q.tolist()))

    def initial_configuration(self, model: Model, floor: Floor) -> Floats:
        """Return the configuration (nq,) of the posture."""
        return Stance().configuration(model, floor) if self.posture is None else np.array(self.posture)

    def set_point(self, model: Model) -> SetPoint:
        """Return the root's pose in the posture, relative to the floor."""
        q = self._posture(model)
        w, x, y, z = (float(number) for number in q[3:7])
        return SetPoint(place_of(q), (w, x, y, z), on_floor=True)

    def impedance(self, model: Model) -> Impedance:
        """Return the impedance of the passive ankles and of all other joints, which it holds."""
        ankles, toppling = _ankles(model), self._toppling(model)[0]
        stiffness = dict.fromkeys(model.joint_names, self.held_stiffness)
        damping = dict.fromkeys(model.joint_names, self.held_damping)
        stiffness |= dict.fromkeys(ankles, self.passive_stiffness * toppling / len(ankles))
        damping |= dict.fromkeys(ankles, self.passive_damping * toppling / len(ankles))
        return Impedance(stiffness, damping, angles_of(model, self._posture(model)), passive=tuple(ankles))

    def pendulum(self, model: Model) -> Ankles:
        """Return the body as a pendulum about its ankles, for the kernels."""
        ankles, placed = _ankles(model), forward_kinematics(model, self._posture(model))
        feet = [model.joint_index(joint) for joint in ankles]
        toppling, upright = self._toppling(model)
        return Ankles(
            foot=np.array(feet, dtype=np.int64), dof=np.array([model.dof(joint) for joint in ankles], dtype=np.int64),
            turns=np.array([float(np.dot(model.left, model.bodies[foot].joint.axis)) for foot in feet]),
            flat=placed.orientation[feet].copy(), forward=model.facing, left=model.left, mass=model.total_mass,
            toppling=toppling, upright=upright,
            kept=math.exp(-self.period / self.smoothing) if self.smoothing > 0.0 else 0.0,
            filtered=np.full(5, np.nan),
        )  # fmt: skip

    def _posture(self, model: Model) -> Floats:
        return self.initial_configuration(model, Floor())

    def _toppling(self, model: Model) -> tuple[float, float]:
        """Return the toppling torque m g h [N·m/rad], and the sway [rad] of the posture from the vertical."""
        body = WholeBody(model, self._posture(model))
        feet = [model.bodies[model.joint_index(joint)] for joint in _ankles(model)]
        arm = body.com - np.mean([body.position(foot.name, -np.array(foot.com)) for foot in feet], axis=0)
        weight = model.total_mass * math.hypot(*model.gravity)
        return float(weight * arm[2]), float(arm @ model.facing / arm[2])


def _ankles(model: Model) -> list[str]:
    """Return the names of the joints that pitch the feet."""
    joints = [leg.sagittal[-1] for leg in legs_of(model) if leg.sagittal]
    carried = [joint for joint in joints if model.bodies[model.joint_index(joint)].name in model.feet]
    if len(carried) != 2:
        raise ModelError(f"model {model.name!r}: the controller needs two feet, each on a pitch joint")
    return carried
