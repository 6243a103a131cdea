"""The thesis's equations (5.11) and Algorithm 5.1 in NumPy, literally: seven coordinates a body, all multipliers.

Two-step equations with dense matrices, whose derivatives are taken by complex steps: nothing is shared with the kernels
but the model. Forces act at both ends of a step, half of their impulse each, in the directions that they have there.
"""

from collections.abc import Callable

import numpy as np
import pytest

from biped import Controller, Impedance, Maximal, State, dynamics, simulate
from biped.integrators.maximal import kernels
from biped.kernels.step.step import prepare
from biped.kernels.tree.kinematics import place_bodies
from biped.model import Body, Model, box_inertia, floating, human, prismatic, random_tree, revolute, spherical
from tests.conftest import bent_configuration

from .touching_step import TouchingStep

KINDS = ("revolute", "prismatic", "spherical")
STIFFNESS, DAMPING = 40.0, 2.0


def left(q: np.ndarray) -> np.ndarray:
    """W_L: q r = W_L(q) r (appendix A.3)."""
    w, x, y, z = q
    return np.array([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]])


def conjugate(q: np.ndarray) -> np.ndarray:
    return q * np.array([1.0, -1.0, -1.0, -1.0])


def rotation(q: np.ndarray) -> np.ndarray:
    """R of q/‖q‖: rows that are made of it do not change with the norm."""
    w, u = q[0], q[1:]
    hat = np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
    return np.eye(3) + (2.0 * w * hat + 2.0 * hat @ hat) / (q @ q)


def turn_force(q: np.ndarray, moment: np.ndarray) -> np.ndarray:
    """W^sᵀ N, the force on the quaternion of a moment in world axes (equations 5.8 and A.2)."""
    w, x, y, z = q
    W = 2.0 * np.array([[-x, w, -z, y], [-y, z, w, -x], [-z, -y, x, w]])
    return W.T @ moment


def derivative(function: Callable[[np.ndarray], np.ndarray], z: np.ndarray) -> np.ndarray:
    """By complex steps: exact to rounding."""
    columns = []
    for k in range(len(z)):
        moved = z.astype(complex)
        moved[k] += 1e-30j
        columns.append(np.imag(function(moved)) / 1e-30)
    return np.array(columns).T


