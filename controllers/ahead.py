"""Base class of controllers that predict the present state from delayed sensors."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from biped.control.controller import Controller, Impedance, SetPoint
from biped.errors import InputError
from biped.inputs.checks import above_zero
from biped.model import Model
from biped.runs.postures import standing
from contact import RUBBER, Floor
from contact.arrays import Floats
from controllers.joint_values import JointValues, by_joint, checked


@dataclass(frozen=True)
class Ahead(Controller):
    """Controller whose inner controller gets a predicted present state x̂ in place of the delayed sensed state.

    Attributes:
        inner: compiled controller.
        delay: [s] sensory delay of ``biped.Sensors``, a whole number of control periods.
        floor: floor under the feet; default: ``contact.RUBBER``.
        stiffness: [N·m/rad] stiffness of muscles and tendons, for all joints or by joint: an impedance in each joint
            that acts without delay, within the integrator's steps. The controller subtracts the impedance's torque at
            x̂, so that the impedance has no effect if x̂ is exact, and resists other deviations.
        damping: [N·m·s/rad] damping of muscles and tendons, for all joints or by joint.

    Raises:
        InputError: the delay is not a positive whole number of periods, or the inner controller is not compiled.
    """

    inner: Controller
    delay: float
    floor: Floor | None = None
    stiffness: JointValues = 0.0
    damping: JointValues = 0.0

    def __post_init__(self) -> None:
        name = type(self).__name__.lower()
        if not isinstance(self.inner, Controller):
            raise InputError(f"{name}.inner = {self.inner!r}: it must be a compiled Controller")
        above_zero(self.delay, f"{name}.delay")
        checked(self.stiffness, f"{name}.stiffness", least=0.0)
        checked(self.damping, f"{name}.damping", least=0.0)
        if self._ticks < 1 or abs(self._ticks * self.period - self.delay) > 1e-9 * self.delay:
            raise InputError(
                f"{name}.delay = {self.delay:g} s: it must be a whole number of control periods of {self.period:g} s"
            )

    @property
    def _ticks(self) -> int:
        return round(self.delay / self.period)

    @property
    def period(self) -> float:  # type: ignore[override]
        """Control period [s] of the inner controller."""
        return self.inner.period

    @property
    def recorded(self) -> tuple[str, ...] | Mapping[str, str]:  # type: ignore[override]
        """Columns that the inner controller records."""
        return self.inner.recorded

    def _posture(self, model: Model) -> Floats:
        """Return the initial posture (nq,); raise InputError for ball joints, or joints held by an impedance."""
        if self.inner.impedance(model) is not None:
            raise InputError(
                f"{type(self.inner).__name__} holds joints by an impedance: prediction needs a controller without one"
            )
        if any(body.joint.kind == "spherical" for body in model.bodies):
            raise InputError(
                f"{type(self).__name__} needs joints of one degree of freedom; {model.name!r} has ball joints"
            )
        floor = self.floor or RUBBER
        q = self.inner.initial_configuration(model, floor)
        return standing(model, floor).q if q is None else q

    def _muscles(self, model: Model) -> tuple[Floats, Floats]:
        """Return stiffness (joints,) [N·m/rad] and damping (joints,) [N·m·s/rad] of the muscles."""
        stiffness, damping = (list(by_joint(values, model).values()) for values in (self.stiffness, self.damping))
        return np.array(stiffness), np.array(damping)

    def _inner_law(self, model: Model) -> Any:
        """Return the compiled part of the inner controller; raise InputError for a controller in Python."""
        law = self.inner.law(model)
        if law is None:
            raise InputError(f"{type(self.inner).__name__} is not compiled: prediction needs a compiled controller")
        return law

    def impedance(self, model: Model) -> Impedance | None:
        """Return the impedance of muscles and tendons, with rest angles of the initial posture."""
        stiffness, damping = (dict(by_joint(values, model)) for values in (self.stiffness, self.damping))
        q = self._posture(model)
        if not any(stiffness.values()) and not any(damping.values()):
            return None
        return Impedance(stiffness, damping, {joint: float(q[model.coordinate(joint)]) for joint in stiffness})

    def holding(self, model: Model, q: Floats) -> Self:
        """Return this controller with the inner controller's reference posture ``q`` (nq,)."""
        return replace(self, inner=self.inner.holding(model, q))

    def initial_configuration(self, model: Model, floor: Floor) -> Floats | None:
        """Return the initial configuration of the inner controller."""
        return self.inner.initial_configuration(model, floor)

    def set_point(self, model: Model) -> SetPoint | None:
        """Return the set point of the inner controller."""
        return self.inner.set_point(model)

    def set_point_from(self, model: Model, q: Floats) -> SetPoint | None:
        """Return the set point of the inner controller for configuration ``q`` (nq,)."""
        return self.inner.set_point_from(model, q)

    def most_steps(self) -> float:
        """Return the number of steps that the inner controller may take."""
        return self.inner.most_steps()

    def singular_angles(self, model: Model) -> Mapping[str, float]:
        """Return the singular joint angles of the inner controller."""
        return self.inner.singular_angles(model)

    def check_start(self, model: Model, q: Floats) -> None:
        """Check an initial configuration (nq,) as the inner controller does."""
        self.inner.check_start(model, q)
