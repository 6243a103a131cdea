"""The midpoint rule in generalized coordinates: charts, the paper's own step, order, what it keeps, and contact."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from biped import InputError, Midpoint, Recursive, ScalableVariational, State, dynamics, simulate
from biped.disturbances import compile_ground
from biped.integrators.midpoint.expansion import expanded
from biped.integrators.midpoint.kernels import charts
from biped.integrators.midpoint.kernels.rule import begin_rule, evaluate_rule, set_newton_step
from biped.kernels.state.pushes import new_pushes
from biped.kernels.step.step import prepare
from biped.kernels.tree.kinematics import new_poses, place_bodies
from biped.kernels.variational.equations import displace, new_scratch
from biped.model import Body, Model, box_inertia, floating, human, random_tree, revolute
from contact import Floor
from contact.ground import begin_ground
from contact.modes import SLIDING, STICKING
from controllers import JointImpedance
from experiments.catalogue.registry import experiment_named
from formulations.mechanism import rx, ry, rz, tx, ty, tz

from ...formulations.mechanism.longhand import System, Tree
from .motions import order_of, swinging, tumbling

KINDS = ("revolute", "prismatic", "spherical")
QUATERNIONS = arrays(float, 4, elements=st.floats(-1.0, 1.0)).filter(lambda q: np.linalg.norm(q) > 0.1)


@given(QUATERNIONS, arrays(float, 3, elements=st.floats(-5.0, 5.0)))
def test_a_chart_is_one_to_one_where_it_is_chosen(q, momentum):
    quaternion = tuple((q / np.linalg.norm(q)).tolist())
    chart = charts.choose_chart(quaternion)
    angles = charts.angles_of(chart, quaternion)
    assert abs(np.sin(angles[1])) <= charts.FAR + 1e-12
    back = np.array(charts.quaternion_of(chart, angles))
    assert np.abs(back * np.sign(back @ quaternion) - quaternion).max() < 1e-14
    there = charts.into_chart(chart, angles, tuple(momentum))
    assert charts.out_of_chart(chart, angles, there) == pytest.approx(momentum, abs=1e-13)


@pytest.mark.parametrize("chart", [0, 1])
def test_the_axes_of_a_chart_are_those_about_which_its_angles_turn(chart):
    angles = np.array([0.7, -0.4, 1.9])

    def turn(k):
        """The rotation vector per radian of angle k, by central differences."""
        ends = [
            np.array(charts.quaternion_of(chart, tuple(angles + sign * 1e-5 * np.eye(3)[k]))) for sign in (1.0, -1.0)
        ]
        (w, *u), (c, *d) = ends
        return (np.multiply(c, u) - np.multiply(w, d) + np.cross(d, u)) / 1e-5

    for k, axis in enumerate(((0.0, 0.0, 1.0), *charts.turned_axes(chart, tuple(angles)))):
        assert turn(k) == pytest.approx(axis, abs=1e-9)


def test_an_angle_is_brought_within_half_a_turn():
    for whole in (-2, 0, 3):
        assert charts.within_half_turn(0.5 + 2.0 * np.pi * whole) == pytest.approx(0.5)
        assert charts.within_half_turn(-3.0 + 2.0 * np.pi * whole) == pytest.approx(-3.0)


@pytest.mark.parametrize("is_floating", [True, False])
def test_the_expanded_tree_has_its_bodies_where_they_are(is_floating):
    model = random_tree(np.random.default_rng(3), 9, floating=is_floating, kinds=KINDS)
    tree, wide = model.tree, expanded(model.tree)
    angles = np.random.default_rng(4).uniform(-1.0, 1.0, model.nv)
    q = model.neutral()
    for i, kind in enumerate(body.joint.kind for body in model.bodies):
        a, j, straight = (
            int(tree.first_q[i]), int(tree.first_v[i]), 3 if model.bodies[i].joint.kind == "floating" else 0,
        )  # fmt: skip
        if kind in ("floating", "spherical"):
            q[a : a + straight] = angles[j : j + straight]
            q[a + straight : a + straight + 4] = charts.quaternion_of(0, tuple(angles[j + straight : j + straight + 3]))
        else:
            q[a] = angles[j]
    here, there = new_poses(model.n, model.nv, model.nc), new_poses(model.nv, model.nv, 0)
    place_bodies(tree, q, here)
    place_bodies(wide, angles, there)
    last = tree.first_v + tree.dofs - 1
    origin = q[:3] if is_floating else np.zeros(3)
    assert here.com + origin == pytest.approx(there.com[last], abs=1e-14)
    assert here.rotation == pytest.approx(there.rotation[last], abs=1e-14)
    assert wide.mass.sum() == pytest.approx(tree.mass.sum())
    assert np.array_equal(wide.parent[tree.first_v[1:]], last[tree.parent[1:]])


def two_bodies() -> tuple[Model, System]:
    """A floating body with another on a hinge, as a model and in the paper's frames."""
    sizes = (0.3, 0.4, 0.6), (0.2, 0.1, 0.5)
    inertias = [np.asarray(box_inertia(mass, size)) for mass, size in zip((3.0, 2.0), sizes, strict=True)]
    bodies = (
        Body("base", 3.0, inertias[0], (0.0, 0.0, 0.0), floating("free", (0.0, 0.0, 0.0)), None),
        Body("arm", 2.0, inertias[1], (0.0, 0.0, 0.4), revolute("hinge", (1.0, 0.0, 0.0), (0.1, 0.2, 0.3)), "base"),
    )
    moments = [tuple(np.diag(inertia)) for inertia in inertias]
    arm = tx(0.1, ty(0.2, tz(0.3, rx("hinge", tz(0.4, mass=(2.0, *moments[1]))))))
    base = tx("x", ty("y", tz("z", rz("a", ry("b", rx("c", arm, mass=(3.0, *moments[0])))))))
    return Model("two", bodies), System(Tree([base])).with_gravity((0.0, 0.0, -9.81))


