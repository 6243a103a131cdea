"""The integrators to compare with: explicit and semi-implicit Euler, RK4, DOP853. They are what textbooks say."""

import os
import signal
from dataclasses import replace

import numpy as np
import pytest

from biped import Controller, Fall, Impedance, InputError, IntegrationError, RunInterrupted, State, dynamics, simulate
from biped.disturbances import Push, Throw
from biped.integrators import (
    Adaptive,
    ExplicitEuler,
    Maximal,
    Recursive,
    RungeKutta4,
    SemiImplicitEuler,
    integrator_named,
)
from biped.kernels.state.simulation_state import ACTUATORS, CONTACT, INTO_TICK, PUSHES
from biped.model import Model, chain, human, random_tree, rigid_box
from contact import RUBBER
from contact.modes import SLIDING, STICKING
from controllers import JointImpedance, WorkspaceController
from experiments.catalogue.registry import experiment_named

from ...conftest import assert_same_arrays
from .motions import thrown
from .textbook import Forces, exact, matrix, step

KINDS = ("revolute", "prismatic", "spherical")
EXPLICIT = [ExplicitEuler(), SemiImplicitEuler(), RungeKutta4()]
ALL = [*EXPLICIT, Adaptive()]
CONTROLLER = WorkspaceController((-0.01, 0.0, 1.14), (0.99144486, 0.0, -0.13052619, 0.0))
SPAN = 0.128


def by_name(integrator):
    return integrator.name


def swinging() -> tuple[Model, State]:
    model = chain(4).without_contacts()
    return model, State.at(model, model.configuration(angles=dict.fromkeys(model.joint_names, 0.4)))


def flying() -> tuple[Model, State]:
    model = human().without_contacts()
    return model, thrown(model, 5)


def of_all_joints(floating: bool) -> tuple[Model, State]:
    model = random_tree(np.random.default_rng(4), 8, floating=floating, kinds=KINDS, armature=0.2)
    return model, thrown(model, 5)


SYSTEMS = {
    "chain": swinging, "human in flight": flying, "floating tree": lambda: of_all_joints(True),
    "fixed tree": lambda: of_all_joints(False),
}  # fmt: skip


def velocity(state: State) -> np.ndarray:
    return np.linalg.solve(dynamics.mass_matrix(state.model, state.q), state.momentum)


def end_of(model: Model, state: State, integrator, h: float, span: float = SPAN) -> np.ndarray:
    state = state.copy()
    state = simulate(model, state=state, step=h, duration=span, record_every=span, integrator=integrator).state
    return np.concatenate([state.q, velocity(state)])


@pytest.fixture(scope="module", params=SYSTEMS)
def system(request):
    model, state = SYSTEMS[request.param]()
    return model, state, np.concatenate(exact(model, state.q, velocity(state), SPAN))


def case(system, integrator):
    long = system == "chain" and integrator.name == "explicit-euler"
    return pytest.param(system, integrator, id=f"{system}-{integrator.name}", marks=pytest.mark.slow if long else ())


CASES = [case(system, integrator) for system in SYSTEMS for integrator in EXPLICIT]


@pytest.mark.parametrize(("system", "integrator"), CASES, indirect=["system"])
def test_orders_against_an_independent_integrator(system, integrator):
    model, state, reference = system
    steps = SPAN / (np.array([64, 128, 256]) // (2 if integrator.order > 1 else 1))
    errors = [np.linalg.norm(end_of(model, state, integrator, h) - reference) for h in steps]
    measured = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert measured == pytest.approx(integrator.order, abs=0.05)


CHAIN, *OTHERS = SYSTEMS


@pytest.mark.parametrize("system", [pytest.param(CHAIN, marks=pytest.mark.slow), *OTHERS], indirect=True)
def test_dop853_is_as_exact_as_its_tolerances_whatever_the_step(system):
    model, state, reference = system
    for parts in (1, 16):
        close = end_of(model, state, Adaptive(1e-12, 1e-12), SPAN / parts)
        coarse = end_of(model, state, Adaptive(1e-5, 1e-5), SPAN / parts)
        assert np.linalg.norm(close - reference) < 1e-9
        assert np.linalg.norm(coarse - reference) < 1e-2


def test_the_recursive_integrator_converges_to_dop853(system):
    model, state, _ = system
    reference = end_of(model, state, Adaptive(1e-12, 1e-12), SPAN)
    errors = [np.linalg.norm(end_of(model, state, Recursive(), SPAN / n) - reference) for n in (512, 1024)]
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.1)
    assert np.linalg.norm(end_of(model, state, RungeKutta4(), SPAN / 1024) - reference) < 1e-3 * errors[1]


