"""Imperfect actuators between the controller and the simulated system."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biped.disturbances.disturbance import Disturbance, ParameterGroup, Place, Record
from biped.errors import InputError
from biped.inputs.checks import integer, is_finite, zero_or_above
from biped.inputs.fields import quantity
from biped.kernels.loop import measurement as kernels
from biped.model import Model
from biped.model.errors import unknown
from biped.model.geometry import Vector3
from biped.model.strength import NO_PRESET, PEOPLE, Strength, human_strength

#: One number for all joints, or numbers by joint.
ByJoint = float | Mapping[str, float]


@dataclass(frozen=True)
class Actuators(Disturbance, ParameterGroup):
    """Actuators that lag, saturate, and add noise to the desired torques at each control tick.

    The torques of a controller's ``Impedance`` count as muscle torques except in its ``passive`` joints: they lag, and
    in every time step the limit applies to the sum of impedance torque and commanded torque. If the integrator does not
    support torque limits, this sum is not limited, and the run warns when it exceeds the limit.

    Intrinsic stiffness and damping belong to muscles and tendons: they resist motions without delay, lag or limit. At
    each tick, the spring's rest angle is set so that the torque is zero in the motion that the controller knows. So
    they affect only what happens within a tick, or unknown to the controller. They do not apply to joints with a
    spring, in the model or by an ``Impedance`` of the controller.

    Raises:
        InputError: a limit or a rate limit is not above zero, noise or time constant is negative or not finite, or a
            joint has damping without stiffness; the last is raised by ``compile``.
        ModelError: ``strength`` is unknown or does not fit the model's legs, or a table names an unknown joint; raised
            by ``compile`` if it depends on the model.
    """

    limit: ByJoint = quantity("N·m", "Torque limit of the actuators, one for all joints or one per joint", float("inf"))
    strength: str = quantity(
        "", "Human strength: torque limits by joint angle and speed; none: off", NO_PRESET, choices=(NO_PRESET, *PEOPLE)
    )
    time_constant: float = quantity("s", "Torque time constant; muscles: 0.01 to 0.06 s (Zajac 1989)", 0.0)
    rate_limit: ByJoint = quantity("N·m/s", "Torque rate limit, one for all joints or one per joint", float("inf"))
    noise: ByJoint = quantity("N·m", "Torque noise (standard deviation at each tick), for all joints or by joint", 0.0)
    relative_noise: ByJoint = quantity("", "Standard deviation of torque noise / torque (Harris and Wolpert 1998)", 0.0)
    seed: int = quantity("", "Seed of the torque noise", 0)
    stiffness: ByJoint = quantity("N·m/rad", "Intrinsic stiffness of muscles and tendons, for all or by joint", 0.0)
    damping: ByJoint = quantity("N·m·s/rad", "Intrinsic damping of muscles and tendons, for all or by joint", 0.0)

    def __post_init__(self) -> None:
        for name in ("noise", "relative_noise", "stiffness", "damping"):
            for value in _values(getattr(self, name)):
                zero_or_above(value, f"actuators.{name}")
        for name, unit in (("limit", "N·m"), ("rate_limit", "N·m/s")):
            for value in _values(getattr(self, name)):
                if not ((is_finite(value) or value == float("inf")) and value > 0.0):
                    raise InputError(f"actuators.{name} = {value!r} {unit}: it must be above zero, or inf")
        zero_or_above(self.time_constant, "actuators.time_constant")
        if self.strength not in (NO_PRESET, *PEOPLE):
            raise unknown("actuators.strength", self.strength, (NO_PRESET, *PEOPLE))
        integer(self.seed, "actuators.seed")

    @property
    def is_noisy(self) -> bool:
        """True if the torques have noise."""
        return any(value > 0.0 for noise in (self.noise, self.relative_noise) for value in _values(noise))

    @property
    def has_tone(self) -> bool:
        """True if a joint has intrinsic stiffness."""
        return any(value > 0.0 for value in _values(self.stiffness))

    @property
    def acts(self) -> bool:
        """True if the actual torques can differ from the commanded torques."""
        bounds = (*_values(self.limit), *_values(self.rate_limit))
        late = self.time_constant > 0.0
        return (
            late
            or self.is_noisy
            or self.has_tone
            or self.strength != NO_PRESET
            or any(value < math.inf for value in bounds)
        )

    def disturbances(self, place: Place) -> "tuple[Actuators, ...]":
        """Return the actuators, or none if they are ideal."""
        return () if self == Actuators(seed=self.seed) else (self,)

    @classmethod
    def in_words(cls, record: Record, facing: Vector3) -> str:
        """Return a phrase with those of limit, strength, lag and noise that are set."""
        limit, people, lag = record["limit"], record["strength"], record["time_constant"]
        limited = f"torques limited to {limit:g} N·m" if isinstance(limit, (int, float)) else "limited torques"
        parts = (
            "" if limit == "inf" else limited,
            "" if people == NO_PRESET else f"the strength of {people.replace('-', ' ')}",
            f"torques with a lag of {1e3 * lag:g} ms" if lag else "",
            "noisy torques" if record["noise"] or record["relative_noise"] else "",
            "intrinsic joint stiffness" if record["stiffness"] or record["damping"] else "",
        )
        return " and ".join(filter(None, parts))

    def compile(self, model: Model, span: float) -> kernels.Actuators:
        """Return the actuators for the kernels at a control period ``span`` [s], with limits up to ``max_effort``."""
        efforts = {body.joint.name: body.joint.max_effort for body in model.bodies if body.joint.has_axis}
        tone = np.array([_spread(model, self.stiffness, 0.0), _spread(model, self.damping, 0.0)])
        if (tone[1] > 0.0)[tone[0] == 0.0].any():
            raise InputError("actuators.damping: it needs actuators.stiffness above zero at the same joints")
        return kernels.Actuators(
            limit=np.minimum(_spread(model, self.limit, np.inf), _spread(model, efforts, np.inf)),
            noise=_spread(model, self.noise, 0.0), share=_spread(model, self.relative_noise, 0.0),
            seed=np.array([int(self.seed)]), span=np.array([span]), strength=self._strength(model),
            rise=span * _spread(model, self.rate_limit, np.inf), bounds=np.zeros(model.nv, dtype=np.int64), tone=tone,
            kept=np.array([math.exp(-span / self.time_constant) if self.time_constant > 0.0 else 0.0]),
        )  # fmt: skip

    def _strength(self, model: Model) -> NDArray[np.float64]:
        if self.strength == NO_PRESET:
            return np.zeros((0, 2, len(Strength._fields)))
        array = np.tile(np.array(Strength(np.inf)), (model.nv, 2, 1))
        for joint, pair in human_strength(model, self.strength).items():
            array[model.dof(joint)] = pair
        return array


def _values(given: ByJoint) -> list[float]:
    return list(given.values()) if isinstance(given, Mapping) else [given]


def _spread(model: Model, given: ByJoint, default: float) -> NDArray[np.float64]:
    """Return an array (nv,) with the numbers of joints at their degrees of freedom."""
    array = np.full(model.nv, default)
    table = given if isinstance(given, Mapping) else dict.fromkeys(model.joint_names, given)
    for joint, value in table.items():
        if joint not in model.joint_names:
            raise unknown("joint", joint, model.joint_names)
        array[model.dof(joint)] = value
    return array