@pytest.mark.parametrize("alpha", [0.5, 0.2, 1.0])
def test_a_step_is_the_papers_own(alpha):
    """Three steps of the algorithm as it is printed, in 4 x 4 matrices, from the momenta of the same motion."""
    model, system = two_bodies()
    system.alpha = alpha
    h, q, v = 0.02, np.array([0.5, -1.0, 2.0, 0.3, 0.4, -0.2, 0.9]), np.array([0.4, 1.0, -0.7, 1.5, -2.0, 1.0, 3.0])
    there = system.start(q, v)
    start = np.concatenate([q[:3], charts.quaternion_of(0, tuple(q[3:6])), q[6:]])
    axes = np.array([(0.0, 0.0, 1.0), *charts.turned_axes(0, tuple(q[3:6]))])
    state = State.at(model, start, np.concatenate([v[:3], v[3:6] @ axes, v[6:]]))
    assert charts.into_chart(0, tuple(q[3:6]), tuple(state.momentum[3:6])) == pytest.approx(there.p[3:6], rel=1e-12)
    state = simulate(
        model, state=state, integrator=Midpoint(alpha=alpha, tolerance=1e-13), step=h, duration=3 * h
    ).state
    for _ in range(3):
        there = system.step(there, h)
    assert state.q[:3] == pytest.approx(there.q[:3], abs=1e-11)
    assert charts.angles_of(0, tuple(state.q[3:7])) == pytest.approx(there.q[3:6], abs=1e-11)
    assert state.q[7] == pytest.approx(there.q[6], abs=1e-11)
    momentum = np.array(charts.into_chart(0, tuple(there.q[3:6]), tuple(state.momentum[3:6])))
    assert np.concatenate([state.momentum[:3], momentum, state.momentum[6:]]) == pytest.approx(there.p, abs=1e-10)


