"""Bodies on joints: other integrators, closed forms, and conservation.

A step ends where the norm of all its equations is no greater than the tolerance, 1e-10 by default, and so is how far
its joints are open.
"""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from biped import InputError, State, chain, forward_dynamics, simulate
from biped.model.geometry import quaternion_matrix
from biped.model.samples import random_tree
from formulations.assembly import Assembly, AssemblyError, AssemblyStepError, Freedom, PointContact, RigidBody, joint
from formulations.assembly.conversion import from_model, placement_of
from formulations.assembly.examples import four_bar_chain, link, n_four_bar, pendulum, three_link_loop
from formulations.mechanism import Mechanism, rx, tz
from tests.refusals import refuses

from .random_assemblies import random_placement, random_tree_assembly

X = (1.0, 0.0, 0.0)


def order_of(errors):
    return np.log2(np.array(errors[:-1]) / np.array(errors[1:]))


def test_a_tree_is_of_second_order_against_the_differential_equation():
    """Second order against generalized coordinates: articulated-body algorithm and DOP853 at 1e-12."""
    model = chain(3).without_contacts()
    q, v = np.array([0.7, -0.5, 0.4]), np.array([1.0, 2.0, -1.5])

    def right(_, y):
        return np.concatenate([y[3:], forward_dynamics(model, y[:3], y[3:], np.zeros(3))])

    exact = solve_ivp(right, (0.0, 0.4), np.concatenate([q, v]), "DOP853", rtol=1e-12, atol=1e-12).y[:3, -1]
    assembly, start = from_model(model), placement_of(model, q, v)
    errors = []
    for step in (0.01, 0.005, 0.0025):
        end = assembly.simulate(0.4, step, start).frame[[f"angle_{name}" for name in model.joint_names]].iloc[-1]
        errors.append(np.abs(end - exact).max())
    assert np.all(np.abs(order_of(errors) - 2.0) < 0.1)
    assert errors[-1] < 1e-4


@pytest.mark.parametrize("seed", [0, 1])
def test_any_tree_of_a_model_is_of_second_order(seed):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 5)
    q, v = model.neutral(), rng.normal(size=model.nv)
    reference = None
    errors = []
    assembly, start = from_model(model), placement_of(model, q, v)
    for step in (0.000625, 0.01, 0.005, 0.0025):
        end = assembly.simulate(0.2, step, start).placement().position
        if reference is None:
            reference = end
        else:
            errors.append(np.abs(end - reference).max())
    assert np.all(np.abs(order_of(errors) - 2.0) < 0.25)


@pytest.mark.parametrize(("seed", "is_chain"), [(2, True), (4, False)])
def test_steps_are_those_of_the_recursive_integrator(seed, is_chain):
    """Theorem 2.1 of Wendlandt 1997: the same discrete bodies in generalized coordinates, where weight is constant.

    Half of it at either end of a step there, all of it at nodes here: the same but for the first step, which has half.
    """
    rng = np.random.default_rng(seed)
    model = chain(3).without_contacts() if is_chain else random_tree(rng, 6)
    q, v = model.neutral(), 2.0 * rng.normal(size=model.nv)
    for step in (0.008, 0.004):
        run = simulate(model, state=State.at(model, q, v), duration=0.4, step=step)
        end = from_model(model).simulate(0.4, step, placement_of(model, q, v)).placement()
        theirs = placement_of(model, run.state.q)
        assert_allclose(end.position, theirs.position, atol=1e-7)
        assert np.abs(end.position - placement_of(model, q).position).max() > 0.05


def test_total_momentum_of_a_floating_tree_is_kept():
    rng = np.random.default_rng(3)
    tree = random_tree_assembly(rng, 6, grounded=False)
    assembly = Assembly("floating", tree.bodies, tree.joints, gravity=(0.0, 0.0, 0.0))
    start = random_placement(rng, assembly)
    motion = assembly.simulate(1.0, 0.01, start, tolerance=1e-13)

    def total(row):
        linear, angular = np.zeros(3), np.zeros(3)
        for body in assembly.bodies:
            v, x, q = (of(body.name)[row] for of in (motion.velocity, motion.position, motion.orientation))
            R = quaternion_matrix(q)
            linear += body.mass * v[:3]
            angular += R @ np.array(body.inertia) @ R.T @ v[3:] + body.mass * np.cross(x, v[:3])
        return np.concatenate([linear, angular])

    # The mean of the momenta before and after a node is that at the node but for joints' impulses, which cancel.
    assert_allclose(total(-1), total(1), atol=1e-10)
    assert np.abs(total(1)).max() > 0.5
    assert motion.frame["joint_openness"].max() <= 1e-10


