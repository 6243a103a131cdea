"""A moving floor, and a floor with patches."""

import math

import numpy as np
import pytest

from biped import Fall, InputError, Patch, Platform, Push, Signal, State, human, rigid_box, simulate
from biped.control.controller import Controller
from contact import Floor
from controllers import JointImpedance
from experiments.catalogue.registry import experiment_named

STICKY = Floor(mu_s=2.0, mu_d=2.0)
ROUGH = Floor(mu_s=0.5, mu_d=0.5)
MASS = 3.0


@pytest.fixture(scope="module")
def box():
    return rigid_box(MASS, (0.3, 0.2, 0.1))


def at_rest_on_floor(model, floor):
    sink = model.total_mass * 9.81 / (floor.k_n * 4)
    q = model.neutral()
    q[2] = 0.05 - sink
    return State.at(model, q)


def accelerated(a, duration):
    """a t²/2, exactly."""
    end = [0.5 * a * duration**2, 0.0, 0.0]
    return Signal(np.array([0.0, duration]), np.array([[0.0, 0.0, 0.5 * a], end]))


@pytest.mark.parametrize("step", [5e-4, 2e-3])
def test_an_accelerated_floor_is_another_gravity(step):
    """In the floor's frame the motion equals that under gravity − a, to round-off: steps are Galilei invariant."""
    person, span = human(), 1.0
    a = np.array([0.8, -0.5, 0.6])
    platform = Platform(x=accelerated(a[0], 9.0), y=accelerated(a[1], 9.0), z=accelerated(a[2], 9.0))
    start = person.configuration((0.0, 0.0, 1.2288))
    moved = simulate(
        person, JointImpedance(), state=State.at(person, start), floor=ROUGH, disturbances=[platform],
        duration=span, step=step,
    )  # fmt: skip
    heavy = person.with_gravity(np.array([0.0, 0.0, -9.81]) - a)
    still = simulate(heavy, JointImpedance(), state=State.at(heavy, start), floor=ROUGH, duration=span, step=step)
    times = moved.frame["time"].to_numpy()
    for axis, rate in zip("xyz", a, strict=True):
        shift = moved.frame[f"body_{axis}"].to_numpy() - 0.5 * rate * times**2
        assert np.abs(shift - still.frame[f"body_{axis}"]).max() < 1e-9
        assert np.abs(moved.frame[f"platform_{axis}"] - 0.5 * rate * times**2).max() < 1e-14
    joints = [name for name in still.frame if name.startswith("angle_")]
    assert np.abs(moved.frame[joints].to_numpy() - still.frame[joints].to_numpy()).max() < 1e-8
    modes = [name for name in still.frame if name.endswith("_mode")]
    assert np.array_equal(moved.frame[modes], still.frame[modes])


def test_a_lifted_box_gains_the_work_of_the_floor(box):
    platform = Platform(z=Signal.step(0.4, 0.1, 0.5))
    run = simulate(
        box, state=at_rest_on_floor(box, ROUGH), floor=ROUGH, disturbances=[platform], duration=1.5, step=1e-3
    )
    end = run.frame.iloc[-1]
    assert end["body_z"] - run.frame["body_z"].iloc[0] == pytest.approx(0.4, abs=1e-6)
    assert end["ledger_platform"] == pytest.approx(MASS * 9.81 * 0.4, rel=1e-3)
    assert run.summary["ledger_residual"] < 1e-4
    stored = end["ledger_contact_stored"] - run.frame["ledger_contact_stored"].iloc[0]
    left = end["ledger_platform"] - end["ledger_dissipated"] - stored
    assert end["ledger_contacts"] == pytest.approx(left, abs=1e-9)


@pytest.mark.parametrize(("share", "holds"), [(0.97, True), (1.03, False)])
@pytest.mark.parametrize("axis", ["roll", "pitch"])
def test_a_box_slides_off_a_tilted_floor_at_the_friction_angle(box, axis, share, holds):
    angle = share * math.atan(ROUGH.mu_s)
    platform = Platform(**{axis: Signal.step(angle, 0.0, 1.5)})
    run = simulate(
        box, state=at_rest_on_floor(box, ROUGH), floor=ROUGH, disturbances=[platform], duration=3.0, step=1e-3
    )
    late = run.frame.iloc[-1]
    force = np.array([sum(late[f"contact_{name}_f{a}"] for name in box.contact_names) for a in "xyz"])
    travelled = np.linalg.norm(
        np.diff(run.frame.loc[run.frame["time"] > 1.8, ["body_x", "body_y", "body_z"]].iloc[[0, -1]].to_numpy(), axis=0)
    )
    if holds:
        assert np.abs(force - [0.0, 0.0, MASS * 9.81]).max() < 1e-3
        assert travelled < 1e-5
        return
    normal = MASS * 9.81 * math.cos(angle)
    a = 9.81 * (math.sin(angle) - ROUGH.mu_d * math.cos(angle))
    assert np.linalg.norm(force) == pytest.approx(normal * math.hypot(1.0, ROUGH.mu_d), rel=1e-3)
    assert travelled > 0.3 * a * 1.2**2 / 2