def in_stance(rng: np.random.Generator) -> tuple[Model, State, Impedance]:
    model = human()
    joints = {name: float(rng.uniform(-0.3, 0.3)) for name in model.joint_names}
    q = model.configuration((0.3, -0.2, 1.0), angles=joints)
    lowest = dynamics.forward_kinematics(model, q).contact[:, 2]
    q[2] -= np.sort(lowest)[5] + 1e-3
    state = State.at(model, q, 0.5 * rng.normal(size=model.nv))
    down = np.flatnonzero(state.arrays.mode == SLIDING)
    assert len(down) >= 5
    state.arrays.mode[down[::2]] = STICKING
    state.arrays.anchor[down[::4]] += 0.05
    impedance = Impedance(
        dict.fromkeys(model.joint_names, 300.0), dict.fromkeys(model.joint_names, 5.0), {model.joint_names[3]: 0.2}
    )
    return model, state, impedance


class Springs(Controller):
    period = 1e-4

    def __init__(self, impedance: Impedance, torques: np.ndarray) -> None:
        self.values, self.held = impedance, torques

    def impedance(self, model: Model) -> Impedance:
        return self.values

    def torques(self, observation) -> np.ndarray:
        return self.held


@pytest.mark.parametrize("integrator", EXPLICIT, ids=by_name)
def test_one_step_in_stance_is_the_textbooks(integrator):
    """All forces and all books, set against NumPy: contacts, impedance, held torques, a push off centre."""
    rng = np.random.default_rng(8)
    model, state, impedance = in_stance(rng)
    h = 1e-4
    controller = Springs(impedance, 30.0 * rng.normal(size=len(model.joint_names)))
    push = Push("trunk", (1.0, 2.0, 0.5), 5.0, start=0.3 * h, duration=0.2, waveform="half-sine", point=(0.1, 0.2, 0.3))
    mean_force = np.array(push.delivered(0.0, h)) / h
    q, v, momentum, arrays = state.q.copy(), velocity(state), state.momentum.copy(), state.copy().arrays
    state = simulate(
        model, controller, state=state, step=h, duration=h, integrator=integrator, disturbances=[push]
    ).state
    after = state.arrays
    forces = Forces(
        RUBBER, arrays.mode, arrays.anchor, after.torque, after.stiffness, after.damping, after.setpoint,
        [(push, mean_force)],
    )  # fmt: skip
    wanted = step(integrator.name, model, q, v, h, forces)
    end = dynamics.mass_matrix(model, wanted.q) @ wanted.v
    np.testing.assert_allclose(state.q, wanted.q, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(state.momentum, end, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(after.force, wanted.force, rtol=0.0, atol=1e-7)
    assert np.abs(wanted.force[:, :2]).max() > 10.0
    arm = [dynamics.forward_kinematics(model, x) for x in (q, state.q)]
    trunk = model.body_index("trunk")
    places = [np.array(a.position[trunk]) + matrix(a.orientation[trunk]) @ push.point for a in arm]
    assert after.ledger.works[ACTUATORS] == pytest.approx(h * wanted.joint_power, rel=1e-9)
    assert after.ledger.works[CONTACT] == pytest.approx(h * wanted.contact_power, rel=1e-9)
    assert after.ledger.works[PUSHES] == pytest.approx(mean_force @ (places[1] - places[0]), rel=1e-9)
    weight = model.total_mass * np.array(model.gravity)
    impulse = h * (weight + wanted.force.sum(axis=0) + mean_force)
    gained = end[:3] - momentum[:3]
    turned = end[3:6] + np.cross(wanted.q[:3], end[:3]) - momentum[3:6] - np.cross(q[:3], momentum[:3])
    np.testing.assert_allclose(after.ledger.impulse, [*impulse, *(h * wanted.moment)], rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(after.ledger.defect[:3], gained - impulse, rtol=0.0, atol=1e-9)
    about_origin = after.ledger.defect[3:] + np.cross(q[:3], after.ledger.defect[:3])
    np.testing.assert_allclose(about_origin, turned - h * wanted.moment, rtol=0.0, atol=1e-9)
    if integrator.order == 1:
        assert np.linalg.norm(after.ledger.defect[3:]) > 1e-5


@pytest.mark.parametrize("integrator", EXPLICIT, ids=by_name)
def test_the_books_show_the_error_to_the_methods_own_order(integrator):
    model, state = flying()
    steps = np.array([2e-3, 1e-3, 5e-4])
    found = []
    for h in steps:
        run = simulate(
            model, JointImpedance(50.0, 0.5), state=state.copy(), step=float(h), duration=0.1, integrator=integrator
        )
        assert abs(run.frame["ledger_actuators"].iloc[-1]) > 1.0
        names = ("ledger_residual", "momentum_defect", "angular_momentum_defect")
        found.append([run.summary[name] for name in names])
    for book in np.array(found).T:
        assert book.min() > 1e-12
        assert np.polyfit(np.log(steps), np.log(book), 1)[0] == pytest.approx(integrator.order, abs=0.15)


def test_dop853_keeps_the_books_to_its_tolerance():
    model, state = flying()
    run = simulate(model, JointImpedance(50.0, 0.5), state=state, step=2e-3, duration=0.1, integrator=Adaptive())
    assert run.summary["ledger_residual"] < 1e-7
    assert run.summary["momentum_defect"] < 1e-8


def test_energy_of_a_pendulum():
    model = chain(1).without_contacts()
    state = State.at(model, [1.0])
    error = {}
    for integrator in (ExplicitEuler(), SemiImplicitEuler(), RungeKutta4()):
        run = simulate(model, state=state.copy(), step=1e-3, duration=40.0, record_every=0.01, integrator=integrator)
        error[integrator.name] = run.frame["ledger_residual"].to_numpy()
    half = len(error["rk4"]) // 2
    scale = model.total_mass * 9.81
    assert error["explicit-euler"][half] > 0.01 * scale
    assert error["explicit-euler"][-1] > 1.5 * error["explicit-euler"][half]
    bounded = np.abs(error["semi-implicit-euler"])
    assert bounded[half:].max() < 1.05 * bounded[:half].max() < 0.01 * scale
    assert np.abs(error["rk4"]).max() < 1e-9 * scale


def test_semi_implicit_euler_drifts_in_flight():
    model = human().without_contacts().with_gravity((0.0, 0.0, 0.0))
    kept = thrown(model, 1)
    lost = kept.copy()
    lost = simulate(model, state=lost, step=1e-3, duration=2.0, integrator=SemiImplicitEuler()).state
    kept = simulate(model, state=kept, step=1e-3, duration=2.0).state
    change = lost.momentum[:3] - kept.momentum[:3]
    np.testing.assert_allclose(lost.arrays.ledger.defect[:3], change, atol=1e-9)
    assert np.linalg.norm(change) > 0.1


@pytest.mark.parametrize(
    ("integrator", "symplectic"), [(Recursive(tolerance=1e-13), True), (SemiImplicitEuler(), False)]
)
def test_which_maps_are_symplectic(integrator, symplectic):
    """Jᵀ Ω J = Ω for the derivative J of a step (q, p) → (q', p') of a double pendulum, whose M depends on q."""
    model = chain(2).without_contacts()
    h, size = 2e-2, 1e-5
    at = np.array([0.4, 1.1, 0.7, -0.5])

    def after(y: np.ndarray) -> np.ndarray:
        state = State.at(model, y[:2], np.linalg.solve(dynamics.mass_matrix(model, y[:2]), y[2:]))
        state = simulate(model, state=state, step=h, duration=h, integrator=integrator).state
        return np.concatenate([state.q, state.momentum])

    columns = [(after(at + size * e) - after(at - size * e)) / (2.0 * size) for e in np.eye(4)]
    derivative = np.array(columns).T
    omega = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.eye(2), np.zeros((2, 2))]])
    wrong = np.abs(derivative.T @ omega @ derivative - omega).max()
    assert wrong < 1e-6 if symplectic else wrong > 1e-3