class Step:
    def __init__(self, seed: int, contacts: int, h: float, integrator: Midpoint) -> None:
        rng = np.random.default_rng(seed)
        model = random_tree(rng, 8, floating=True, kinds=KINDS, contacts=contacts)
        state = State.at(model, model.neutral(), 3.0 * rng.normal(size=model.nv))
        self.arrays, self.tree, self.h = state.arrays, model.tree, h
        self.scratch, self.pushes = new_scratch(model.n, model.nq, model.nv, model.nc), new_pushes(0)
        self.ground = compile_ground(Floor(mu_s=0.5, mu_d=0.4, b_n=5.0, b_t=5.0), model)
        if contacts:
            self.arrays.q[2] = -0.02 - dynamics.forward_kinematics(model, self.arrays.q).contact[:, 2].mean()
        prepare(self.tree, self.arrays, self.scratch)
        points = self.scratch.motion.poses.contact[:, :2] + self.arrays.q[:2]
        self.arrays.mode[:] = [(SLIDING, STICKING)[c % 2] for c in range(contacts)]
        self.arrays.anchor[:] = points + 1e-4 * rng.normal(size=points.shape)
        one = np.repeat(self.tree.dofs == 1, self.tree.dofs)
        self.arrays.torque[:] = 5.0 * rng.normal(size=model.nv)
        self.arrays.stiffness[one], self.arrays.damping[one] = 300.0, 5.0
        begin_ground(self.ground, tuple(self.arrays.q[:3]), self.scratch.motion.poses.contact, 0.0, h)
        self.method = integrator.method(model)
        ahead = np.linalg.solve(dynamics.mass_matrix(model, self.arrays.q), self.arrays.momentum)
        ahead += 0.3 * rng.normal(size=model.nv)
        self.scratch.shift[:] = 0.0
        displace(
            self.tree, self.scratch.motion.poses, self.arrays.q, self.scratch.shift, h, ahead, self.scratch.q,
            self.scratch.shift,
        )  # fmt: skip
        begin_rule(self.tree, self.arrays, self.scratch, self.method.body)
        self.candidate = self.method.body.buffers.moved.copy()

    def residual(self, moved) -> np.ndarray:
        buffers = self.method.body.buffers
        buffers.moved[:] = moved
        world = self.tree, self.ground, self.arrays, self.pushes, self.scratch
        evaluate_rule(*world, self.method.body, self.h)
        return buffers.residual.copy()

    def error_of_newtons_step(self) -> float:
        columns = []
        for unit_step in np.eye(len(self.candidate)):
            f = [self.residual(self.candidate + k * 1e-5 * unit_step) for k in (-2, -1, 1, 2)]
            columns.append((f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * 1e-5))
        e = self.residual(self.candidate)
        world = self.tree, self.ground, self.arrays, self.scratch
        set_newton_step(self.method.body.derivatives, *world, self.method.body, self.h, True)
        left = e + np.array(columns).T @ self.method.body.buffers.delta
        return float(np.linalg.norm(left) / np.linalg.norm(e))


@pytest.mark.jit_off
@pytest.mark.parametrize("alpha", [0.5, 0.3])
def test_newtons_matrix_lacks_little(alpha):
    """In flight a term of h³; on the floor, whose forces act along twists of the ends, terms of h²."""
    for contacts, order, size in ((0, 3, 2e-6), (8, 2, 2e-3)):
        steps = np.array([4e-3, 2e-3, 1e-3])
        errors = [Step(1, contacts, float(h), Midpoint(alpha=alpha)).error_of_newtons_step() for h in steps]
        assert errors[-1] < size
        assert order_of(steps, errors) > order - 0.3


@pytest.mark.jit_off
@pytest.mark.parametrize("alpha", [0.5, 0.3])
def test_the_papers_recursions_are_the_passes_in_linear_time(alpha):
    """The same residual, and the exact Newton's matrix, of a tree whose branches come from one another in turn."""
    for seed in range(3):
        passes = Step(seed, 0, 3e-3, Midpoint(alpha=alpha))
        cached = Step(seed, 0, 3e-3, ScalableVariational(alpha=alpha))
        e = passes.residual(passes.candidate)
        assert np.linalg.norm(cached.residual(passes.candidate) - e) < 1e-12 * np.linalg.norm(passes.arrays.momentum)
        assert cached.error_of_newtons_step() < 1e-8


