"""Reference motions: the continuous equations, by a method of high order at its tightest tolerance.

They owe nothing to the integrators that are measured: accelerations come from the recursive forward dynamics
(Wendlandt 1997, Algorithm 3.3) or from Lagrange multipliers, and Dormand and Prince's method of order 8 (1989, as in
SciPy) integrates them. How far two tolerances are apart says how good the reference is.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from biped.control.controller import Impedance
from biped.dynamics import energy
from biped.errors import IntegrationError
from biped.kernels.tree.dynamics import forward_dynamics, new_tree_data, set_tree_data
from biped.kernels.variational.equations import reference_point
from biped.model import Model
from contact import Floor
from contact.arrays import Floats
from contact.point_law import pressure

Rate = Callable[[float, Floats], Floats]

#: Relative tolerances of the reference, and of the motion that it is compared with.
TIGHT, LOOSE = 1e-13, 1e-11


@dataclass(frozen=True)
class Reference:
    """A motion, at the times at which errors are measured."""

    states: Floats  # (samples, numbers) of the differential equation
    places: Floats  # (samples, points, 3) [m]
    energy: Floats  # (samples,) [J]
    error: float  # [m] root mean square distance to the same motion at a hundred times the tolerance


def rms(one: Floats, other: Floats) -> float:
    """[m] root mean square distance of points (…, 3), over all of them and all times."""
    return float(np.sqrt(np.mean(np.sum((one - other) ** 2, axis=-1))))


def solve(rate: Rate, start: Floats, times: Floats, tolerance: float) -> Floats:
    """(samples, numbers) the solution of an ordinary differential equation at these times [s]."""
    from scipy.integrate import solve_ivp

    scale = max(float(np.abs(start).max()), 1.0)
    span = (0.0, float(times[-1]))
    solution = solve_ivp(rate, span, start, "DOP853", times, rtol=tolerance, atol=0.1 * tolerance * scale)
    if not solution.success:
        raise IntegrationError(f"no reference motion: {solution.message}")
    states: Floats = solution.y.T
    return states


def reference(
    rate: Rate,
    start: Floats,
    times: Floats,
    places: Callable[[Floats], Floats],
    energies: Callable[[Floats], float],
) -> Reference:
    """The reference motion of an ordinary differential equation, with (points, 3) [m] and [J] from a state."""
    tight, loose = (solve(rate, start, times, tolerance) for tolerance in (TIGHT, LOOSE))
    there, nearby = (np.array([places(state) for state in states]) for states in (tight, loose))
    return Reference(tight, there, np.array([energies(state) for state in tight]), rms(there, nearby))


@dataclass(frozen=True)
class Holds:
    """Forces on a tree besides gravity: of a floor under points that all stick, of springs and dampers in joints."""

    floor: Floor | None = None  # the floor, or None in the air
    anchors: Floats | None = None  # (nc, 2) [m] where the points are held
    impedance: Impedance | None = None  # of the joints


class TreeEquations:
    """The equations of motion of a tree: the rate of change of the state (q, v), in arrays that are used again."""

    def __init__(self, model: Model, holds: Holds) -> None:
        self.model, self.holds = model, holds
        self.motion = new_tree_data(model.n, model.nv, model.nc)
        self.wrenches = np.zeros((model.n, 6))
        self.acceleration = np.zeros(model.nv)
        parents = [-1 if body.parent is None else model.body_index(body.parent) for body in model.bodies]
        self.joints = tuple(
            (model.coordinates(body.joint.name), model.dofs(body.joint.name), body.joint.has_axis, parent)
            for body, parent in zip(model.bodies, parents, strict=True)
        )
        self.stiffness, self.damping, self.rest = (np.zeros(model.nv) for _ in range(3))
        self.angles = np.zeros(model.nv, dtype=np.int64)
        self._set_impedance(holds.impedance or Impedance())

    def _set_impedance(self, impedance: Impedance) -> None:
        for values, array in (
            (impedance.stiffness, self.stiffness),
            (impedance.damping, self.damping),
            (impedance.rest, self.rest),
        ):
            for joint, value in values.items():
                array[self.model.dof(joint)] = value
                self.angles[self.model.dof(joint)] = self.model.coordinate(joint)

    def __call__(self, _: float, state: Floats) -> Floats:
        """(nq + nv,)."""
        model = self.model
        q, v = state[: model.nq], state[model.nq :]
        torque = -self.stiffness * (q[self.angles] - self.rest) - self.damping * v
        if self.holds.floor is not None:
            force, arm = self.contact_forces(state)
            self.wrenches[:] = 0.0
            np.add.at(self.wrenches, model.tree.contact_body, np.hstack([force, np.cross(arm, force)]))
        forward_dynamics(model.tree, q, v, torque, self.wrenches, self.motion, self.acceleration)
        return np.concatenate([self.coordinate_rates(q, v), self.acceleration])

    def contact_forces(self, state: Floats) -> tuple[Floats, Floats]:
        """(nc, 3) [N] on the points, which all stick, and (nc, 3) [m] their arms from the bodies' centres of mass."""
        model, floor, anchors = self.model, self.holds.floor, self.holds.anchors
        assert floor is not None
        assert anchors is not None
        set_tree_data(model.tree, state[: model.nq], state[model.nq :], self.motion)
        bodies, arm_of_point = model.tree.contact_body, self.motion.poses.contact
        place = np.asarray(reference_point(model.tree, state[: model.nq])) + arm_of_point
        twist = self.motion.velocity[bodies]
        velocity = twist[:, :3] + np.cross(twist[:, 3:], arm_of_point)
        force = np.empty_like(place)
        force[:, :2] = -floor.k_t * (place[:, :2] - anchors) - floor.b_t * velocity[:, :2]
        force[:, 2] = [pressure(floor.normal, *at) for at in zip(place[:, 2], velocity[:, 2], strict=True)]
        return force, arm_of_point - self.motion.poses.com[bodies]

    def coordinate_rates(self, q: Floats, v: Floats) -> Floats:
        """(nq,) dq/dt: quaternions turn by half their angular velocity, a relative one in its parent's axes."""
        rates = np.zeros(self.model.nq)
        for place, dofs, has_axis, parent in self.joints:
            if has_axis:
                rates[place] = v[dofs]
                continue
            start = place.stop - 4
            rates[place.start : start] = v[dofs.start : dofs.stop - 3]
            omega = v[dofs.stop - 3 : dofs.stop]
            if parent >= 0:
                omega = self.motion.poses.rotation[parent].reshape(3, 3).T @ omega
            w, u = q[start], q[start + 1 : start + 4]
            rates[start] = -0.5 * omega @ u
            rates[start + 1 : start + 4] = 0.5 * (w * omega + _cross(omega, u))
        return rates

    def greatest_use_of_friction(self, states: Floats) -> float:
        """The greatest part of its friction cone that a point needs; infinite if the floor would have to pull."""
        most, floor = 0.0, self.holds.floor
        if floor is None:
            return most
        for state in states:
            force, _ = self.contact_forces(state)
            if np.any(force[:, 2] <= 0.0):
                return np.inf
            most = max(most, float(np.max(np.hypot(force[:, 0], force[:, 1]) / (floor.mu_s * force[:, 2]))))
        return most


def _cross(a: Floats, b: Floats) -> Floats:  # NumPy's own takes longer than all the rest for a single vector
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def tree_energy(model: Model, state: Floats) -> float:
    """[J] kinetic and potential."""
    return energy(model, state[: model.nq], state[model.nq :]).total