@pytest.fixture(scope="module")
def standing():
    state = experiment_named("thrown-block").build().state.copy()
    state = simulate(human(), CONTROLLER, state=state, duration=2.0).state
    assert np.all(state.arrays.mode == STICKING)
    return state


NUDGE = Push("trunk", (1.0, 0.5, 0.0), 2.0, start=2.01, duration=0.04, waveform="half-sine")


def nudged(state: State, integrator, h: float) -> np.ndarray:
    """The trunk's way after a nudge that lets all points stick; the controller's period is the same for all."""
    state = state.copy()
    run = simulate(
        state.model, CONTROLLER, state=state, step=h, duration=0.1, integrator=integrator, disturbances=[NUDGE],
        fall=Fall(),
    )  # fmt: skip
    state = run.state
    assert run.summary["verdict"] == "undecided"  # so soon after a nudge
    assert np.all(state.arrays.mode == STICKING)
    return run.frame[["body_x", "body_y", "body_z", "body_qx", "body_qy", "body_qz"]].to_numpy()


@pytest.mark.parametrize("integrator", [SemiImplicitEuler(), RungeKutta4(), Adaptive()], ids=by_name)
def test_standing_agrees_with_the_recursive_integrator(standing, integrator):
    """Within first order in the step; pushes act by their mean force in a step, alike in all."""
    adaptive = isinstance(integrator, Adaptive)
    steps = [1e-3, 5e-4] if adaptive else [1e-4, 5e-5]
    reference = nudged(standing, Recursive(), 1.25e-5)
    moved = np.abs(reference - reference[0]).max()
    assert moved > 1e-4
    errors = [np.abs(nudged(standing, integrator, h) - reference).max() for h in steps]
    assert errors[0] < 1e-2 * moved
    assert errors[1] < 0.6 * errors[0]


