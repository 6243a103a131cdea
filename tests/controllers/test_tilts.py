"""Quiet-stance controllers on a tilting floor: closed forms of sway, people's gains, and falls."""

import math
from dataclasses import replace

import numpy as np
import pytest

from biped import Fall, Platform, Scene, Sensors, Signal, Stance, State, WholeBody, human, mass_matrix, simulate
from biped.disturbances.sensors import ForceChannel
from biped.disturbances.sensors.sensors import PRESETS
from contact import RUBBER
from controllers import Postural, Reweighting

from ..conftest import assert_goes_back

MODEL = human()
#: [Hz] All are multiples of 1/20 s.
FREQUENCIES = np.array([0.05, 0.15, 0.35, 0.65, 1.15])
CYCLE, STEP, ROW = 20.0, 1e-3, 0.01
ANKLE = 0.06  # [m] high
#: [N·m/rad] of joints that are to be rigid.
RIGID = 1e7


def rubber(times):
    return RUBBER.with_(**{name: times * getattr(RUBBER, name) for name in ("k_n", "b_n", "k_t", "b_t")})


def tilt(size):
    """Return a tilt about the ankles: sum of sines of random phases, ``size`` [rad] peak to peak."""
    phases = np.random.default_rng(1).uniform(0.0, 2.0 * math.pi, len(FREQUENCIES))
    t = np.arange(0.0, CYCLE, ROW)[:, None]
    each = size / np.ptp(np.sin(2.0 * math.pi * FREQUENCIES * t + phases).sum(axis=1))

    def sines(amplitude):
        sizes = [amplitude] * len(FREQUENCIES)
        return Signal.sum_of_sines(sizes, list(FREQUENCIES), list(phases), start=0.0, duration=200.0, fade=1.0)

    # Forwards is −x: it leans forwards as it turns about −y. The floor goes along, so that the ankles stay.
    return Platform(pitch=sines(-each), x=sines(ANKLE * each))


def response(law, size, delay, floor, cycles=3):
    """Return the response (5,) of sway about the ankles to floor tilt, after the initial transient."""
    q = Stance().configuration(MODEL, floor)
    law = replace(law, held_stiffness=RIGID, held_damping=1e-3 * RIGID, period=STEP).holding(MODEL, q)
    late = Sensors(delay=delay, force=ForceChannel(delay=delay))
    run = simulate(
        MODEL, law, state=State.at(MODEL, q), floor=floor, disturbances=[tilt(size), late], duration=cycles * CYCLE,
        step=STEP, fall=Fall(), record_every=ROW,
    )  # fmt: skip
    rows = run.frame.iloc[-1 - round(CYCLE / ROW) : -1]
    assert run.frame["time"].iloc[-1] == pytest.approx(cycles * CYCLE)
    turns = np.exp(-2j * math.pi * FREQUENCIES[:, None] * rows["time"].to_numpy())
    sway = -rows["com_x"].to_numpy() / (rows["com_z"].to_numpy() - ANKLE)
    return (turns @ sway) / (turns @ (-2.0 * np.arcsin(rows["platform_qy"].to_numpy())))


def pendulum():
    """Return J [kg·m²] and m g h [N·m/rad] of the body about its ankles, without the feet."""
    q = Stance().configuration(MODEL)
    body, about = WholeBody(MODEL, q), Postural().pendulum(MODEL)
    v = np.zeros(MODEL.nv)
    v[3:6] = MODEL.left
    feet = [MODEL.bodies[MODEL.body_index(foot)] for foot in MODEL.feet]
    ankles = [body.position(foot.name, -np.array(foot.com)) for foot in feet]
    v[:3] = np.cross(MODEL.left, body.position("trunk") - np.mean(ankles, axis=0))
    v[about.dof] = -about.turns
    of_feet = sum(9.81 * foot.mass * (body.position(foot.name) - at)[2] for foot, at in zip(feet, ankles, strict=True))
    return float(v @ mass_matrix(MODEL, q) @ v), about.toppling - float(of_feet)


