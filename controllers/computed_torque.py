"""Computed torque in joint space (Wendlandt 1997, appendix A.9)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np

from biped.control.controller import Controller
from biped.control.observation import Observation, joint_places
from biped.errors import InputError
from biped.inputs.checks import above_zero, positive_definite
from biped.model import Model
from biped.model.errors import unknown
from biped.signals import Signal, compile_signals
from contact.arrays import Floats
from controllers.joint_values import JointValues, angles_of, by_joint, checked
from controllers.kernels.computed_torque import ComputedTorqueLaw
from controllers.parameter import parameter

STILL = Signal(np.zeros(1), np.zeros((1, 1)))


@dataclass(frozen=True)
class ComputedTorque(Controller):
    """Computed torque, τ = M (θ̈_d − K_v ė − K_p e) + C θ̇ + N with e = θ − θ_d, so that ë + K_v ė + K_p e = 0.

    θ are joint angles, M is the mass matrix, C θ̇ are Coriolis terms, and N gravity with ground reaction forces. The
    error equation is exact in the limit of short control periods. A floating root has no actuator; the equations of
    motion give its acceleration (partial feedback linearization, Spong 1994). Each control tick uses the ground
    reaction forces of the last time step. The controller keeps a posture, not balance: the joints stay near their
    targets while the whole body topples like a statue.

    Gains and targets are one number for all joints or a table by joint; joints missing in a table have gain and target
    zero. K_p and K_v may also be symmetric positive definite matrices over ``model.joint_names``.

    Attributes:
        kp: [1/s²] gain K_p.
        kd: [1/s] gain K_v.
        target: [rad or m] target θ_d.
        path: [rad or m] displacement of the target from ``target`` over time, by joint.

    Raises:
        InputError: a gain is negative, a matrix is not symmetric positive definite, or a number is not finite.
        ModelError: a table names a joint that the model does not have; raised when the model is known.
    """

    kp: JointValues | Floats = parameter(400.0, "1/s²", "Gain: joint acceleration per angle error", 0.0, 2000.0)
    kd: JointValues | Floats = parameter(40.0, "1/s", "Gain: joint acceleration per rate error", 0.0, 200.0)
    target: JointValues = field(default_factory=dict)
    path: Mapping[str, Signal] = field(default_factory=dict)
    analytic: ClassVar[bool] = True  # except for contact forces of the last step, which are not part of the state
    period: float = parameter(2e-3, "s", "Control period")

    def __post_init__(self) -> None:
        for name in ("kp", "kd"):
            gain = getattr(self, name)
            if not isinstance(gain, np.ndarray):
                checked(gain, f"computed_torque.{name}", least=0.0)
            else:
                positive_definite(gain, f"computed_torque.{name}")
        checked(self.target, "computed_torque.target")
        for joint, signal in self.path.items():
            if not isinstance(signal, Signal):
                raise InputError(f"computed_torque.path[{joint!r}] = {signal!r}: it must be a Signal")
        above_zero(self.period, "computed_torque.period")

    def torques(self, observation: Observation) -> Floats:
        """Return the torques (joints,) [N·m] for a state.

        Raises:
            InputError: the model has contact points, but the observation has no forces on them.
        """
        if observation.model.nc and not observation.torques.size:
            raise InputError(
                "computed torque needs ground reaction forces: use it in a run, or with model.without_contacts()"
            )
        return super().torques(observation)

    def holding(self, model: Model, q: Floats) -> Self:
        """Return this controller with the joint angles of ``q`` (nq,) as targets."""
        return replace(self, target=angles_of(model, q))

    def law(self, model: Model) -> ComputedTorqueLaw:
        """Return the compiled law, for the kernels."""
        joints, places = model.joint_names, joint_places(model)
        for joint in self.path:
            if joint not in joints:
                raise unknown("joint", joint, joints)
        count = len(joints)
        return ComputedTorqueLaw(
            coordinate=places.coordinates, dof=places.dofs, kp=_matrix(self.kp, model, "kp"),
            kd=_matrix(self.kd, model, "kd"), target=np.array(list(by_joint(self.target, model).values())),
            path=compile_signals([self.path.get(joint, STILL) for joint in joints]), error=np.full(count, np.nan),
            error_rate=np.full(count, np.nan), acceleration=np.full(model.nv, np.nan), gram=np.full((6, 6), np.nan),
            root=np.full(6, np.nan),
        )  # fmt: skip


def _matrix(gain: JointValues | Floats, model: Model, name: str) -> Floats:
    """Return a gain as a matrix (joints, joints)."""
    count = len(model.joint_names)
    if not isinstance(gain, np.ndarray):
        return np.diag(list(by_joint(gain, model).values()))
    if gain.shape != (count, count):
        raise InputError(
            f"computed_torque.{name} has shape {gain.shape}; it must be ({count}, {count}): {model.joint_names}"
        )
    return np.array(gain, dtype=np.float64)