class Longhand:
    """A tree in maximal coordinates X, (n, 7), with steps of h and torques held on the joints."""

    def __init__(self, model: Model, h: float, torque: np.ndarray, impedance: tuple[float, float]) -> None:
        self.model, self.tree, self.h = model, model.tree, h
        self.torque, self.impedance = torque, impedance
        self.inertia = [np.reshape(body.inertia, (3, 3)) for body in model.bodies]
        self.rows = [len(self.joint_rows(i, self.home())) for i in range(model.n)]

    def home(self) -> np.ndarray:
        return self.at(self.model.neutral())

    def at(self, q: np.ndarray) -> np.ndarray:
        motion = dynamics.forward_kinematics(self.model, q)
        return np.hstack([motion.position, motion.orientation])

    def inboard(self, i: int, X: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        parent = self.tree.parent[i]
        x, q = (np.zeros(3), np.array([1.0, 0, 0, 0])) if parent < 0 else (X[parent, :3], X[parent, 3:])
        return x, q, x + rotation(q) @ self.tree.joint_offset[i]

    def relative(self, i: int, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Outboard pose of joint i seen from its inboard body: (distance, unit quaternion)."""
        _, q, place = self.inboard(i, X)
        joint = X[i, :3] - rotation(X[i, 3:]) @ self.tree.com_offset[i]
        turn = left(conjugate(q)) @ X[i, 3:]
        return rotation(q).T @ (joint - place), turn / np.sqrt(turn @ turn)

    def joint_rows(self, i: int, X: np.ndarray) -> np.ndarray:
        kind = self.model.bodies[i].joint.kind
        if kind == "floating":
            return np.zeros(0)
        distance, turn = self.relative(i, X)
        if kind == "spherical":
            return distance
        across = np.linalg.svd(self.tree.axis[i][None])[2][1:]
        if kind == "revolute":
            return np.concatenate([distance, across @ turn[1:]])
        return np.concatenate([across @ distance, turn[1:]])

    def joints(self, X: np.ndarray) -> np.ndarray:
        return np.concatenate([self.joint_rows(i, X) for i in range(self.model.n)])

    def norms(self, X: np.ndarray) -> np.ndarray:
        return np.einsum("ij,ij->i", X[:, 3:], X[:, 3:]) - 1.0

    def coordinate(self, i: int, X: np.ndarray) -> np.ndarray:
        distance, turn = self.relative(i, X)
        axis = self.tree.axis[i]
        if self.model.bodies[i].joint.kind == "prismatic":
            return axis @ distance
        return 2.0 * np.arctan(axis @ turn[1:] / turn[0])

    def body_terms(self, X0: np.ndarray, X1: np.ndarray, end: int) -> np.ndarray:
        """D₁ or D₂ of the bodies' discrete Lagrangians with gravity at the middle (equations 2.23, 5.5)."""
        rows = []
        for i, (a, b) in enumerate(zip(X0, X1, strict=True)):
            m, h = self.tree.mass[i], self.h
            velocity = (b[:3] - a[:3]) / h
            omega = 2.0 / h * (left(conjugate(a[3:])) @ b[3:])[1:]
            right = np.array([left(column) @ b[3:] for column in np.eye(4)]).T @ np.diag([1.0, -1, -1, -1])
            by_end = (right if end == 1 else left(conjugate(a[3:])))[1:]
            linear = (-m if end == 1 else m) * velocity + 0.5 * h * m * np.array(self.model.gravity)
            rows.append(np.concatenate([linear, 2.0 * by_end.T @ self.inertia[i] @ omega]))
        return np.array(rows)

    def torque_terms(self, X0: np.ndarray, X1: np.ndarray, X: np.ndarray) -> np.ndarray:
        forces = np.zeros(X.shape, dtype=np.result_type(X0, X1, X))
        for i in range(self.model.n):
            if self.tree.dofs[i] != 1:
                continue
            before, after = self.coordinate(i, X0), self.coordinate(i, X1)
            torque = self.torque[self.tree.first_v[i]]
            torque = torque - self.impedance[0] * (before + after) / 2 - self.impedance[1] * (after - before) / self.h
            _, q, _ = self.inboard(i, X)
            along = 0.5 * self.h * torque * (rotation(q) @ self.tree.axis[i])
            parent = self.tree.parent[i]
            if self.model.bodies[i].joint.kind == "revolute":
                forces[i, 3:] += turn_force(X[i, 3:], along)
                if parent >= 0:
                    forces[parent, 3:] -= turn_force(X[parent, 3:], along)
            else:
                forces[i, :3] += along
                if parent >= 0:
                    forces[parent, :3] -= along
                    forces[parent, 3:] -= turn_force(X[parent, 3:], np.cross(X[i, :3] - X[parent, :3], along))
        return forces

    def residual(self, given: np.ndarray, X: np.ndarray, z: np.ndarray) -> np.ndarray:
        """(5.11) for z = (X⁺, γ, λ); ``given`` is what the step before, or the momentum, brings."""
        n = self.model.n
        after, gamma, multiplier = z[: 7 * n].reshape(n, 7), z[7 * n : 8 * n], z[8 * n :]
        f = given + self.body_terms(X, after, 1) + self.torque_terms(X, after, X)
        f = f.ravel() + self.norm_gradient(X).T @ gamma + self.joint_gradient(X).T @ multiplier
        return np.concatenate([f, self.norms(after), self.joints(after)])

    def norm_gradient(self, X: np.ndarray) -> np.ndarray:
        return derivative(lambda x: self.norms(x.reshape(-1, 7)), X.ravel())

    def joint_gradient(self, X: np.ndarray) -> np.ndarray:
        return derivative(lambda x: self.joints(x.reshape(-1, 7)), X.ravel())

    def newton(self, given: np.ndarray, X: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        B, G = self.norm_gradient(X), self.joint_gradient(X)
        self.norm_gradient, self.joint_gradient = lambda _: B, lambda _: G  # type: ignore[method-assign]
        try:
            return derivative(lambda w: self.residual(given, X, w), z), self.residual(given, X, z)
        finally:
            del self.norm_gradient, self.joint_gradient

    def solve(self, given: np.ndarray, X: np.ndarray, guess: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        n = self.model.n
        z = np.concatenate([guess.ravel(), np.zeros(n + sum(self.rows))])
        for _ in range(20):
            K, f = self.newton(given, X, z)
            change = np.linalg.solve(K, -f)
            z = z + change
            if np.abs(change[: 7 * n]).max() < 1e-13:
                return z[: 7 * n].reshape(n, 7), z[7 * n : 8 * n]
        raise AssertionError("the longhand's Newton method does not converge")

    def momentum_terms(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        motion, X = dynamics.forward_kinematics(self.model, q, v), self.at(q)
        rows = []
        for i in range(self.model.n):
            R = rotation(X[i, 3:])
            spin = R @ self.inertia[i] @ R.T @ motion.angular_velocity[i]
            rows.append(np.concatenate([self.tree.mass[i] * motion.velocity[i], turn_force(X[i, 3:], spin)]))
        return np.array(rows)

    def run(self, q: np.ndarray, v: np.ndarray, steps: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
        X, gammas = [self.at(q)], []
        given = self.momentum_terms(q, v)
        guess = X[0]
        for _ in range(steps):
            after, gamma = self.solve(given, X[-1], guess)
            given = self.body_terms(X[-1], after, 2) + self.torque_terms(X[-1], after, after)
            guess = 2.0 * after - X[-1]
            X.append(after)
            gammas.append(gamma)
        return X, gammas

    def spin_energy(self, X0: np.ndarray, X1: np.ndarray) -> np.ndarray:
        """(n,) ω · I ω of each body in a step."""
        omegas = [2.0 / self.h * (left(conjugate(a[3:])) @ b[3:])[1:] for a, b in zip(X0, X1, strict=True)]
        return np.array([w @ J @ w for w, J in zip(omegas, self.inertia, strict=True)])


def star(floats: bool) -> Model:
    root = floating("root") if floats else prismatic("root", (0.6, 0.0, 0.8), (0.1, 0.2, 0.3))

    def body(name: str, joint: object, parent: str | None) -> Body:
        return Body(name, 1.2, box_inertia(1.2, (0.1, 0.2, 0.3)), (0.05, -0.04, -0.15), joint, parent)  # type: ignore[arg-type]

    return Model(
        "star",
        (body("trunk", root, None), body("arm", revolute("shoulder", (0.0, 1.0, 0.0), (0.1, 0.1, 0.0)), "trunk"),
         body("hand", spherical("wrist", (0.0, 0.0, -0.3)), "arm"),
         body("rod", prismatic("slide", (1.0, 0.0, 0.0), (-0.1, 0.0, 0.1)), "trunk"),
         body("tip", revolute("hinge", (0.6, 0.8, 0.0), (-0.2, 0.0, 0.0)), "rod")),
    )  # fmt: skip


class Held(Controller):
    period = 0.1
    compiled_loop = None

    def __init__(self, values: np.ndarray, impedance: tuple[float, float]) -> None:
        self.values, self.gains = values, impedance

    def torques(self, observation: object) -> np.ndarray:
        return self.values

    def impedance(self, model: Model) -> Impedance:
        stiffness, damping = self.gains
        return Impedance(dict.fromkeys(model.joint_names, stiffness), dict.fromkeys(model.joint_names, damping), {})


@pytest.mark.parametrize("impedance", [(0.0, 0.0), (STIFFNESS, DAMPING)], ids=["torques", "impedance"])
@pytest.mark.parametrize("floats", [True, False], ids=["floating", "fixed"])
def test_steps_are_those_of_the_two_step_equations(floats, impedance):
    model, h, steps = star(floats), 2e-3, 12
    v = 2.0 * np.random.default_rng(2).normal(size=model.nv)
    held = np.array([0.3, -0.2, 0.5, 0.1])[: len(model.joint_names)]
    torque = np.zeros(model.nv)
    torque[[model.dof(joint) for joint in model.joint_names]] = held
    longhand = Longhand(model, h, torque, impedance)
    X, gammas = longhand.run(model.neutral(), v, steps)
    state = State.at(model, None, v)
    controller = Held(held, impedance)
    run = simulate(
        model, controller, state=state, step=h, duration=steps * h, record_every=h, integrator=Maximal(tolerance=1e-13)
    )
    for k, row in enumerate(run.frame[list(model.coordinate_names)].to_numpy()):
        ours = longhand.at(row)
        assert np.abs(ours[:, :3] - X[k][:, :3]).max() < 1e-10
        for a, b in zip(ours[:, 3:], X[k][:, 3:], strict=True):
            assert min(np.abs(a - b).max(), np.abs(a + b).max()) < 1e-10
    assert np.abs(X[-1] - X[0]).max() > 0.05
    assert run.frame["gap_position"].max() <= 1e-12
    for k in range(1, steps):
        energies = longhand.spin_energy(X[k - 1], X[k]) + longhand.spin_energy(X[k], X[k + 1])
        assert np.allclose(gammas[k], -0.5 * h * energies, rtol=1e-9, atol=1e-13)


class OpenStep(TouchingStep):
    def __init__(self, model: Model, seed: int, impedance: tuple[float, float], h: float = 2e-3) -> None:
        rng = np.random.default_rng(seed)
        super().__init__(model, bent_configuration(model, rng, 0.5), rng, lambda _: 1e-3)
        self.h, self.method = h, Maximal().method(model)
        self.finder = self.method.root_finder
        self.v = 3.0 * rng.normal(size=model.nv)
        one = np.repeat(self.tree.dofs == 1, self.tree.dofs)
        self.drive(self.v, 5.0 * one * rng.normal(size=model.nv), *impedance)
        self.open(rng)

    def open(self, rng: np.random.Generator) -> None:
        """Every body a centimetre and a degree away from where the joints want it."""
        scratch, root = self.scratch, int(self.model.is_floating)
        scratch.q[:], scratch.shift[:] = self.arrays.q, 0.0
        place_bodies(self.tree, scratch.q, scratch.next)
        scratch.next.com[root:] += 0.01 * rng.normal(size=(self.model.n - root, 3))
        for i in range(self.model.n):
            q = scratch.next.quaternion[i] + 0.01 * rng.normal(size=4)
            scratch.next.quaternion[i] = q / np.linalg.norm(q)
        if root:
            scratch.shift[:] = 0.01 * rng.normal(size=3)
        self.evaluate()

    def evaluate(self) -> np.ndarray:
        kernels.evaluate_free(
            self.tree, self.ground, self.arrays, self.pushes, self.scratch, self.method, self.finder, self.h
        )
        return self.scratch.residual.copy()

    def twists(self) -> np.ndarray:
        kernels.set_newton_twists(self.tree, self.ground, self.arrays, self.scratch, self.method, self.finder, self.h)
        return self.scratch.motion.factors.twist.copy()

    def poses(self) -> np.ndarray:
        return np.hstack([self.scratch.shift + self.scratch.next.com, self.scratch.next.quaternion])

    def displacements(self, twists: np.ndarray) -> np.ndarray:
        linear = twists[:, :3] + np.cross(twists[:, 3:], self.scratch.next.com)
        turned = [
            left(np.concatenate([[0.0], 0.5 * t[3:]])) @ q
            for t, q in zip(twists, self.scratch.next.quaternion, strict=True)
        ]
        return np.hstack([linear, turned])


def cases(contacts: int):
    for seed in range(3):
        for floats in (True, False):
            model = random_tree(np.random.default_rng(seed), 6, floating=floats, kinds=KINDS, contacts=contacts)
            yield pytest.param(model, seed, id=f"tree-{seed}-{'floating' if floats else 'fixed'}")
    yield pytest.param(human() if contacts else human().without_contacts(), 7, id="human")


def dense(step: OpenStep) -> tuple[Longhand, np.ndarray, np.ndarray, np.ndarray]:
    """Newton's matrix and residual of (5.11) at the open poses, multipliers zero; and the longhand, and X at k."""
    q = step.arrays.q.copy()
    if step.model.is_floating:
        q[:3] = 0.0
    impedance = float(step.arrays.stiffness.max()), float(step.arrays.damping.max())
    longhand = Longhand(step.model, step.h, step.arrays.torque, impedance)
    X = longhand.at(q)
    z = np.concatenate([step.poses().ravel(), np.zeros(step.model.n + sum(longhand.rows))])
    K, f = longhand.newton(longhand.momentum_terms(q, step.v), X, z)
    return longhand, K, f, X


@pytest.mark.parametrize("impedance", [(0.0, 0.0), (STIFFNESS, DAMPING)], ids=["torques", "impedance"])
@pytest.mark.parametrize(("model", "seed"), list(cases(0)))
def test_newton_step_is_that_of_the_dense_matrix(model, seed, impedance):
    step = OpenStep(model, seed, impedance)
    assert step.finder.gap.min() > 1e-3
    ours = step.displacements(step.twists())
    _, K, f, _ = dense(step)
    theirs = np.linalg.solve(K, -f)[: 7 * model.n].reshape(model.n, 7)
    assert np.abs(ours - theirs).max() <= 1e-9 * np.abs(theirs).max()


@pytest.mark.parametrize(("model", "seed"), list(cases(0)))
def test_newton_step_is_that_of_algorithm_5_1(model, seed):
    step = OpenStep(model, seed, (0.0, 0.0))
    ours = step.displacements(step.twists())
    longhand, K, f, X = dense(step)
    n = model.n
    ends = np.cumsum([0, *longhand.rows]) + 8 * n
    parent = model.tree.parent
    mass = [K[7 * k : 7 * k + 7, 7 * k : 7 * k + 7].copy() for k in range(n)]
    force = [f[7 * k : 7 * k + 7].copy() for k in range(n)]
    inverse, split = [np.zeros((0, 0))] * n, 8
    at_k = longhand.joint_gradient(X)

    def inboard(k: int, G: np.ndarray) -> np.ndarray:
        return G[ends[k] - 8 * n : ends[k + 1] - 8 * n, 7 * parent[k] : 7 * parent[k] + 7]

    after = K[8 * n :, : 7 * n]
    for k in range(n - 1, -1, -1):
        own = [*range(7 * k, 7 * k + 7), 7 * n + k, *range(ends[k], ends[k + 1])]
        block = K[np.ix_(own, own)].copy()
        block[:7, :7] = mass[k]
        inverse[k] = np.linalg.inv(block)
        if parent[k] >= 0:
            E, F = inverse[k][split:, :split], inverse[k][split:, split:]
            # λ enters (5.11) with the other sign there, so that its E and F are the negatives of these.
            mass[parent[k]] -= inboard(k, at_k).T @ F @ inboard(k, after)
            b, g = f[7 * n + k], f[ends[k] : ends[k + 1]]
            force[parent[k]] -= inboard(k, at_k).T @ (E @ np.append(force[k], b) + F @ g)
    change = np.zeros((n, 7))
    for k in range(n):
        g = f[ends[k] : ends[k + 1]].copy()
        if parent[k] >= 0:
            g += inboard(k, after) @ change[parent[k]]
        change[k] = (inverse[k] @ -np.concatenate([force[k], [f[7 * n + k]], g]))[:7]
    assert np.abs(ours - change).max() <= 1e-9 * np.abs(change).max()


@pytest.mark.parametrize(("model", "seed"), list(cases(6)))
def test_newton_step_takes_the_residual_away(model, seed):
    step = OpenStep(model, seed, (STIFFNESS, DAMPING))
    if model.is_floating:
        assert (step.arrays.force[:, 2] > 0.0).any()
    before = step.scratch.residual.copy()
    step.twists()
    kernels.keep_base(step.tree, step.scratch, step.finder)
    values = []
    for k in (-2, -1, 1, 2):
        kernels.displace_bodies(step.tree, step.scratch, step.finder, k * 1e-4)
        values.append(step.evaluate())
    rate = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * 1e-4)
    assert np.linalg.norm(rate + before) <= 1e-7 * np.linalg.norm(before)


@pytest.mark.parametrize("angle", [-7.0, -3.2, -0.4, 3.1, 3.2, 9.0])
def test_an_angle_goes_on_beyond_half_a_turn(angle):
    model = star(True)
    step = OpenStep(model, 1, (0.0, 0.0))
    first = model.coordinate("shoulder")
    step.arrays.q[first] = angle
    prepare(step.tree, step.arrays, step.scratch)
    step.scratch.q[:] = step.arrays.q
    step.scratch.q[first] = angle + 0.3
    place_bodies(step.tree, step.scratch.q, step.scratch.next)
    step.scratch.q[:] = np.nan
    kernels.set_joint_coordinate(step.tree, step.arrays, step.scratch, model.body_names.index("arm"))
    assert step.scratch.q[first] == pytest.approx(angle + 0.3, abs=1e-14)
