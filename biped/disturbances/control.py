"""Imperfect actuators, between the controller and the simulated system."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biped.errors import InputError
from biped.inputs.checks import is_finite, whole, zero_or_above
from biped.kernels.loop import measurement as kernels
from biped.model import Model
from biped.model.errors import unknown
from biped.model.strength import NOBODY, PEOPLE, Strength, human_strength

#: One number for all joints, or one for each joint named.
ByJoint = float | Mapping[str, float]


@dataclass(frozen=True)
class Actuators:
    """Actuators that give the desired torques late, within limits, with noise at each control tick.

    What an ``Impedance`` in a joint exerts is torque of muscles too, but where that names it passive: it is late, and
    bounded in every step, together with the law's torque. Where the integrator knows no limits of joints it is not, and
    beyond the limit the run has a warning.

    Attributes:
        limit: [N·m] the greatest torque, one for all joints or by joint.
        strength: whose joints are as strong as the model's, over angle and speed: one of
            ``biped.model.strength.PEOPLE``, or nobody's. What ``limit`` says holds besides.
        time_constant: [s] of a first-order lag between the torques asked for and those that come; muscles take 0.01 to
            0.06 (Zajac 1989).
        rate_limit: [N·m/s] the greatest rate at which a torque develops or is let go of, one for all joints or by
            joint: it changes by that much in a control tick at most. What ``limit`` says holds besides.
        noise: [N·m] standard deviation, one for all joints or by joint.
        relative_noise: the same as a share of the torque: noise that grows with the signal (Harris and Wolpert 1998).
        seed: of the noise.

    Raises:
        InputError: a limit or a rate is not above zero, noise or lag is negative, or a number is not finite.
        ModelError: a table names a joint that the model does not have, or ``strength`` is that of other legs than it
            has, or nobody known; the latter two raised when the model is known.
    """

    limit: ByJoint = float("inf")
    strength: str = NOBODY
    time_constant: float = 0.0
    rate_limit: ByJoint = float("inf")
    noise: ByJoint = 0.0
    relative_noise: ByJoint = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("noise", "relative_noise"):
            for value in _values(getattr(self, name)):
                zero_or_above(value, f"actuators.{name}")
        for name, unit in (("limit", "N·m"), ("rate_limit", "N·m/s")):
            for value in _values(getattr(self, name)):
                if not ((is_finite(value) or value == float("inf")) and value > 0.0):
                    raise InputError(f"actuators.{name} = {value!r}: it must be above zero [{unit}]")
        zero_or_above(self.time_constant, "actuators.time_constant")
        if self.strength not in (NOBODY, *PEOPLE):
            raise unknown("actuators.strength", self.strength, (NOBODY, *PEOPLE))
        whole(self.seed, "actuators.seed")

    @property
    def is_noisy(self) -> bool:
        """Whether there is any noise."""
        return any(value > 0.0 for noise in (self.noise, self.relative_noise) for value in _values(noise))

    @property
    def acts(self) -> bool:
        """Whether they give anything else than what is asked for."""
        bounds = (*_values(self.limit), *_values(self.rate_limit))
        late = self.time_constant > 0.0
        return late or self.is_noisy or self.strength != NOBODY or any(value < math.inf for value in bounds)

    def compile(self, model: Model, span: float) -> kernels.Actuators:
        """The kernels' actuators; no limit is above the model's own ``max_effort``."""
        own = {body.joint.name: body.joint.max_effort for body in model.bodies if body.joint.has_axis}
        return kernels.Actuators(
            limit=np.minimum(_spread(model, self.limit, np.inf), _spread(model, own, np.inf)),
            noise=_spread(model, self.noise, 0.0),
            share=_spread(model, self.relative_noise, 0.0),
            seed=np.array([int(self.seed)]),
            span=np.array([span]),
            strength=self._strength(model),
            rise=span * _spread(model, self.rate_limit, np.inf),
            bounds=np.zeros(model.nv, dtype=np.int64),
            kept=np.array([math.exp(-span / self.time_constant) if self.time_constant > 0.0 else 0.0]),
        )

    def _strength(self, model: Model) -> NDArray[np.float64]:
        if self.strength == NOBODY:
            return np.zeros((0, 2, len(Strength._fields)))
        array = np.tile(np.array(Strength(np.inf)), (model.nv, 2, 1))
        for joint, pair in human_strength(model, self.strength).items():
            array[model.dof(joint)] = pair
        return array


def _values(given: ByJoint) -> list[float]:
    return list(given.values()) if isinstance(given, Mapping) else [given]


def _spread(model: Model, given: ByJoint, default: float) -> NDArray[np.float64]:
    """(nv,) the joints' numbers at their degrees of freedom."""
    array = np.full(model.nv, default)
    table = given if isinstance(given, Mapping) else dict.fromkeys(model.joint_names, given)
    for joint, value in table.items():
        if joint not in model.joint_names:
            raise unknown("joint", joint, model.joint_names)
        array[model.dof(joint)] = value
    return array