def test_a_floor_that_turns_takes_along_what_sticks_to_it(box):
    """The box follows a quarter turn about a pivot off its middle."""
    pivot = (0.5, 0.0, 0.0)
    platform = Platform(yaw=Signal.step(math.pi / 2, 0.0, 2.0), pivot=pivot)
    run = simulate(
        box, state=at_rest_on_floor(box, STICKY), floor=STICKY, disturbances=[platform], duration=3.0, step=1e-3
    )
    end = run.frame.iloc[-1]
    assert (end["body_x"], end["body_y"]) == pytest.approx((0.5, -0.5), abs=2e-4)
    assert 2 * math.atan2(end["body_qz"], end["body_qw"]) == pytest.approx(math.pi / 2, abs=2e-4)
    assert run.summary["foot_creep"] < 1e-6
    assert run.summary["momentum_defect"] < 1e-10


def test_a_sliding_box_is_slowed_by_what_it_is_on(box):
    """The deceleration is μ g on the floor, and a tenth of it on the patch once all points are on it."""
    ice = Patch((0.6, 9.0), (-1.0, 1.0), ROUGH.with_(mu_s=0.05, mu_d=0.05))
    state = at_rest_on_floor(box, ROUGH)
    state = State.at(box, state.q, [4.0, 0, 0, 0, 0, 0])
    run = simulate(box, state=state, floor=ROUGH, disturbances=[ice], duration=0.6, step=5e-4)
    x, v, t = (run.frame[name].to_numpy() for name in ("body_x", "body_vx", "time"))
    rear = x - 0.15
    for inside, mu in (((x + 0.15 < 0.6) & (t > 0.05), 0.5), (rear > 0.62, 0.05)):
        slope = np.polyfit(t[inside], v[inside], 1)[0]
        assert slope == pytest.approx(-mu * 9.81, rel=0.02)
    assert run.summary["ledger_residual"] < 1e-3


def test_a_stiffer_patch_is_booked(box):
    """The springs' energy jumps at the edge; the energy balance still closes."""
    hard = Patch((0.3, 9.0), (-1.0, 1.0), ROUGH.with_(k_n=3.0 * ROUGH.k_n))
    state = State.at(box, at_rest_on_floor(box, ROUGH).q, [3.0, 0, 0, 0, 0, 0])
    run = simulate(box, state=state, floor=ROUGH, disturbances=[hard], duration=0.8, step=5e-4)
    frame = run.frame
    stored = frame["ledger_contact_stored"] - frame["ledger_contact_stored"].iloc[0]
    assert np.abs(frame["ledger_contacts"] + frame["ledger_dissipated"] + stored).max() < 1e-9
    assert frame["body_z"].iloc[-1] > frame["body_z"].iloc[0]


def test_a_set_point_that_goes_with_the_feet_goes_with_the_floor():
    """After a slow ride of 30 cm, a set point fixed in the world is too far away; one at the feet is not."""
    changes = {"platform.motion": "step", "platform.axis": "y", "platform.size": 0.3, "platform.rise": 2.0}
    for reference, verdict in (("feet", "recovered"), ("world", "lost control")):
        run = experiment_named("balance").run(changes | {"controller.reference": reference, "run.duration": 4.0})
        assert run.summary["verdict"] == verdict


@pytest.mark.parametrize("axis", ["x", "y"])
def test_a_set_point_at_the_feet_is_measured_where_the_floor_has_taken_it(axis):
    """After the ride the body is at its set point; the numbers are equal with and without tables."""
    changes = {
        "platform.motion": "step", "platform.axis": axis, "platform.size": 0.2, "platform.rise": 2.0,
        "controller.reference": "feet", "run.duration": 4.0,
    }  # fmt: skip
    run = experiment_named("balance").run(changes)
    metrics = run.summary["metrics"]
    assert run.summary["position_error"] < 2e-3
    assert metrics["position_error"] == pytest.approx(run.summary["position_error"], rel=1e-9)
    assert metrics["peak_position_error"] < 0.1
    assert metrics["settling_time"] is not None
    assert run.set_point.on_floor