@pytest.mark.slow
def test_a_chain_swings_the_same_by_the_papers_recursions(swinging_chain):
    model, q, _ = swinging_chain
    ends = []
    for integrator in (Midpoint(tolerance=1e-13), ScalableVariational(tolerance=1e-13, guess="current")):
        state = State.at(model, q)
        state = simulate(model, state=state, integrator=integrator, step=2e-3, duration=0.1, record_every=0.1).state
        ends.append(np.concatenate([state.q, state.momentum]))
    assert ends[0] == pytest.approx(ends[1], abs=1e-11)


@pytest.fixture(scope="module")
def swinging_chain():
    return swinging(3, 0.3)


ORDERS = [(Recursive(), 2), *((Midpoint(alpha=alpha), 2 if alpha == 0.5 else 1) for alpha in (0.5, 0.0, 0.3, 1.0))]


@pytest.mark.parametrize(("integrator", "order"), ORDERS)
def test_the_order_is_two_in_the_middle_and_one_elsewhere(swinging_chain, integrator, order):
    model, q, exact = swinging_chain
    steps = 0.3 / np.array([300, 600, 1200])
    errors = []
    for step in steps:
        state = State.at(model, q)
        state = simulate(model, state=state, integrator=integrator, step=step, duration=0.3, record_every=0.3).state
        errors.append(np.linalg.norm(np.concatenate([state.q, state.momentum]) - exact))
    assert order_of(steps, errors) == pytest.approx(order, abs=0.05)
    assert integrator.order == order
    assert integrator.symmetric == (order == 2)


def test_the_human_flies_as_with_the_default_integrator_up_to_order_two():
    model = human().without_contacts()
    steps, gaps = 0.512 / np.array([256, 512, 1024]), []
    for step in steps:
        ends = []
        for integrator in (Midpoint(), Recursive()):
            state = tumbling(model, 7, 3.0)
            run = simulate(model, state=state, integrator=integrator, step=step, duration=0.512, record_every=0.032)
            state = run.state
            ends.append(np.concatenate([state.q, state.momentum]))
            turns = run.frame[["body_qw", "body_qx", "body_qy", "body_qz"]].to_numpy()
            assert (np.sum(turns[1:] * turns[:-1], axis=1) > 0.9).all()  # no quaternion changes its sign
            assert run.summary["newton_mean"] < 1.1
        gaps.append(np.linalg.norm(ends[0] - ends[1]))
        assert {charts.choose_chart(tuple(q)) for q in turns} == {0, 1}
    assert order_of(steps, gaps) == pytest.approx(2.0, abs=0.05)


def test_the_human_sways_on_its_feet_as_with_the_default_integrator_up_to_order_two():
    model = human()
    start = State.at(model)
    start = simulate(model, JointImpedance(), state=start, duration=1.0, step=1e-3, record_every=1.0).state
    start.arrays.momentum[:2] += (2.0, 1.0)
    steps, gaps, left = np.array([2e-3, 1e-3, 5e-4]), [], []
    for step in steps:
        ends = []
        for integrator in (Midpoint(), Recursive()):
            state = start.copy()
            law = JointImpedance(period=2e-3)
            run = simulate(model, law, state=state, integrator=integrator, step=step, duration=0.2, record_every=0.01)
            state = run.state
            ends.append(np.concatenate([state.q, state.momentum]))
            assert run.summary["newton_mean"] < 2.0
            assert (state.arrays.mode == STICKING).all()
            assert run.summary["momentum_defect"] < 1e-10
            left.append(np.ptp(run.frame["ledger_residual"]))  # some was left by the start's own steps
        gaps.append(np.linalg.norm(ends[0] - ends[1]))
    assert order_of(steps, gaps) == pytest.approx(2.0, abs=0.05)
    assert order_of(steps, left[::2]) == pytest.approx(2.0, abs=0.1)


