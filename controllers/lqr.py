"""Linear quadratic regulator (LQR) for standing."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, Self

import numpy as np

from biped.control.controller import Controller, SetPoint
from biped.errors import InputError
from biped.inputs.checks import above_zero, numbers, positive_definite, zero_or_above
from biped.model import Model
from biped.model.geometry import Vector3
from biped.runs.postures import STANDING_TRUNK
from contact import RUBBER, Floor
from contact.arrays import Floats
from controllers.feet import TORQUE_LIMIT, a_posture, frame_of, place_of, torque_limits
from controllers.joint_values import JointValues, by_joint, checked
from controllers.kernels.lqr import LqrLaw
from controllers.lqr_design import Cost, Design, Plan, design_of, warm_up
from controllers.parameter import parameter

REFERENCES = ("world", "feet")
#: Greatest number of control periods in a table of gains.
MOST_PERIODS = 10_000


@dataclass(frozen=True)
class LQR(Controller):
    """Linear quadratic regulator for standing: torques u_0 − K x minimize ∫ (xᵀ Q x + uᵀ R u) dt with u = −K x.

    In the stance the torques u_0 hold the model at rest, with its trunk at ``target_position``, feet flat, and all
    contact points sticking; x are small deviations from it: displacements and momenta in tangent coordinates, computed
    from errors and rates of root and joints. A and B in x' = A x + B u are the exact linearization of one control
    period there, with constant torques and with contact springs. K solves the discrete Riccati equation (``design``).

    The anchors of the floor's springs are not measured. A and B assume fixed anchors; anchors move if feet slide. With
    ``reference`` ``world`` the controller is the exact regulator: if feet have slid, it pulls them back as far as
    possible without sliding. With ``feet``, errors are relative to the feet, as if the anchors had moved with them:
    this neglects the feet's deflection on the floor's springs, about 1 mm.

    Friction cones and the soles' edges are not modelled, so that the controller balances only small deviations.

    Attributes:
        target_position: [m] position of the trunk's centre of mass; robots stand in their own posture instead.
        weight_joints: weight of joint displacements, for all joints or by joint; zero for joints missing in a table.
        weight_torque: weight of torques, for all joints, by joint, or as a symmetric positive definite matrix over
            ``model.joint_names``.
        horizon: [s] duration of a finite horizon, from the start of the run; then, or with inf, gains are constant.
        weight_end: [s] duration by which Q is multiplied to weight the final state of a finite horizon.
        torque_limit: [N·m] for all joints or by joint, in addition to the model's effort limits.
        posture: (nq,) reference posture, set by ``holding``; default: trunk at ``target_position``,
            feet flat; robots: their own posture.
        floor: floor of the design model; default: ``contact.RUBBER``.

    Raises:
        InputError: a number is out of range, or a matrix of weights is not symmetric positive definite.
        ModelError: a table names a joint that the model does not have; raised when the model is known.
    """

    analytic: ClassVar[bool] = True

    target_position: Vector3 = parameter(STANDING_TRUNK, "m", "Reference position of the trunk CoM, world coordinates")
    weight_com: Vector3 = parameter(
        (25.0, 5.0, 35.0), "1/m²", "Cost weight of the CoM displacement along x, y, z", 0.01, 1e4, repeats=True
    )
    weight_com_velocity: Vector3 = parameter(
        (2.5, 0.7, 1.0), "s²/m²", "Cost weight of the CoM velocity along x, y, z", 0.01, 1e4, repeats=True
    )
    weight_trunk: Vector3 = parameter(
        (2.5, 2.5, 2.5), "1/rad²", "Cost weight of the trunk rotation about x, y, z", 0.01, 1e4, repeats=True
    )
    weight_trunk_rate: Vector3 = parameter(
        (0.1, 0.1, 0.1), "s²/rad²", "Cost weight of the trunk angular velocity about x, y, z", 0.001, 1e3, repeats=True
    )
    weight_joints: JointValues = parameter(100.0, "1/rad²", "Cost weight of each joint displacement", 1e-4, 1e3)
    weight_joint_rates: JointValues = parameter(0.01, "s²/rad²", "Cost weight of each joint rate", 1e-6, 1e2)
    weight_torque: JointValues | Floats = parameter(1e-5, "1/(N·m)²", "Cost weight of each joint torque", 1e-7, 1e-2)
    horizon: float = parameter(math.inf, "s", "End of the finite horizon; afterwards, or if inf: steady-state gains")
    weight_end: float = parameter(1.0, "s", "Finite horizon: time for which the final state counts in the cost")
    reference: Literal["world", "feet"] = parameter("feet", "", f"Frame of state errors: {' or '.join(REFERENCES)}")
    torque_limit: JointValues = field(default=math.inf, metadata=TORQUE_LIMIT)
    period: float = parameter(2e-3, "s", "Control period")
    step: float = parameter(5e-4, "s", "Integrator time step of the linearized model")
    floor: Floor | None = None
    posture: tuple[float, ...] | None = a_posture()

    def __post_init__(self) -> None:
        object.__setattr__(self, "target_position", numbers(self.target_position, 3, "lqr.target_position"))
        for name in ("weight_com", "weight_com_velocity", "weight_trunk", "weight_trunk_rate"):
            weights = numbers(getattr(self, name), 3, f"lqr.{name}")
            if min(weights) < 0.0:
                raise InputError(f"lqr.{name} = {weights!r}: weights must be zero or above")
            object.__setattr__(self, name, weights)
        for name in ("weight_joints", "weight_joint_rates"):
            checked(getattr(self, name), f"lqr.{name}", least=0.0)
        self._check_weight_torque()
        checked(self.torque_limit, "lqr.torque_limit", least=0.0, infinite=True)
        for name in ("period", "step"):
            above_zero(getattr(self, name), f"lqr.{name}")
        if not self.horizon > 0.0:
            raise InputError(f"lqr.horizon = {self.horizon!r}: it must be above zero, or inf")
        if math.isfinite(self.horizon) and self.horizon > MOST_PERIODS * self.period:
            raise InputError(f"lqr.horizon = {self.horizon:g} s: it must be inf, or at most {MOST_PERIODS} periods")
        zero_or_above(self.weight_end, "lqr.weight_end")
        reference: str = self.reference
        if reference not in REFERENCES:
            raise InputError(f"lqr.reference = {self.reference!r}: it must be one of {', '.join(REFERENCES)}")
        if not isinstance(self.floor, Floor | None):
            raise InputError(f"lqr.floor = {self.floor!r}: it must be a contact.Floor")

    def _check_weight_torque(self) -> None:
        weight = self.weight_torque
        if isinstance(weight, np.ndarray):
            if weight.ndim != 2 or weight.shape[0] != weight.shape[1]:
                raise InputError(f"lqr.weight_torque has shape {weight.shape}; a matrix must be square")
            positive_definite(weight, "lqr.weight_torque")
            return
        checked(weight, "lqr.weight_torque")
        for value in weight.values() if isinstance(weight, Mapping) else (weight,):
            if not value > 0.0:
                raise InputError(f"lqr.weight_torque = {weight!r}: all weights must be above zero")

    def design(self, model: Model) -> Design:
        """Return the design for a model: stance, A, B, Q, R, gains and costs.

        Raises:
            InputError: the model has no floating root or no feet with contact points, or does not stand; or no
                feedback of least cost stabilizes it.
        """
        self._check_model(model)
        cost = Cost(
            com=self.weight_com,
            com_velocity=self.weight_com_velocity,
            trunk=self.weight_trunk,
            trunk_rate=self.weight_trunk_rate,
            joints=tuple(by_joint(self.weight_joints, model).values()),
            joint_rates=tuple(by_joint(self.weight_joint_rates, model).values()),
            torque=tuple(map(tuple, self._torque_cost(model).tolist())),
            horizon=float(self.horizon),
            end=float(self.weight_end),
        )
        return design_of(model, self._plan, cost)

    @property
    def _plan(self) -> Plan:
        return Plan(self.floor or RUBBER, self.target_position, float(self.step), float(self.period), self.posture)

    def _check_model(self, model: Model) -> None:
        if not model.is_floating or not model.feet or not model.nc:
            raise InputError(f"lqr needs a floating root and feet with contact points; {model.name!r} lacks them")
        if any(body.joint.kind == "spherical" for body in model.bodies):
            raise InputError(f"lqr needs joints of one degree of freedom; {model.name!r} has ball joints")

    def warm_up(self, model: Model, announce: Callable[[str], None]) -> None:
        """Compile the kernels that the design needs; raises as ``design``."""
        self._check_model(model)
        warm_up(model, self._plan, announce)

    def _torque_cost(self, model: Model) -> Floats:
        count, weight = len(model.joint_names), self.weight_torque
        if isinstance(weight, np.ndarray):
            if weight.shape != (count, count):
                raise InputError(f"lqr.weight_torque has shape {weight.shape}; it must be ({count}, {count})")
            return weight
        values = by_joint(weight, model)
        missing = [joint for joint, value in values.items() if value == 0.0]
        if missing:
            raise InputError(f"lqr.weight_torque: no weight for {', '.join(missing)}; each must be above zero")
        return np.diag(list(values.values()))

    def set_point(self, model: Model) -> SetPoint:
        """Return the root's pose in the reference posture."""
        x, y, z, w, i, j, k = (float(number) for number in self.design(model).stance.state.q[:7])
        return SetPoint((x, y, z), (w, i, j, k), on_floor=self.reference == "feet")

    def initial_configuration(self, model: Model, floor: Floor) -> Floats:
        """Return the configuration (nq,) of the regulated posture."""
        return self.design(model).stance.state.q.copy()

    def holding(self, model: Model, q: Floats) -> Self:
        """Return this controller with reference posture ``q`` (nq,)."""
        return replace(self, target_position=place_of(q), posture=tuple(q.tolist()))

    def law(self, model: Model) -> LqrLaw:
        """Return the compiled law, for the kernels; raises as ``design``."""
        design = self.design(model)
        state, nv = design.stance.state, model.nv
        dofs = [model.dof(joint) for joint in model.joint_names]
        # K_p δp = K_p M v
        gain = design.gains.copy()
        gain[:, :, nv:] = gain[:, :, nv:] @ design.stance.mass
        limits = torque_limits(self.torque_limit, model)
        return LqrLaw(
            gain=gain,
            torque=state.arrays.torque[dofs].copy(),
            limit=np.array([limits[joint] for joint in model.joint_names]),
            coordinate=np.array([model.coordinate(joint) for joint in model.joint_names], dtype=np.int64),
            dof=np.array(dofs, dtype=np.int64),
            posture=state.q.copy(),
            frame=frame_of(model, state.q, self.reference),
            period=float(self.period),
            error=np.full(2 * nv, np.nan),
        )