@pytest.mark.parametrize(("size", "verdict"), [(-0.6, "recovered"), (0.6, "recovered")])
def test_a_fall_is_counted_from_the_floor(size, verdict):
    """A body whose joints are held does not fall when it is carried down or up."""
    person = human()
    start = State.at(person, person.configuration((0.0, 0.0, 1.2288)))
    lift = Platform(z=Signal.step(size, 0.2, 1.5))
    run = simulate(person, JointImpedance(), state=start, disturbances=[lift], duration=2.0, step=1e-3, fall=Fall())
    start = run.state
    assert run.summary["verdict"] == verdict
    with_limit = Fall(height=1.3)
    start = State.at(person, person.configuration((0.0, 0.0, 1.2288)))
    run = simulate(person, JointImpedance(), state=start, disturbances=[lift], duration=2.0, step=1e-3, fall=with_limit)
    assert run.summary["fell_at"] == 0.0


def test_a_floor_does_not_jump_between_runs(box):
    moved = Platform(x=Signal.step(0.05, 0.1, 0.3))

    def go(state, *platform, duration=0.3):
        return simulate(box, state=state, floor=ROUGH, disturbances=platform, duration=duration, step=1e-3).state

    with pytest.raises(InputError, match=r"jump at 0 s: a Platform's motion must not begin before the run"):
        go(at_rest_on_floor(box, ROUGH), Platform(x=Signal.step(0.05, -1.0, 0.3)))
    for duration in (0.3, 0.5):  # while it moves, and when it has stopped
        state = go(at_rest_on_floor(box, ROUGH), moved, duration=duration)
        for other in ((), (Platform(x=Signal.step(0.06, 0.1, 0.3)),)):
            with pytest.raises(InputError, match=r"jump at 0\.[35] s"):
                go(state.copy(), *other)
        go(state, moved)
    there_and_back = Platform(x=Signal.sine(0.02, 2.0, 0.0, 0.5))
    go(go(at_rest_on_floor(box, ROUGH), there_and_back, duration=0.6))


def test_the_compiled_set_point_at_the_feet_is_that_of_python():
    class InPython(Controller):
        def __init__(self, controller):
            self.period, self.torques = controller.period, controller.torques

    setup = experiment_named("balance").build({"controller.reference": "feet"})
    platform = Platform(y=Signal.sine(0.02, 1.0, 0.0, 1.0))
    runs = [
        simulate(
            setup.model,
            c,
            state=setup.state.copy(),
            floor=setup.floor,
            disturbances=[platform],
            duration=0.3,
            step=1e-3,
        )
        for c in (setup.controller, InPython(setup.controller))
    ]
    joints = [name for name in runs[0].frame if name.startswith("angle_")]
    assert np.abs(runs[0].frame[joints].to_numpy() - runs[1].frame[joints].to_numpy()).max() < 1e-9


def test_refusals(box):
    step = Signal.step(0.1)
    for make, words in (
        (lambda: Platform(), "nothing moves"),
        (lambda: Platform(x=Signal.rectangle(0.1, 0.0, 1.0)), "start"),
        (lambda: Platform(x=Signal.sampled([0, 1], [0.1, 0.2])), "it must start at zero; subtract 0.1 from all"),
        (lambda: Platform(x=Signal(np.array([0.0, 1.0]), np.array([[0.0, 0.0], [1.0, 0.0]]))), "jumps"),
        (lambda: Patch((1.0, 1.0), (0.0, 1.0), ROUGH), "less than"),
        (lambda: simulate(box, disturbances=[Platform(x=step), Platform(y=step)]), "at most one"),
        (lambda: simulate(box, disturbances=[Platform(x=step)], integrator="rk4"), "does not support a moving floor"),
    ):
        with pytest.raises(InputError, match=words):
            make()


def test_balance_on_a_swaying_floor_and_under_a_push_keeps_its_books():
    setup = experiment_named("balance").build({"controller.reference": "feet"})
    platform = Platform(
        pitch=Signal.sine(math.radians(2), 0.5, 0.2, 4.0, fade=0.4), y=Signal.ternary(0.02, 0.25, 3, start=0.3)
    )
    push = Push("trunk", (-1.0, 0.5, 0.0), 4.0, start=1.0)
    run = simulate(
        setup.model, setup.controller, state=setup.state, floor=setup.floor, disturbances=[platform, push],
        duration=4.0, step=1e-3, fall=Fall(),
    )  # fmt: skip
    assert run.verdict_line == "undecided: the floor's motion still acts"
    assert run.summary["momentum_defect"] < 1e-9
    assert run.summary["ledger_residual"] < 2e-3