def expected(law, delay):
    """Return the response (5,) of the docstrings, with discrete filters and held torques (half a period late).

    The controller's body sway is the slope of the line to the centre of mass, feet included: a φ + b ψ.
    """
    (J, toppling), about = pendulum(), Postural().pendulum(MODEL)
    whole, s = about.toppling, 2j * math.pi * FREQUENCIES
    a, b = (part * (1.0 + about.upright**2) for part in (toppling / whole, 1.0 - toppling / whole))
    ago = np.exp(-s * STEP)
    B, E = 1.0 / (J * s**2 - toppling), np.exp(-s * (delay + 0.5 * STEP))
    P = whole * (law.passive_stiffness + law.passive_damping * s)

    def low_pass(constant):
        kept = math.exp(-STEP / constant)
        return (1.0 - kept) / (1.0 - kept * ago)

    L = low_pass(law.smoothing)
    legs = L * (law.stiffness + law.damping * s * 0.5 * (1.0 + ago))  # rates are means of two ticks
    space = law.stiffness + law.damping * s
    if isinstance(law, Postural):
        F = law.torque_feedback / whole * low_pass(law.torque_feedback_time)
        fed = whole * E * F * (law.stiffness + law.damping * (1.0 - ago) / STEP)
        seen, of_sway = law.weight * legs, law.weight * legs + (1.0 - law.weight) * space
    else:
        tilt_rate = law.tilt_gain * L * s * 0.5 * (1.0 + ago)
        believed = STEP * tilt_rate / (1.0 - math.exp(-STEP / law.leak) * ago)
        fed = 0.0
        seen = law.servo * (legs - law.stiffness * believed - law.damping * tilt_rate)
        of_sway = law.servo * (legs + law.gravity_gain * space)
    seen, of_sway = whole * E * seen, whole * E * of_sway
    return a * B * (P + seen - b * of_sway) / (1.0 - fed + B * (P + a * of_sway)) + b


LINEAR = {
    "postural": Postural(
        stiffness=1.2, damping=0.4, weight=0.5, passive_stiffness=0.15, passive_damping=0.05, torque_feedback=0.1,
        torque_feedback_time=1.0,
    ),
    "reweighting": Reweighting(tilt_threshold=0.0, gravity_threshold=0.0, leak=2.0, passive_stiffness=0.1),
}  # fmt: skip


@pytest.mark.parametrize("name", list(LINEAR))
def test_the_sway_is_the_closed_forms(name):
    """The sway equals the closed form, extrapolated to a rigid floor (first order in its compliance).

    The remaining error is of second order in the compliance and in the lean of the stance.
    """
    law, delay = LINEAR[name], 0.1
    firm, firmer = (response(law, math.radians(0.2), delay, rubber(times)) for times in (10.0, 40.0))
    rigid = firmer + (firmer - firm) / 3.0
    lean = Postural().pendulum(MODEL).upright
    bound = 4.0 * np.abs(firmer - firm) ** 2 / np.abs(rigid) + lean**2 * np.abs(rigid)
    assert (np.abs(rigid - expected(law, delay)) < bound).all()
    assert (bound < 0.02 * np.abs(rigid)).all()


#: [rad] from peak to peak: K [N·m/deg], delay [s], W of people; gain and phase [°] of the model with them.
PEOPLE = {
    0.5: (17.0, 0.20, 0.70, (2.00, 2.20, 3.52, 3.53, 0.71), (1, -9, -33, -161, -217)),
    1.0: (18.0, 0.19, 0.60, (1.55, 1.71, 2.68, 3.39, 0.64), (1, -7, -27, -154, -212)),
    2.0: (19.0, 0.18, 0.50, (1.19, 1.30, 2.00, 3.15, 0.56), (1, -6, -22, -144, -206)),
    4.0: (20.0, 0.13, 0.40, (0.89, 0.96, 1.28, 1.37, 0.48), (0, -8, -30, -103, -165)),
    8.0: (21.0, 0.11, 0.22, (0.46, 0.50, 0.64, 0.65, 0.25), (0, -7, -29, -94, -150)),
}