@pytest.mark.parametrize("integrator", ALL, ids=by_name)
def test_a_box_at_rest_stays(integrator):
    model = rigid_box(2.0, (0.2, 0.2, 0.2))
    depth = 2.0 * 9.81 / (model.nc // 2 * RUBBER.k_n)
    state = State.at(model, [0.0, 0.0, 0.1 - depth, 1.0, 0.0, 0.0, 0.0])
    start = state.q.copy()
    run = simulate(model, state=state, step=1e-4, duration=0.1, integrator=integrator)
    state = run.state
    np.testing.assert_allclose(state.q, start, rtol=0.0, atol=1e-12)
    down = run.frame.filter(regex="_fz$").to_numpy()[-1]
    assert down.sum() == pytest.approx(2.0 * 9.81)
    assert np.count_nonzero(state.arrays.mode == STICKING) == model.nc // 2


BLOCK = Throw(1.8, (0.1216,) * 3, (0.25, 0.1, 1.2), (-4.5, 0.0, 0.2))
PUSH = Push("trunk", (0.0, 1.0, 0.0), 4.0, start=0.0111, duration=0.0333, waveform="half-sine")


@pytest.mark.parametrize("integrator", [*ALL, Maximal()], ids=by_name)
@pytest.mark.parametrize("split", [0.011, 0.0172])
def test_save_and_continue_bit_for_bit(person, posture, tmp_path, integrator, split):
    def go(state: State, duration: float):
        acting = [one for one in (BLOCK, PUSH) if one.begins < state.time + duration]
        return simulate(
            person, CONTROLLER, state=state, step=2e-4, duration=duration, integrator=integrator,
            disturbances=acting, fall=Fall(),
        )  # fmt: skip

    run = go(posture(person), 0.03)
    assert (run.events["kind"] == "impact").any()
    go(posture(person), split).state.save(tmp_path / "state.npz")
    rest = go(State.load(tmp_path / "state.npz", person), 0.03 - split)
    late, continued = (one.frame[one.frame["time"] > split + 1e-9].reset_index(drop=True) for one in (run, rest))
    columns = [name for name in late if name != "newton_iterations" and not name.startswith("gap_")]
    assert late[columns].equals(continued[columns])
    run.state.arrays.counts[2] = rest.state.arrays.counts[2] = 0  # the most iterations of each run
    assert_same_arrays(run.state.arrays, rest.state.arrays)
    assert np.array_equal(run.state.projectile, rest.state.projectile)


def finite(run) -> bool:
    return bool(np.all(np.isfinite(run.frame.to_numpy(dtype=float))))


@pytest.mark.parametrize("integrator", EXPLICIT, ids=by_name)
@pytest.mark.parametrize("h", [5e-4, 1e-3, 2e-3])
def test_too_large_a_step_in_stance_is_told_to_be_unreliable(person, posture, integrator, h):
    run = simulate(person, CONTROLLER, state=posture(person), step=h, duration=3.0, integrator=integrator, fall=Fall())
    assert run.summary["verdict"] == "unreliable"
    assert finite(run)
    assert np.all(np.isfinite(run.state.q))


@pytest.mark.parametrize("integrator", EXPLICIT, ids=by_name)
def test_what_blows_up_is_an_error_and_never_a_row(integrator):
    model, state = swinging()
    with pytest.raises(
        IntegrationError, match=r"no solution of the time step at [\d.]+ s: a number is not finite; contact modes none"
    ) as caught:
        simulate(model, JointImpedance(1e4, 1e3, period=1e-3), state=state, step=1e-3, integrator=integrator)
    assert caught.value.run is not None
    assert len(caught.value.run.frame) > 2
    assert finite(caught.value.run)
    assert np.all(np.isfinite(caught.value.run.state.q))
    assert np.all(np.isfinite(caught.value.run.state.momentum))


def test_what_scipy_cannot_integrate_is_an_error():
    model, state = swinging()
    before = state.q.copy()
    with pytest.raises(IntegrationError, match="no solution of the time step at 0 s") as caught:
        simulate(model, JointImpedance(0.0, 1e300), state=state, duration=1.0, step=1e-3, integrator=Adaptive())
    assert np.array_equal(caught.value.run.state.q, before)


class Constant(Controller):
    period = 2e-3

    def torques(self, observation):
        return np.linspace(-1.0, 1.0, len(observation.model.joint_names))


def test_dop853_takes_any_controller_and_records_the_same_columns(person, posture):
    for controller in (None, Constant(), JointImpedance(), CONTROLLER):
        runs = [
            simulate(person, controller, state=posture(person), step=5e-4, duration=0.006, integrator=integrator)
            for integrator in (Recursive(), Adaptive())
        ]
        assert list(runs[0].frame.columns) == list(runs[1].frame.columns)
        for run in runs:
            assert finite(run)
        first = [run.frame.filter(regex="^(torque|desired)_").to_numpy()[0] for run in runs]
        np.testing.assert_allclose(*first, rtol=1e-12, atol=1e-9)
    assert np.abs(runs[1].frame["desired_fz"]).min() > 100.0


@pytest.mark.parametrize(("controller", "last"), [(Constant(), 7), (CONTROLLER, 8)], ids=["python", "compiled"])
def test_ctrl_c_leaves_whole_steps_or_ticks_that_can_be_continued(person, posture, monkeypatch, controller, last):
    from biped.integrators.explicit import adaptive

    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have left it ignored
    whole = posture(person)
    whole = simulate(person, controller, state=whole, step=5e-4, duration=0.01, integrator=Adaptive()).state
    calls = []

    def interrupted(*arguments):
        calls.append(1)
        if len(calls) == 7:
            os.kill(os.getpid(), signal.SIGINT)
        return end_flow(*arguments)

    end_flow = adaptive.end_flow
    monkeypatch.setattr(adaptive, "end_flow", interrupted)
    state = posture(person)
    with pytest.raises(RunInterrupted) as caught:
        simulate(person, controller, state=state, step=5e-4, duration=0.01, integrator=Adaptive())
    assert len(calls) == last
    assert caught.value.run.summary["verdict"] == "interrupted"
    state = caught.value.run.state
    assert state.steps == last
    assert state.arrays.counts[INTO_TICK] == last % 4
    left = 5e-4 * (20 - last)
    state = simulate(person, controller, state=state, step=5e-4, duration=left, integrator=Adaptive()).state
    assert state.steps == 20
    assert_same_arrays(whole.arrays, state.arrays)


@pytest.mark.parametrize("value", [0.0, -1e-6, np.nan, np.inf, "a"])
@pytest.mark.parametrize("name", ["relative_tolerance", "absolute_tolerance"])
def test_tolerances_are_checked(name, value):
    with pytest.raises(InputError, match=f"integrator.{name} = .*: it must be a finite number"):
        Adaptive(**{name: value})


def test_least_relative_tolerance():
    with pytest.raises(InputError, match="1e-13 or above"):
        Adaptive(relative_tolerance=1e-14)
    model, state = swinging()
    simulate(model, state=state, duration=0.01, integrator=Adaptive(1e-13, 1e-14))


def test_settings_by_name():
    assert integrator_named("dop853", relative_tolerance=1e-6) == Adaptive(1e-6)
    with pytest.raises(InputError, match="integrator 'rk4' has no setting 'tolerance'; settings: none"):
        integrator_named("rk4", tolerance=1e-6)
    experiment = experiment_named("stand-tilted")
    chosen = experiment.build({"integrator.name": "dop853", "integrator.relative_tolerance": 1e-7}).integrator
    assert chosen == Adaptive(1e-7)
    with pytest.raises(InputError, match="integrator 'recursive' has no setting 'absolute_tolerance'"):
        experiment.build({"integrator.absolute_tolerance": 1e-3})


@pytest.mark.parametrize(("name", "h"), [("explicit-euler", 5e-5), ("semi-implicit-euler", 5e-5), ("rk4", 1e-4)])
def test_the_thesis_experiment_at_steps_that_are_said_to_do(name, h):
    experiment = experiment_named("stand-tilted")
    run = experiment.run({"integrator.name": name, "run.step": h})
    ours = experiment.run()
    assert run.summary["verdict"] == "recovered"
    assert run.summary["settling_time"] == pytest.approx(ours.summary["settling_time"], abs=0.01)
    assert run.summary["foot_creep"] < 1e-6
    difference = run.frame[["body_x", "body_y", "body_z"]] - ours.frame[["body_x", "body_y", "body_z"]]
    assert np.abs(difference.to_numpy()).max() < 2e-4


def test_states_are_those_of_any_integrator():
    model, state = swinging()
    state = simulate(model, state=state, duration=0.01, integrator=RungeKutta4()).state
    state = simulate(model, state=state, duration=0.01, integrator=Adaptive()).state
    run = simulate(model, state=state, duration=0.01, integrator=replace(Recursive(), max_iterations=10))
    assert run.state.time == pytest.approx(0.03)
