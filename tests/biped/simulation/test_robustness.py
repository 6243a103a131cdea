"""What could go wrong quietly: impacts anywhere in a step, long control periods, states handed on, odd arguments."""

import numpy as np
import pytest

from biped import Controller, Fall, Impedance, Push, Recursive, Run, State, Throw, simulate, standing
from biped.errors import InputError, IntegrationError
from biped.kernels.state.simulation_state import LAST_STEP_LENGTH
from biped.model import human, random_tree, rigid_box
from controllers import JointImpedance, JointPD, WorkspaceController, WorkspaceGains
from tests.refusals import refuses

CONTROLLER = WorkspaceController((-0.01, 0.0, 1.14), (0.99144486, 0.0, -0.13052619, 0.0))


def block(speed=4.5, **changes):
    values = {"mass": 1.8, "size": (0.1216,) * 3, "position": (0.5, 0.1, 1.2), "velocity": (-speed, 0.0, 0.2)}
    return Throw(**(values | changes))


@pytest.mark.parametrize("step", [1e-4, 2e-3 / 6, 2e-3 / 3])
def test_an_impact_may_come_anywhere_in_a_step(person, posture, step):
    """Whatever part of the step is left after it, no step of rounding length is taken, and forces stay sane."""
    for speed in np.linspace(4.4, 4.6, 12):
        state = posture(person)
        run = simulate(
            person, CONTROLLER, state=state, step=step, duration=0.1, disturbances=[block(speed)], fall=Fall()
        )
        state = run.state
        assert (run.events["kind"] == "impact").any()
        assert state.arrays.clock[LAST_STEP_LENGTH] >= 1e-6
        assert np.abs(state.arrays.cache.rate_change).max() < 1e5
        forces = run.frame.filter(regex="^contact_.*_f[xyz]$").to_numpy()
        assert np.abs(forces).max() < 2e4


class Slow(Controller):
    period = 1.0

    def torques(self, observation):
        return np.zeros(12)


@pytest.mark.parametrize("record_every", [None, 5e-4])
def test_control_periods_of_thousands_of_steps(person, record_every):
    aloft = person.with_gravity((0.0, 0.0, 0.0)).without_contacts()
    state = State.at(aloft)
    run = simulate(aloft, Slow(), state=state, duration=2.5, record_every=record_every)
    state = run.state
    assert run.state.time == pytest.approx(2.5)
    rest = simulate(aloft, Slow(), state=state, duration=0.7, record_every=record_every)
    assert rest.state.time == pytest.approx(3.2)


def test_what_a_controller_held_ends_with_it(person):
    state = State.at(person)
    state = simulate(person, JointImpedance(), state=state, duration=0.01).state
    state = simulate(person, JointPD(), state=state, duration=0.01).state
    assert not state.arrays.stiffness.any()
    assert state.arrays.torque.any()
    state = simulate(person, state=state, duration=0.01).state
    assert not state.arrays.torque.any()


def test_the_step_changes_at_control_ticks_only(person, posture):
    state = posture(person)
    state = simulate(person, CONTROLLER, state=state, step=1e-3, duration=0.002).state
    state = simulate(person, CONTROLLER, state=state, step=5e-4, duration=0.0005).state
    with pytest.raises(InputError, match="at a control tick only"):
        simulate(person, CONTROLLER, state=state, step=1e-3, duration=0.01)


def test_another_throw_is_another_throw(person, posture, tmp_path):
    state = posture(person)
    state = simulate(person, CONTROLLER, state=state, duration=0.5, disturbances=[block()], fall=Fall()).state
    state.save(tmp_path / "state.npz")
    state = State.load(tmp_path / "state.npz", person)
    flown = state.projectile.copy()
    state = simulate(person, CONTROLLER, state=state, duration=0.002, disturbances=[block()], fall=Fall()).state
    assert np.linalg.norm(state.projectile[:3] - flown[:3]) < 0.1
    again = simulate(person, CONTROLLER, state=state, duration=0.2, disturbances=[block(3.0)], fall=Fall())
    assert (again.events["kind"] == "impact").any()


def test_edges_are_known_from_the_start(person, posture):
    state = posture(person)
    state = simulate(person, CONTROLLER, state=state, duration=0.06, disturbances=[block()], fall=Fall()).state
    run = simulate(person, CONTROLLER, state=state, duration=0.1, disturbances=[block()], fall=Fall())
    lifted = {change["edge"] for change in run.summary["events"]["edges"] if change["change"] == "up"}
    assert lifted >= {"left_heel", "right_heel"}


def test_pushes_are_logged_with_what_they_delivered(person, posture, tmp_path):
    push = Push("trunk", (0.0, 3.0, 4.0), 5.0, start=0.05, duration=0.1, waveform="half-sine")
    state = posture(person)
    first = simulate(person, CONTROLLER, state=state, duration=0.1, disturbances=[push], fall=Fall())
    state = first.state
    second = simulate(person, CONTROLLER, state=state, duration=0.1, disturbances=[push], fall=Fall())
    for run, begin in ((first, 0.05), (second, 0.1)):
        ((_, event),) = run.events[run.events["kind"] == "push"].iterrows()
        assert event["time"] == pytest.approx(begin)
        assert event["subject"] == "trunk"
        assert [event[f"impulse_{axis}"] for axis in "xyz"] == pytest.approx([0.0, 1.5, 2.0])
        assert run.summary["events"]["pushes"][0]["impulse"] == pytest.approx([0.0, 1.5, 2.0])
    second.save(tmp_path)
    assert Run.load(tmp_path, person).events.equals(second.events)


