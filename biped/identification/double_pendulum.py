"""Double inverted pendulum of stance, legs and trunk, with delayed feedback of both joints, in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from biped.errors import InputError
from biped.identification.channels import GRAVITY, measured
from biped.inputs.checks import above_zero, zero_or_above
from biped.metrics.fourier import Complexes
from contact.arrays import Floats

Stimulus = Literal["tilt", "translation", "push_leg", "push_trunk"]
#: Names of the responses of ``DoublePendulum.response``.
ANGLES = ("ankle", "hip", "sway")


@dataclass(frozen=True)
class DoublePendulum:
    """Double pendulum of stance: legs at the angle θ₁ and trunk at θ₂, both in space, forward positive.

    For small angles, with the mass matrix M, the derivatives G of gravity's torques and the external load d,

        M θ̈ = G θ + Sᵀ τ + d,    q = S θ − (ψ, 0),    S = [[1, 0], [−1, 1]],

    with the angles q and torques τ of ankle and hip, forward positive, on a floor that tilts by ψ. The torques are

        τ = −E (K + D s) (S θ − (W ψ, 0)) − (P + R s) q,    E = e^{−s delay},

    with active stiffness K and damping D, passive stiffness P and damping R (both diagonal), Laplace variable s. The
    legs' angle is sensed relative to the floor with weight W and in space with 1 − W. If the floor translates by x, the
    load is −ẍ times the first mass moments (``moments``). A horizontal force F on the legs, at the height z above the
    ankles, is the load F (z, 0); on the trunk, at z above the hips, it is F (leg length, z).

    Raises:
        InputError: a number is not finite or out of range.
    """

    leg_mass: float = measured("kg")  # m₁, both legs without feet
    leg_length: float = measured("m")  # l, from ankles to hips
    leg_com: float = measured("m")  # c₁, from ankles to the legs' centre of mass
    leg_inertia: float = measured("kg*m**2")  # inertia of the legs about their centre of mass
    trunk_mass: float = measured("kg")  # m₂, body above the hips
    trunk_com: float = measured("m")  # c₂, from hips to the trunk's centre of mass
    trunk_inertia: float = measured("kg*m**2")  # inertia of the trunk about its centre of mass
    ankle_stiffness: float = measured("N*m/rad")  # K₁₁, ankle torque per angle of the legs
    ankle_damping: float = measured("N*m*s/rad")  # D₁₁
    hip_stiffness: float = measured("N*m/rad")  # K₂₂
    hip_damping: float = measured("N*m*s/rad")  # D₂₂
    ankle_by_hip: float = measured("N*m/rad", 0.0)  # K₁₂, ankle torque per hip angle
    ankle_by_hip_rate: float = measured("N*m*s/rad", 0.0)  # D₁₂
    hip_by_ankle: float = measured("N*m/rad", 0.0)  # K₂₁, hip torque per angle of the legs
    hip_by_ankle_rate: float = measured("N*m*s/rad", 0.0)  # D₂₁
    weight: float = 0.5  # W, 0 to 1
    delay: float = measured("s", 0.1)
    passive_ankle_stiffness: float = measured("N*m/rad", 0.0)  # P₁₁; the passive parts are diagonal
    passive_ankle_damping: float = measured("N*m*s/rad", 0.0)  # R₁₁
    passive_hip_stiffness: float = measured("N*m/rad", 0.0)  # P₂₂
    passive_hip_damping: float = measured("N*m*s/rad", 0.0)  # R₂₂

    def __post_init__(self) -> None:
        for name in ("leg_mass", "leg_length", "leg_com", "trunk_mass", "trunk_com"):
            above_zero(getattr(self, name), name)
        for name in ("leg_inertia", "trunk_inertia", "delay"):
            zero_or_above(getattr(self, name), name)
        for name in ("ankle", "hip"):
            zero_or_above(getattr(self, f"passive_{name}_stiffness"), f"passive_{name}_stiffness")
            zero_or_above(getattr(self, f"passive_{name}_damping"), f"passive_{name}_damping")
        if not 0.0 <= self.weight <= 1.0:
            raise InputError(f"weight = {self.weight!r}: it must be from 0 (graviception) to 1 (proprioception)")

    @property
    def mass_matrix(self) -> Floats:
        """Mass matrix M [kg·m²], (2, 2)."""
        coupling = self.trunk_mass * self.leg_length * self.trunk_com
        legs = self.leg_inertia + self.leg_mass * self.leg_com**2 + self.trunk_mass * self.leg_length**2
        return np.array([[legs, coupling], [coupling, self.trunk_inertia + self.trunk_mass * self.trunk_com**2]])

    @property
    def moments(self) -> Floats:
        """First mass moments (m₁ c₁ + m₂ l, m₂ c₂) [kg·m], (2,): mass times derivatives of its centre by the angles."""
        legs = self.leg_mass * self.leg_com + self.trunk_mass * self.leg_length
        return np.array([legs, self.trunk_mass * self.trunk_com])

    def response(
        self, frequencies: ArrayLike, stimulus: Stimulus = "tilt", height: float = 0.0
    ) -> dict[str, Complexes]:
        """Return the responses (k,) of ankle, hip and sway angles at frequencies [Hz], by the names in ``ANGLES``.

        The sway is the angle of the line from the ankles to the centre of mass. Responses are to a tilt [1], a
        translation [rad/m], or a force on legs or trunk [rad/N] at ``height`` [m] above the ankles or the hips.

        Raises:
            InputError: the stimulus is unknown.
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
        body = moments.sum()  # m h, since θ₁ = θ₂ for a rigid body
        responses = angles[:, 0] - tilt, angles[:, 1] - angles[:, 0], angles @ moments / body
        return dict(zip(ANGLES, responses, strict=True))