@pytest.mark.parametrize("size", list(PEOPLE))
def test_with_peoples_parameters_it_sways_as_people_do(size):
    """Gains within 20 % and phases within 15° of the independent channel model with the fitted parameters."""
    stiffness, delay, weight, gain, phase = PEOPLE[size]
    per_degree = math.degrees(1.0) / pendulum()[1]
    law = Postural(
        stiffness=stiffness * per_degree, damping=5.0 * per_degree, weight=weight, passive_stiffness=0.0,
        passive_damping=0.0, torque_feedback=0.01 / per_degree, smoothing=0.01,
    )  # fmt: skip
    found = response(law, math.radians(size), delay, rubber(30.0), cycles=5)
    assert np.abs(found) == pytest.approx(gain, rel=0.2)
    assert np.degrees(np.unwrap(np.angle(found))) == pytest.approx(phase, abs=15.0)


def test_reweighting_follows_the_less_the_more_the_floor_tilts():
    sizes = [math.radians(size) for size in (0.5, 2.0, 8.0)]
    gains = [np.abs(response(Reweighting(), size, 0.16, rubber(30.0))) for size in sizes]
    assert (gains[0] > gains[1]).all()
    assert (gains[1] > gains[2]).all()
    without = Reweighting(tilt_threshold=0.0, gravity_threshold=0.0)
    linear = [np.abs(response(without, size, 0.16, rubber(30.0))) for size in (sizes[0], sizes[2])]
    # Sway of 8° is a slope that differs from the angle by its square over three.
    assert linear[0] == pytest.approx(linear[1], rel=sizes[2] ** 2)


@pytest.mark.parametrize("law", [Postural(weight=0.7, torque_feedback=0.1), Reweighting()])
def test_a_session_goes_back_with_what_the_law_remembers(law):
    q = Stance().configuration(MODEL)
    acting = (tilt(math.radians(2.0)), Sensors(delay=0.1, force=ForceChannel(delay=0.1)))
    assert_goes_back(
        Scene(MODEL, law.holding(MODEL, q), state=State.at(MODEL, q), disturbances=acting, step=2e-3), 700, 300
    )


@pytest.mark.parametrize("senses", PRESETS)
@pytest.mark.parametrize("law", [Postural(weight=0.7), Reweighting()], ids=["postural", "reweighting"])
def test_people_stand_quietly(law, senses):
    """Without vestibular sense a subject stands by proprioception; reweighting, which needs both senses, cannot."""
    q = Stance().configuration(MODEL)
    sensors = Sensors.preset(senses, seed=1)
    if isinstance(law, Reweighting):  # it has thresholds of its own, and takes slow noise for tilts of the floor
        seeing, turns, joints = Sensors.preset("eyes-open"), sensors.vestibular, sensors.proprioceptive
        turns = replace(
            turns, orientation_threshold=0.0, angular_velocity_threshold=0.0, time_constant=0.1,
            orientation_noise=1e-3 * turns.orientation_noise / seeing.vestibular.orientation_noise,
            angular_velocity_noise=2e-3 * turns.angular_velocity_noise / seeing.vestibular.angular_velocity_noise,
        )  # fmt: skip
        joints = replace(joints, joint_noise=1e-4, joint_rate_noise=2e-4, time_constant=0.1)
        sensors = replace(sensors, vestibular=turns, proprioceptive=joints)
    run = simulate(
        MODEL, law.holding(MODEL, q), state=State.at(MODEL, q), disturbances=[sensors], duration=40.0, step=2e-3,
        fall=Fall(), record_every=ROW,
    )  # fmt: skip
    if isinstance(law, Reweighting) and senses == "vestibular-loss":
        assert run.summary["verdict"] in ("fell", "lost control")
        return
    assert run.summary["verdict"] == "recovered"
    sway = run.frame["com_x"].to_numpy()[1000:]
    assert 2e-4 < sway.std() < 0.02  # people's is a few millimetres
