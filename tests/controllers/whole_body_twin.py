"""Readable twin of the whole-body controller: terms by Pinocchio, program as matrices, solved by a library.

It shares with the kernels only the model, the reference posture and the controller's settings.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pinocchio as pin
import qpsolvers
from scipy.linalg import block_diag
from scipy.spatial.transform import Rotation

from biped import Observation, forward_kinematics, standing
from biped.model import Model, configuration_to_pinocchio, to_pinocchio, velocity_map, velocity_to_pinocchio
from contact import ContactState
from contact.arrays import Floats
from controllers.whole_body import WholeBodyController

SIDES = 8


def rotation(quaternion) -> Rotation:
    return Rotation.from_quat(np.roll(quaternion, -1))


def hat(a: Floats) -> Floats:
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def turn(orientation: Floats, target: Floats) -> Floats:
    """Return 2 ε of the quaternion (η, ε), η ≥ 0, from target to orientation, in world axes."""
    x, y, z, w = (Rotation.from_matrix(orientation) * Rotation.from_matrix(target).inv()).as_quat()
    return 2.0 * math.copysign(1.0, w) * np.array([x, y, z])


class Terms:
    """Pinocchio's terms of one state, for our velocities: v_pinocchio = T v."""

    def __init__(self, model: Model, twin: pin.Model, q: Floats, v: Floats) -> None:
        self.model, self.twin, self.data = model, twin, twin.createData()
        self.T = velocity_map(model, q)
        self.q, self.v = configuration_to_pinocchio(model, q), velocity_to_pinocchio(model, q, v)
        # Ṫ v: of a floating root, v_pinocchio = Rᵀ v and Ṙᵀ v = −Rᵀ (ω × v).
        self.drift = np.zeros(model.nv)
        self.drift[:3] = -rotation(q[3:7]).inv().apply(np.cross(v[3:6], v[:3]))
        pin.forwardKinematics(twin, self.data, self.q, self.v)
        for body, dof in zip(model.bodies[1:], model.tree.first_v[1:], strict=True):
            if not body.joint.has_axis:
                self._drift_of_ball(twin.getJointId(body.joint.name), v[dof : dof + 3])
        pin.forwardKinematics(twin, self.data, self.q, self.v, self.drift)
        pin.updateFramePlacements(twin, self.data)
        pin.computeJointJacobians(twin, self.data, self.q)
        lower = pin.crba(twin, self.data, self.q)
        self.M = self.T.T @ (np.triu(lower) + np.triu(lower, 1).T) @ self.T
        self.h = self.T.T @ pin.rnea(twin, twin.createData(), self.q, self.v, self.drift)

    def _drift_of_ball(self, joint: int, spin: Floats) -> None:
        """Return the drift of a spherical joint, v_pinocchio = Rᵀ ω with R the child's: Ṙᵀ ω = −Rᵀ (ω_parent × ω)."""
        parent, first = self.twin.parents[joint], self.twin.joints[joint].idx_v
        carried = self.data.oMi[parent].rotation @ self.data.v[parent].angular
        self.drift[first : first + 3] = -self.data.oMi[joint].rotation.T @ np.cross(carried, spin)

    def com(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Return position, velocity, Jacobian and J̇ v of the centre of mass."""
        data = self.twin.createData()
        pin.centerOfMass(self.twin, data, self.q, self.v, self.drift)
        J = pin.jacobianCenterOfMass(self.twin, self.twin.createData(), self.q) @ self.T
        return data.com[0].copy(), data.vcom[0].copy(), J, data.acom[0].copy()

    def angular_momentum(self) -> tuple[Floats, Floats, Floats]:
        data = self.twin.createData()
        pin.ccrba(self.twin, data, self.q, self.v)
        now, A = data.hg.angular.copy(), data.Ag[3:] @ self.T
        pin.computeCentroidalMomentumTimeVariation(self.twin, data, self.q, self.v, self.drift)
        return now, A, data.dhg.angular.copy()

    def _frame(self, name: str, offset: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return position, velocity (6,), Jacobian (6, nv) and J̇ v (6,) of a frame's point, offset in its axes."""
        frame = self.twin.getFrameId(name)
        placement = self.data.oMf[frame]
        arm = placement.rotation @ offset
        shift = np.block([[np.eye(3), -hat(arm)], [np.zeros((3, 3)), np.eye(3)]])
        axes = pin.LOCAL_WORLD_ALIGNED
        velocity = pin.getFrameVelocity(self.twin, self.data, frame, axes).vector
        bias = pin.getFrameClassicalAcceleration(self.twin, self.data, frame, axes).vector.copy()
        J = pin.getFrameJacobian(self.twin, self.data, frame, axes) @ self.T
        bias[:3] += np.cross(bias[3:], arm) + np.cross(velocity[3:], np.cross(velocity[3:], arm))
        return placement.translation + arm, shift @ velocity, shift @ J, bias

    def body(self, name: str) -> tuple[Floats, Floats, Floats, Floats]:
        i = self.model.body_index(name)
        return self._frame(name, self.model.tree.com_offset[i] if i else np.zeros(3))

    def point(self, name: str, inset: Floats) -> tuple[Floats, Floats]:
        """Return position and Jacobian (3, nv) of a contact point, or of its inset point."""
        place, _, J, _ = self._frame(name, inset)
        return place, J[:3]

    def orientation(self, name: str) -> Floats:
        return self.data.oMf[self.twin.getFrameId(name)].rotation.copy()


class Plan(NamedTuple):
    """Solution of the program; all None without a solution."""

    acceleration: Floats  # (nv,)
    forces: Floats  # (points, 3)
    torques: Floats  # (nv − 6,)


@dataclass
class Home:
    """Reference posture: positions from the feet's midpoint and from the floor."""

    com: Floats
    trunk: Floats
    q: Floats
    feet: list[Floats]
    turns: list[Floats]


class Twin:
    """Controller of one model; ``plan`` is one tick."""

    def __init__(self, controller: WholeBodyController, model: Model) -> None:
        self.law, self.model, self.pinocchio = controller, model, to_pinocchio(model)
        self.root, tree = model.root.name, model.tree
        q = standing(model, trunk=controller.target_position).q
        terms = Terms(model, self.pinocchio, q, np.zeros(model.nv))
        places = [terms.body(foot)[0] for foot in model.feet]
        middle = np.append(np.mean(places, axis=0)[:2], 0.0)
        com = terms.com()[0] + controller.target_position - q[:3] - middle
        turns = [terms.orientation(foot) for foot in model.feet]
        self.home = Home(com, rotation(q[3:7]).as_matrix(), q, [place - middle for place in places], turns)
        self.names = list(model.contact_names)
        self.foot_of = [model.feet.index(model.bodies[i].name) for i in tree.contact_body]
        self.insets = [self._inset(i) for i in range(model.nc)]

    def _inset(self, point: int) -> Floats:
        """Return the inset [m] of a point towards the middle of its sole: the margin, along the foot's two axes."""
        sole = [offset for offset, foot in zip(self.model.tree.contact_offset, self.foot_of, strict=True)
                if foot == self.foot_of[point]]  # fmt: skip
        away = np.mean(sole, axis=0) - self.model.tree.contact_offset[point]
        away[2] = 0.0
        return np.clip(away, -self.law.margin, self.law.margin)

    def plan(self, seen: Observation, solver: str = "quadprog", ranges: bool = True) -> Plan | None:
        """Return accelerations, forces and torques for a state; None without a solution."""
        terms = Terms(self.model, self.pinocchio, seen.q, seen.v)
        nv = self.model.nv
        carrying = self.carrying(seen, terms)
        J = np.vstack([terms.point(name, inset)[1] for name, inset in zip(self.names, self.insets, strict=True)])
        J = J[np.repeat(carrying, 3)]
        A, wanted, weights = self.tasks(seen, terms, carrying)
        spread = self.law.weight_force / terms.M[0, 0] ** 2
        P = block_diag(A.T @ (weights[:, None] * A), spread * np.eye(len(J)))
        weight = -terms.M[0, 0] * self.model.gravity[2]
        equal = np.tile([0.0, 0.0, weight / max(carrying.sum(), 1)], carrying.sum())
        g = np.concatenate([A.T @ (weights * wanted), spread * equal])
        dynamics = np.hstack([terms.M, -J.T])  # M v̇ + h − Jᵀ f, less h: the loads of all degrees of freedom
        C, bounds = self.inequalities(seen, terms, dynamics, ranges)
        found = qpsolvers.solve_qp(P, -g, C, bounds, dynamics[:6], -terms.h[:6], solver=solver)
        if found is None:
            return None
        forces = np.zeros((len(carrying), 3))
        forces[carrying] = found[nv:].reshape(-1, 3)
        return Plan(found[:nv], forces, (dynamics @ found + terms.h)[6:])

    def carrying(self, seen: Observation, terms: Terms) -> np.ndarray:
        """Return the points that touch, and those less than ``lift`` above their foot's lowest touching point."""
        heights = np.array([terms.point(name, np.zeros(3))[0][2] for name in self.names])
        touching = ~np.isin(seen.contact_modes, (ContactState.NONE, ContactState.PULLING))
        lowest = [heights[[f == k and t for f, t in zip(self.foot_of, touching, strict=True)]].min(initial=math.inf)
                  for k in range(len(self.home.feet))]  # fmt: skip
        limit = np.array([lowest[foot] for foot in self.foot_of])
        return np.isfinite(limit) & (heights < limit + self.law.lift)

    def tasks(self, seen: Observation, terms: Terms, carrying: np.ndarray) -> tuple[Floats, Floats, Floats]:
        """Return the tasks A v̇ = wanted, each row with its weight."""
        law, feet = self.law, [terms.body(foot) for foot in self.model.feet]
        loads = np.array([np.maximum(seen.contact_forces[np.equal(self.foot_of, k), 2], 0.0).sum()
                          for k in range(len(feet))])  # fmt: skip
        total = loads.sum()
        shares = loads / total if total > 0.0 else np.full(len(feet), 1.0 / len(feet))
        moving = sum(share * velocity for share, (_, velocity, *_) in zip(shares, feet, strict=True))
        lifted = np.array([place[2] - home[2] for (place, *_), home in zip(feet, self.home.feet, strict=True)])
        ground = shares @ lifted
        between = np.mean([place for place, *_ in feet], axis=0)
        rows = [self._balance(terms, moving, ground, between), self._momentum(terms), self._trunk(seen)]
        rows += [self._foot(terms, k, feet[k], carrying, moving, ground, between) for k in range(len(feet))]
        posture = -law.kp_posture * self.joint_errors(seen, terms) - law.kd_posture * seen.v[6:]
        rows.append((np.eye(self.model.nv)[6:], posture, np.full(len(posture), law.weight_posture)))
        A, wanted, weights = zip(*rows, strict=True)
        return np.vstack(A), np.concatenate(wanted), np.concatenate(weights)

    def joint_errors(self, seen: Observation, terms: Terms) -> Floats:
        """Return displacements (nv − 6,) from the posture; spherical joints in world axes, as their rates."""
        errors = []
        for body, first in zip(self.model.bodies[1:], self.model.tree.first_q[1:], strict=True):
            if body.joint.has_axis:
                errors.append(seen.q[first : first + 1] - self.home.q[first])
            else:
                wanted = terms.orientation(body.parent) @ rotation(self.home.q[first : first + 4]).as_matrix()
                errors.append(turn(terms.orientation(body.name), wanted))
        return np.concatenate(errors)

    def _balance(self, terms: Terms, moving, ground: float, between: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the CoM tasks: capture point ξ = x + ẋ/ω by p = ξ + (k/ω)(ξ − ξ_d), ẍ = ω² (x − p); height."""
        law = self.law
        com, velocity, J, bias = terms.com()
        height, rate = com[2] - ground, velocity - moving[:3]
        omega = math.sqrt(-self.model.gravity[2] / max(height, 0.1 * self.home.com[2]))
        x = (com - between - self.home.com)[:2]
        capture = x + rate[:2] / omega
        pressure = capture + law.capture / omega * capture
        wanted = np.append(omega**2 * (x - pressure),
                           law.kp_height * (self.home.com[2] - height) - law.kd_height * rate[2])  # fmt: skip
        return J, wanted - bias, np.array([1.0, 1.0, law.weight_height])

    def _momentum(self, terms: Terms) -> tuple[Floats, Floats, Floats]:
        """Return the task of decaying angular momentum, over m z²."""
        now, A, bias = terms.angular_momentum()
        scale = terms.M[0, 0] * self.home.com[2] ** 2
        wanted = -self.law.kd_momentum * now - bias
        return A / scale, wanted / scale, np.full(3, self.law.weight_momentum)

    def _trunk(self, seen: Observation) -> tuple[Floats, Floats, Floats]:
        error = turn(rotation(seen.orientation).as_matrix(), self.home.trunk)
        wanted = -self.law.kp_trunk * error - self.law.kd_trunk * seen.angular_velocity
        return np.eye(self.model.nv)[3:6], wanted, np.full(3, self.law.weight_trunk)

    def _foot(self, terms: Terms, k: int, foot, carrying, moving, ground, between):
        """Return a foot's task: keep still; put back flat unless all points carry; to its reference if none does.

        Without a loaded foot the feet fall.
        """
        law, points = self.law, carrying[np.equal(self.foot_of, k)]
        place, velocity, J, bias = foot
        count = len(self.home.feet)
        away = place - between - self.home.feet[k]
        away = away * count / (count - 1.0) if count > 1 else away
        away[2] = place[2] - self.home.feet[k][2] - ground
        error = np.concatenate([away, turn(terms.orientation(self.model.feet[k]), self.home.turns[k])])
        held = np.zeros(6) if points.all() else np.array([not points.any()] * 2 + [True] * 4, dtype=float)
        held[5] = 1.0
        floor = np.append(np.broadcast_to(moving, 6)[:3], np.zeros(3))
        wanted = -law.kd_feet * (velocity - floor) - law.kp_feet * held * error
        wanted[:3] += 0.0 if carrying.any() else self.model.gravity
        return J, wanted - bias, np.full(6, law.weight_feet)

    def inequalities(self, seen: Observation, terms: Terms, dynamics: Floats, ranges: bool) -> tuple[Floats, Floats]:
        """Return C y ≤ c: friction pyramids, torques, and accelerations that keep joints in range."""
        nv, size = self.model.nv, dynamics.shape[1]
        C, c = [], []
        for point in range((size - nv) // 3):
            for side in range(SIDES):
                angle = (2 * side + 1) * math.pi / SIDES
                row = np.zeros(size)
                row[nv + 3 * point : nv + 3 * point + 3] = (
                    math.cos(angle), math.sin(angle), -self.law.friction * math.cos(math.pi / SIDES),
                )  # fmt: skip
                C.append(row), c.append(0.0)
        pace = 1.0 / self.law.look_ahead
        for place, name in enumerate(self.model.joint_names):
            joint = next(body.joint for body in self.model.bodies if body.joint.name == name)
            dof = self.model.dof(name)
            most = self.torque_limit(name)
            unit = np.eye(size)[dof]
            angle, rate = seen.angles[place], seen.rates[place]
            least = max(-2 * pace * rate - pace**2 * (angle - joint.lower), -pace * (joint.max_velocity + rate))
            greatest = min(-2 * pace * rate + pace**2 * (joint.upper - angle), pace * (joint.max_velocity - rate))
            limits = [(dynamics[dof], -most - terms.h[dof], most - terms.h[dof])]
            limits += [(unit, least, greatest)] if ranges else []
            for row, low, high in limits:
                for signed, bound in ((row, high), (-row, -low)):
                    if math.isfinite(bound):
                        C.append(signed), c.append(bound)
        return np.array(C).reshape(-1, size), np.array(c)

    def torque_limit(self, joint: str) -> float:
        """Return the torque limit [N·m]: the controller's and the joint's; m g z without either."""
        limit = self.law.torque_limit
        effort = next(body.joint.max_effort for body in self.model.bodies if body.joint.name == joint)
        most = min(effort, limit if isinstance(limit, float) else limit.get(joint, math.inf))
        return self.weight_at_its_height() if math.isinf(most) else most

    def weight_at_its_height(self) -> float:
        """Return m g z [N·m]; z: height of the centre of mass above the soles in the home configuration."""
        placed = forward_kinematics(self.model, self.model.neutral())
        masses = np.array([body.mass for body in self.model.bodies])
        return 9.81 * float(masses @ placed.position[:, 2] - masses.sum() * placed.contact[:, 2].min())