def test_random_trees_of_all_joints_stay_closed_and_keep_their_energy():
    """With springs and no dampers: an error of the energy that falls with h², and joints closed to the tolerance."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        assembly = random_tree_assembly(rng, 5, freedoms=(Freedom(stiffness=2.0),))
        start = random_placement(rng, assembly)
        spans = []
        for step in (0.004, 0.002):
            motion = assembly.simulate(0.4, step, start, tolerance=1e-12)
            energy = motion.frame["energy"].to_numpy()
            spans.append(np.abs(energy - energy[0]).max())
            assert motion.frame["joint_openness"].max() <= 1e-12
        assert spans[1] < 0.4 * spans[0]
        assert spans[1] < 0.02 * motion.frame["kinetic_energy"].max()


def test_the_loop_of_figure_7a_does_not_drift():
    assembly, start = three_link_loop()
    motion = assembly.simulate(30.0, 0.01, start, record_every=10)
    energy = motion.frame["energy"].to_numpy()
    assert motion.frame["joint_openness"].max() <= 1e-10
    assert np.ptp(energy) < 0.05 * motion.frame["kinetic_energy"].max()
    assert motion.summary["newton_max"] <= 4
    places = motion.position("coupler")
    assert np.abs(places[:, 0]).max() < 1e-9  # in its plane, though no row that is left holds it there alone
    assert np.ptp(places[:, 2]) > 0.05


def test_a_loop_moves_as_its_generalized_coordinate():
    """A parallelogram of massive cranks is one pendulum: (2 (J + m ¼) + m_c) θ'' = −(m + m_c) g sin θ, l = 1."""
    crank, bar = link("crank", 1.0, 1.0), link("bar", 1.0, 0.5)
    other = link("other", 1.0, 1.0)
    flat = (math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0)  # the bar's z along −y
    joints = (
        joint("revolute", "left", None, "crank", X, outboard_point=(0.0, 0.0, 0.5)),
        joint("revolute", "right", None, "other", X, inboard_point=(0.0, 1.0, 0.0), outboard_point=(0.0, 0.0, 0.5)),
        joint("revolute", "left_tip", "crank", "bar", X, inboard_point=(0.0, 0.0, -0.5), outboard_point=(0.0, 0.0, 0.5),
              alignment=flat),
        joint("cylindrical", "right_tip", "other", "bar", X, inboard_point=(0.0, 0.0, -0.5),
              outboard_point=(0.0, 0.0, -0.5), alignment=flat),
    )  # fmt: skip
    assembly = Assembly("parallelogram", (crank, other, bar), joints)
    assert assembly.closing_joints == ("right_tip",)
    start = assembly.assemble(assembly.place({"left": 1.0, "right": 1.0, "left_tip": -1.0}))
    assert assembly.degrees_of_freedom(start) == 1
    moment = 2.0 * (crank.inertia[0][0] + 0.25) + 0.5

    def right(_, y):
        return [y[1], -(1.0 + 0.5) * 9.81 * math.sin(y[0]) / moment]

    exact = solve_ivp(right, (0.0, 1.0), [1.0, 0.0], "DOP853", rtol=1e-12, atol=1e-12).y[0, -1]
    errors = []
    for step in (0.01, 0.005, 0.0025):
        found = assembly.simulate(1.0, step, start).frame["angle_left"].iloc[-1]
        errors.append(abs(found - exact))
    assert np.all(np.abs(order_of(errors) - 2.0) < 0.1)


def test_connected_loops_stay_closed():
    assembly, start = four_bar_chain(3)
    motion = assembly.simulate(2.0, 0.01, start)
    assert motion.frame["joint_openness"].max() <= 1e-10
    energy = motion.frame["energy"].to_numpy()
    assert np.ptp(energy) < 0.02 * motion.frame["kinetic_energy"].max()


@pytest.mark.parametrize("windows", [1, 2, 4])
def test_windows_swing_through_singular_configurations(windows):
    """Windows have N + 1 freedoms with all rods in line, else one; they swing as one pendulum."""
    assembly, start = n_four_bar(windows)
    assert assembly.degrees_of_freedom(start) == 1
    level = assembly.place(
        {f"ground_{k}": 0.5 * math.pi for k in range(windows + 1)} | {f"left_{k}": 0.0 for k in range(windows)}
    )
    assert assembly.degrees_of_freedom(assembly.assemble(level)) == windows + 1
    pull = ((windows + 1) / 2.0 + windows) * 9.81 / ((windows + 1) / 3.0 + windows)
    swing = solve_ivp(lambda _, y: [y[1], pull * math.sin(y[0])], (0.0, 3.0), [0.0, 1.0], "DOP853", rtol=1e-12,
                      atol=1e-12)  # fmt: skip
    errors = []
    for step in (0.01, 0.005, 0.0025):
        frame = assembly.simulate(3.0, step, start).frame
        angles = math.pi - frame[[f"angle_ground_{k}" for k in range(windows + 1)]].to_numpy()
        assert np.ptp(angles, axis=1).max() < 1e-6
        errors.append(abs(angles[-1, 0] - swing.y[0, -1]))
    assert angles[:, 0].max() > 1.5 * math.pi  # three times in line
    assert np.all(np.abs(order_of(errors) - 2.0) < 0.1)


def test_there_is_a_window():
    with pytest.raises(InputError, match="windows"):
        n_four_bar(0)


def test_a_damped_hinge_and_its_spring_follow_the_linear_equation():
    """J θ'' + d θ' + k θ = τ about the centre of mass, without weight; errors of first order in the damper's share."""
    body = RigidBody("wheel", 1.0, ((0.5, 0.0, 0.0), (0.0, 0.5, 0.0), (0.0, 0.0, 0.5)))
    damping, stiffness, torque = 0.4, 3.0, 1.2
    hinge = joint("revolute", "hinge", None, "wheel", X, freedoms=[Freedom(stiffness=stiffness, damping=damping)])
    assembly = Assembly("wheel", (body,), (hinge,), gravity=(0.0, 0.0, 0.0))

    def right(_, y):
        return [y[1], (torque - damping * y[1] - stiffness * y[0]) / 0.5]

    exact = solve_ivp(right, (0.0, 2.0), [0.6, 0.0], rtol=1e-12, atol=1e-12).y[0, -1]
    errors = []
    for step in (0.01, 0.005, 0.0025):
        motion = assembly.simulate(2.0, step, assembly.place({"hinge": 0.6}), forces={"hinge": torque})
        errors.append(abs(motion.frame["angle_hinge"].iloc[-1] - exact))
    assert errors[-1] < 1e-3
    assert np.all(order_of(errors) > 0.9)


def test_a_limit_holds_and_takes_the_weight():
    stop = -0.5
    hung = pendulum(1)
    hinge = joint("revolute", "joint_1", None, "link_1", X, outboard_point=(0.0, 0.0, 0.5),
                  freedoms=[Freedom(lower=stop, damping=0.05)])  # fmt: skip
    assembly = Assembly("stopped", hung.bodies, (hinge,))
    motion = assembly.simulate(3.0, 0.01, assembly.place({"joint_1": -0.1}, rates={"joint_1": -3.0}))
    angle = motion.frame["angle_joint_1"]
    assert angle.min() >= stop
    assert angle.min() < stop + 1e-9
    assert motion.frame["complementarity"].max() <= 1e-12


def test_actuators_hold_a_pendulum_by_the_moment_of_its_weight():
    assembly = pendulum(1)
    angle = 0.8
    moment = 9.81 * 0.5 * math.sin(angle)
    motion = assembly.simulate(0.5, 0.01, assembly.place({"joint_1": angle}), forces={"joint_1": moment})
    assert_allclose(motion.frame["angle_joint_1"], angle, atol=1e-9)
    force = motion.frame[[f"reaction_joint_1_{k}" for k in (1, 2, 3)]].to_numpy()
    assert_allclose(np.linalg.norm(force, axis=1)[1:], 9.81, rtol=1e-8)


@pytest.mark.parametrize(("tolerance", "links"), [(1e-6, 50), (1e-8, 50), (1e-10, 50)])
def test_long_pendulums_converge_to_small_tolerances(tolerance, links):
    """Figure 10; its 100 links are in ``biped reproduce bruedigam-2024``."""
    assembly = pendulum(links)
    motion = assembly.simulate(1.0, 0.01, assembly.place({"joint_1": math.pi / 4.0}), tolerance=tolerance)
    assert motion.frame["equations"].max() <= tolerance
    assert motion.summary["newton_max"] <= 6


def test_a_pendulum_of_points_is_that_of_generalized_coordinates():
    """Against the midpoint rule of mechanisms, with boxes' inertia about their lower ends: they meet with h²."""
    moment = 1.0 / 12.0 * (1.0 + 0.1**2)
    assembly = pendulum(2)
    gaps = []
    for step in (0.01, 0.005):
        mechanism = two_rods(moment)
        theirs = mechanism.simulate(1.0, step, q={"J1": 1.0, "J2": 0.5})
        ours = assembly.simulate(1.0, step, assembly.place({"joint_1": 1.0, "joint_2": 0.5}))
        mine = ours.frame[["angle_joint_1", "angle_joint_2"]].iloc[-1].to_numpy()
        gaps.append(np.abs(np.abs(mine) - np.abs(theirs.q[-1])).max())
    assert 3.0 < gaps[0] / gaps[1] < 5.0


