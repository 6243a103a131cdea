"""The double inverted pendulum of stance, legs and trunk, under two-by-two feedback with a delay, in closed form."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from biped.errors import InputError
from biped.identification.channels import GRAVITY
from biped.inputs.checks import above_zero, zero_or_above
from biped.metrics.fourier import Complexes
from contact.arrays import Floats

Stimulus = Literal["tilt", "translation", "push_leg", "push_trunk"]
#: What ``DoublePendulum.response`` has, in its order.
ANGLES = ("ankle", "hip", "sway")


@dataclass(frozen=True)
class DoublePendulum:
    """Legs that turn about the ankles by θ₁ and a trunk that turns about the hips by θ₂, both in space, forwards.

    With the mass matrix M and the slopes of gravity's torques G of small angles

        M θ̈ = G θ + Sᵀ τ + d,    q = S θ − (ψ, 0),    S = [[1, 0], [−1, 1]],

    q the angles of ankle and hip, which lean forwards, on a floor that tilts by ψ, and torques that are

        τ = −E (K + D s) (S θ − (W ψ, 0)) − (P + R s) q,    E = e^{−sτ}:

    the legs are felt against the floor with the weight W and in space with 1 − W, the hip by its angle. What comes from
    outside is d: −(m₁ c₁ + m₂ l, m₂ c₂) ẍ of a floor that shifts, (z, 0) of a horizontal force on the legs at the
    height z above the ankles, (l, z) of one on the trunk at z above the hips.

    Attributes:
        leg_mass: m₁ of both legs without feet [kg].
        leg_length: l from ankles to hips [m].
        leg_com: c₁ from ankles to the legs' centre of mass [m].
        leg_inertia: of the legs about their centre of mass [kg·m²].
        trunk_mass: m₂ of all above the hips [kg].
        trunk_com: c₂ from hips to its centre of mass [m].
        trunk_inertia: about its centre of mass [kg·m²].
        ankle_stiffness: K₁₁, torque of the ankles by the legs' angle [N·m/rad].
        ankle_damping: D₁₁ [N·m·s/rad].
        hip_stiffness: K₂₂ [N·m/rad].
        hip_damping: D₂₂ [N·m·s/rad].
        ankle_by_hip: K₁₂, torque of the ankles by the hip's angle [N·m/rad].
        ankle_by_hip_rate: D₁₂ [N·m·s/rad].
        hip_by_ankle: K₂₁, torque of the hips by the legs' angle [N·m/rad].
        hip_by_ankle_rate: D₂₁ [N·m·s/rad].
        weight: W, 0 to 1.
        delay: τ [s].
        passive_ankle_stiffness: P₁₁ [N·m/rad]; the passive parts are diagonal.
        passive_ankle_damping: R₁₁ [N·m·s/rad].
        passive_hip_stiffness: P₂₂ [N·m/rad].
        passive_hip_damping: R₂₂ [N·m·s/rad].

    Raises:
        InputError: a number is not finite, or below what it can be.
    """

    leg_mass: float = field(metadata={"unit": "kg"})
    leg_length: float = field(metadata={"unit": "m"})
    leg_com: float = field(metadata={"unit": "m"})
    leg_inertia: float = field(metadata={"unit": "kg*m**2"})
    trunk_mass: float = field(metadata={"unit": "kg"})
    trunk_com: float = field(metadata={"unit": "m"})
    trunk_inertia: float = field(metadata={"unit": "kg*m**2"})
    ankle_stiffness: float = field(metadata={"unit": "N*m/rad"})
    ankle_damping: float = field(metadata={"unit": "N*m*s/rad"})
    hip_stiffness: float = field(metadata={"unit": "N*m/rad"})
    hip_damping: float = field(metadata={"unit": "N*m*s/rad"})
    ankle_by_hip: float = field(default=0.0, metadata={"unit": "N*m/rad"})
    ankle_by_hip_rate: float = field(default=0.0, metadata={"unit": "N*m*s/rad"})
    hip_by_ankle: float = field(default=0.0, metadata={"unit": "N*m/rad"})
    hip_by_ankle_rate: float = field(default=0.0, metadata={"unit": "N*m*s/rad"})
    weight: float = 0.5
    delay: float = field(default=0.1, metadata={"unit": "s"})
    passive_ankle_stiffness: float = field(default=0.0, metadata={"unit": "N*m/rad"})
    passive_ankle_damping: float = field(default=0.0, metadata={"unit": "N*m*s/rad"})
    passive_hip_stiffness: float = field(default=0.0, metadata={"unit": "N*m/rad"})
    passive_hip_damping: float = field(default=0.0, metadata={"unit": "N*m*s/rad"})

    def __post_init__(self) -> None:
        for name in ("leg_mass", "leg_length", "leg_com", "trunk_mass", "trunk_com"):
            above_zero(getattr(self, name), name)
        for name in ("leg_inertia", "trunk_inertia", "delay"):
            zero_or_above(getattr(self, name), name)
        for name in ("ankle", "hip"):
            zero_or_above(getattr(self, f"passive_{name}_stiffness"), f"passive_{name}_stiffness")
            zero_or_above(getattr(self, f"passive_{name}_damping"), f"passive_{name}_damping")
        if not 0.0 <= self.weight <= 1.0:
            raise InputError(f"weight = {self.weight!r}: it must be from 0 (space) to 1 (the feet)")

    @property
    def mass_matrix(self) -> Floats:
        """(2, 2) M [kg·m²]."""
        coupling = self.trunk_mass * self.leg_length * self.trunk_com
        legs = self.leg_inertia + self.leg_mass * self.leg_com**2 + self.trunk_mass * self.leg_length**2
        return np.array([[legs, coupling], [coupling, self.trunk_inertia + self.trunk_mass * self.trunk_com**2]])

    @property
    def moments(self) -> Floats:
        """(2,) [kg·m] by which angles move the centre of mass, times the mass."""
        legs = self.leg_mass * self.leg_com + self.trunk_mass * self.leg_length
        return np.array([legs, self.trunk_mass * self.trunk_com])

    def response(
        self, frequencies: ArrayLike, stimulus: Stimulus = "tilt", height: float = 0.0
    ) -> dict[str, Complexes]:
        """(k,) angles at frequencies [Hz], by ``ANGLES``: of ankle and hip, and the sway of the centre of mass.

        The sway is the slope of the line from the ankles to the centre of mass. All are over a tilt [1], a shift
        [rad/m], or a force on legs or trunk [rad/N] at ``height`` [m].

        Raises:
            InputError: for another stimulus.
        """
        s = 2j * np.pi * np.asarray(frequencies, dtype=float).reshape(-1, 1, 1)
        joints = np.array([[1.0, 0.0], [-1.0, 1.0]])
        first = np.array([[1.0], [0.0]])
        stiffness = np.array([[self.ankle_stiffness, self.ankle_by_hip], [self.hip_by_ankle, self.hip_stiffness]])
        damping = np.array([[self.ankle_damping, self.ankle_by_hip_rate], [self.hip_by_ankle_rate, self.hip_damping]])
        passive = np.diag([self.passive_ankle_stiffness, self.passive_hip_stiffness]) + s * np.diag(
            [self.passive_ankle_damping, self.passive_hip_damping]
        )
        late = np.exp(-s * self.delay) * (stiffness + s * damping)
        moments = self.moments
        loop = s**2 * self.mass_matrix - GRAVITY * np.diag(moments) + joints.T @ (late + passive) @ joints
        outside = {
            "tilt": joints.T @ (self.weight * late + passive) @ first,
            "translation": -(s**2) * moments[:, None],
            "push_leg": np.array([[height], [0.0]]) + 0.0 * s,
            "push_trunk": np.array([[self.leg_length], [height]]) + 0.0 * s,
        }
        if stimulus not in outside:
            raise InputError(f"stimulus = {stimulus!r}: it must be one of {', '.join(outside)}")
        angles = np.linalg.solve(loop, outside[stimulus])[:, :, 0]  # (k, 2) θ
        tilt = 1.0 if stimulus == "tilt" else 0.0
        body = moments.sum()  # m h: both angles are of the whole way up, θ₁ = θ₂ is one rigid body
        found = angles[:, 0] - tilt, angles[:, 1] - angles[:, 0], angles @ moments / body
        return dict(zip(ANGLES, found, strict=True))