def test_a_state_serves_its_own_model_only(person):
    from dataclasses import replace

    state = State.at(person)
    heavy = replace(person, bodies=tuple(replace(body, mass=2 * body.mass) for body in person.bodies))
    with pytest.raises(InputError, match="another model .*, with other masses"):
        simulate(heavy, state=state, duration=0.01)
    with pytest.raises(InputError, match="another model .*, with other masses"):
        simulate(person.without_contacts(), state=state, duration=0.01)
    simulate(person.with_gravity((0.0, 0.0, -1.62)), state=state, duration=0.01)


def test_backtracking_stays_on_the_line():
    rng = np.random.default_rng(2)
    model = random_tree(rng, 6, floating=True, kinds=("spherical",)).with_gravity((0.0, 0.0, 0.0))
    state = State.at(model, model.neutral(), 3.0 * rng.normal(size=model.nv))
    state.arrays.cache.rate[:] = 300.0 * rng.normal(size=model.nv)
    energy = simulate(model, state=state, step=1e-3, duration=0.05, integrator=Recursive(max_halvings=0))
    assert energy.summary["ledger_residual"] < 1e-2 * energy.frame["ledger_kinetic"].iloc[0]


def lifted(height):
    q = human().neutral()
    q[2] += height
    return q


@refuses(
    (lambda: Push("trunk", (1, 0, 0), "5"), r"push: \(impulse, start\)"),
    (lambda: Push("trunk", 1.0, 5.0), "push.direction = 1.0"),
    (lambda: block(mass="a"), "throw.mass = 'a'"),
    (lambda: WorkspaceGains(kp_position="abc"), "gain kp_position = 'abc'"),
    (lambda: WorkspaceGains(kp_position=None), "gain kp_position = None"),
    (lambda: WorkspaceController(("a", 1, 2)), "controller.target_position"),
    (lambda: WorkspaceController(period=-1.0), "controller.period = -1.0"),
    (lambda: Impedance({"left_knee_pitch": -1.0}), "impedance.stiffness of left_knee_pitch = -1.0"),
    (lambda: Impedance(damping={"left_knee_pitch": np.nan}), "impedance.damping of left_knee_pitch = nan"),
    (lambda: Recursive(max_halvings=63), "integrator.max_halvings = 63: it must be a whole number from 0 to 20"),
    (lambda: State.at(human(), time=np.nan), "time = nan"),
    (lambda: State.at(human(), np.zeros(19)), "the quaternion of joint 'body' has length 0: it must be 1"),
    (lambda: State.at(human(), ["x"] * 19), "it must be 19 numbers"),
    (lambda: simulate(human(), durations=1.0), "unknown option 'durations'; did you mean 'duration'"),
    (lambda: simulate(human(), WorkspaceController), "controller = the class WorkspaceController: it must be"),
    (lambda: simulate(human(), disturbances=["x"]), "disturbance 'x': it must be one of Actuators, Push, Force"),
    (lambda: simulate(human(), disturbances=[block(), block()]), "2 throws: a run can have at most one"),
    (lambda: simulate(human(), object()), "controller = object: it must be"),
    (lambda: simulate(human(), CONTROLLER, step=3e-4), "step = 0.0003 s does not divide the controller's period of "
     "0.002 s; the nearest steps that do: 0.000285714 or 0.000333333 s"),
    (lambda: simulate(human(), CONTROLLER, step=5e-3), "the nearest steps that do: 0.002 s"),
    (lambda: simulate(human(), step=-1.0), "step = -1.0"),
    (lambda: simulate(human(), step="a"), "step = 'a'"),
    (lambda: simulate(human(), duration=np.nan), "duration = nan"),
    (lambda: simulate(human(), record_every=7e-4), "does not divide record_every"),
    (lambda: simulate(human(), record_every=np.nan), "record_every is nan"),
    (lambda: simulate(human(), CONTROLLER, step=1e-12), "has over 100000 steps"),
    (lambda: simulate(human(), disturbances=[block(1000.0)]), "is too fast for a time step of 0.0005 s"),
    (lambda: simulate(human(), disturbances=[block(position=(0, 0, 1.2))]), "inside of the box of 'trunk'"),
    (lambda: simulate(rigid_box(1, (1, 1, 1)), CONTROLLER), "needs a floating root and feet"),
    (lambda: simulate(human(), CONTROLLER, state=State.at(human(), lifted(0.5))),
     "needs feet on the floor, but the lowest contact point of 'human' is 0.5 m above it"),
    (lambda: standing(rigid_box(1.0, (0.1, 0.1, 0.1))), "has other legs than human"),
    (lambda: standing(human(), trunk=(0.0, 0.0, 2.0)), "the legs do not reach"),
)  # fmt: skip
def test_bad_arguments_get_one_clear_line(act):
    act()


def test_a_push_along_a_huge_vector_pushes(person):
    aloft = person.with_gravity((0.0, 0.0, 0.0)).without_contacts()
    state = State.at(aloft)
    state = simulate(aloft, state=state, duration=0.2, disturbances=[Push("trunk", (1e200, 0.0, 0.0), 5.0)]).state
    assert state.momentum[0] == pytest.approx(5.0)


@pytest.mark.parametrize("seed", [16, 85, 141])
def test_a_run_that_has_blown_up_keeps_its_numbers_only(seed):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 8)
    state = State.at(model, model.neutral(), 30.0 * rng.normal(size=model.nv))
    with pytest.raises(IntegrationError) as caught:
        simulate(model, state=state, duration=0.3, step=1e-2, integrator="rk4")
    run = caught.value.run
    assert np.isfinite(run.frame.to_numpy()).all()
    assert len(run.frame) >= 1