def test_what_the_coordinates_shift_along_is_kept():
    """Linear momentum, and angular momentum about the vertical through the origin; about other axes up to O(h²)."""
    model = human().without_contacts().with_gravity((0.0, 0.0, 0.0))
    lost = []
    for step in (2e-3, 1e-3):
        state = tumbling(model, 1)
        state.q[:3] = (30.0, -20.0, 10.0)
        ends = []
        for duration in (0.0, 2.0):
            if duration:
                state = simulate(
                    model, state=state, integrator=Midpoint(), step=step, duration=duration, record_every=0.1
                ).state
            linear, angular = state.momentum[:3], state.momentum[3:6]
            ends.append(np.concatenate([linear, angular + np.cross(state.q[:3], linear)]))
        gained = ends[1] - ends[0]
        assert np.abs(gained[[0, 1, 2]]).max() < 1e-9
        assert abs(gained[5]) < 1e-8
        lost.append(np.abs(gained[3:5]).max())
    assert lost[1] > 1e-6
    assert not Midpoint().conserves_momentum


def test_far_from_the_origin_no_digit_is_lost():
    """The same motion, and as many iterations, 100 km away."""
    model = human().without_contacts()
    ends = []
    for place in (0.0, 1e5):
        state = tumbling(model, 2)
        state.q[:3] = place
        run = simulate(model, state=state, integrator=Midpoint(), step=1e-3, duration=0.1, record_every=0.1)
        state = run.state
        assert run.summary["newton_mean"] < 1.1
        ends.append(np.concatenate([state.q[3:], state.momentum]))
    assert ends[0] == pytest.approx(ends[1], abs=1e-9)


def test_a_tumbling_tree_passes_through_all_orientations():
    """20,000 steps, of which many begin in the other chart: none is halved, and the energy strays without drift.

    It tumbles chaotically, so that rounding decides where it is after a few seconds, and no bound of the largest error
    holds for all processors. What the energy errs by, within a chart, is of second order in the step; each change of
    charts changes it by as much: a random walk.
    """
    model = random_tree(np.random.default_rng(4), 5, floating=True, kinds=("spherical",)).with_gravity((0.0, 0.0, 0.0))
    changes, parts = [], 20
    for step in (2e-3, 1e-3):
        state = tumbling(model, 4)
        run = simulate(model, state=state, integrator=Midpoint(), step=step, duration=20e3 * step, record_every=0.02)
        assert run.summary["retried_steps"] == 0
        strays = run.frame["ledger_residual"].to_numpy() / run.frame["ledger_kinetic"].mean()
        of_parts = np.diff(strays[:: len(strays) // parts])
        assert np.abs(strays).max() < 6.0 * np.sqrt(parts) * of_parts.std(ddof=1)
        changes.append(np.abs(np.diff(strays)).mean())
    assert changes[1] < 0.5 * changes[0]


def test_a_run_in_two_parts_is_the_same_bit_for_bit():
    model = human().without_contacts()
    whole, parts = tumbling(model, 6), tumbling(model, 6)
    whole = simulate(model, state=whole, integrator=Midpoint(), step=1e-3, duration=0.1).state
    for _ in range(2):
        parts = simulate(model, state=parts, integrator=Midpoint(), step=1e-3, duration=0.05).state
    assert np.array_equal(whole.q, parts.q)
    assert np.array_equal(whole.momentum, parts.momentum)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["stand-tilted", "thrown-block"])
def test_the_published_experiments_end_as_with_the_default_integrator(name):
    setup = experiment_named(name).build()
    usual, other = (replace(setup, integrator=integrator).run() for integrator in (Recursive(), Midpoint()))
    assert other.summary["verdict"] == usual.summary["verdict"] == "recovered"
    assert all(check["passed"] == "ok" for check in other.summary["trust"])
    for metric, value in usual.metrics.items():
        # Zero crossings are counts: of a centre of pressure at rest, they count the last digits.
        left_out = metric.startswith(("ledger", "newton", "cop_zero_crossings")) or "defect" in metric
        if isinstance(value, float) and not left_out:
            assert other.metrics[metric] == pytest.approx(value, rel=0.01, abs=1e-6), metric


@pytest.mark.parametrize("alpha", [-0.1, 1.1, np.nan, True])
def test_an_alpha_outside_of_the_step_is_refused(alpha):
    with pytest.raises(InputError, match=r"integrator.alpha = .*: it must be a number from 0 to 1"):
        Midpoint(alpha=alpha)