def two_rods(moment):
    load = (1.0, moment, moment, 1.0)
    second = rx("J2", tz(-0.5, mass=load, name="second"), name="elbow")
    return Mechanism("rods", frames=[rx("J1", tz(-0.5, mass=load, name="first"), tz(-1.0, second))],
                     gravity=(0.0, 0.0, -9.81))  # fmt: skip


BOX = RigidBody("a", 1.0, ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)))


@refuses(
    (lambda: Assembly("none", ()), "has no bodies"),
    (lambda: Assembly("two", (BOX, BOX)), "bodies: two have the name"),
    (lambda: Assembly("one", (BOX,), (joint("revolute", "j", None, "b"),)), "unknown body 'b'"),
    (lambda: Assembly("one", (BOX,), contacts=(PointContact("c", "b"),)), "unknown body 'b'"),
    (lambda: Assembly("one", (BOX,), directions=5), "must be even"),
    (lambda: Assembly("one", (BOX,), directions=2), "four or more"),
    (lambda: RigidBody("a", 0.0, BOX.inertia), "mass"),
    (lambda: PointContact("c", "a", friction=-0.1), "friction"),
    (lambda: PointContact("c", "a", height=math.inf), "height"),
    (lambda: Assembly("one", (BOX,)).place({"j": 1.0}), "unknown joint 'j'"),
    (lambda: pendulum(1).place({"joint_1": (1.0, 2.0)}), "1 finite numbers"),
    (lambda: pendulum(1).place({"joint_1": math.nan}), "finite numbers"),
    (lambda: pendulum(1).place(poses={"link_1": ((0, 0, 0), (1, 0, 0, 0))}), "joint 'joint_1' places body 'link_1'"),
    (lambda: three_link_loop()[0].place({"right": 1.0}), "closes a loop"),
    (lambda: pendulum(1).simulate(0.1, 0.01, order=3), "must be 1 or 2"),
    (lambda: pendulum(1).simulate(0.1, 0.01, complementarity=1e-20), "complementarity"),
    (lambda: pendulum(1).simulate(0.1, 0.01, forces={"joint": 1.0}), "unknown coordinate 'joint'"),
    (lambda: pendulum(1).simulate(0.1, 0.01, forces={"joint_1": math.nan}), "force along 'joint_1'"),
    error=(AssemblyError, ValueError),
)
def test_what_cannot_be_is_refused_in_a_sentence(make):
    make()


def test_a_loop_that_cannot_close_is_told():
    long = link("long", 1.0, 1.0)
    tied = joint("spherical", "tie", None, "long", inboard_point=(0.0, 3.0, 0.0), outboard_point=(0.0, 0.0, -0.5))
    hinge = joint("revolute", "hinge", None, "long", X, outboard_point=(0.0, 0.0, 0.5))
    assembly = Assembly("torn", (long,), (hinge, tied))
    with pytest.raises(AssemblyError, match=r"joint '\w+' stays open"):
        assembly.assemble(assembly.place())


def test_a_step_that_is_too_long_ends_in_a_typed_error_with_what_was_before():
    assembly = pendulum(1)
    start = assembly.place({"joint_1": 0.0}, rates={"joint_1": 40.0})
    with pytest.raises(AssemblyStepError, match="smaller step|Newton") as caught:
        assembly.simulate(1.0, 0.1, start)
    assert not caught.value.run.frame.isna().any(axis=None)
