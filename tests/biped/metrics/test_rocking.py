"""A rigid inverted pendulum on one flat foot, pushed: it falls if and only if theory says so.

A push J at the height h turns the body about the edge of its sole with J h = I ω, I about the edge, if the shock takes
away what does not fit (the dampers of the floor do). It topples if I ω²/2 exceeds m g (r − h), with r the distance from
the edge to the centre of mass. Of a linear pendulum, I = m h² and r − h = a²/2h, that is J = m ω₀ a: the extrapolated
centre of mass reaches the edge (Hof, Gazendam, Sinke 2005).
"""

import math
import re
from dataclasses import replace
from pathlib import Path

import pytest

from biped import Fall, Model, Push, Run, State, load_urdf, simulate
from biped.metrics import measure_run
from biped.metrics.timeseries import error_quaternions, orientation_errors, position_errors
from contact import Floor
from experiments.catalogue.registry import experiment_named
from experiments.visualization import draw_figures, run_figures
from experiments.visualization.report.run_facts import run_sections

from .rows import G, block

A, H, M, GYRATION = 0.1, 1.0, 10.0, 0.1  # half of the sole, height, mass, radius of gyration
INERTIA = M * (H * H + A * A + GYRATION**2)
ENERGETIC = math.sqrt(2.0 * INERTIA * M * G * (math.hypot(A, H) - H)) / H
LINEAR = M * math.sqrt(G / H) * A
#: Stiff, near critical damping of the whole body, and rough: the sole neither slides nor bounces.
FLOOR = Floor(k_n=1e7, b_n=1e4, k_t=1e7, b_t=1e4, mu_s=10.0, mu_d=10.0)
STEP = 1e-4
#: The body rests on springs that give way by m g / 4 k = 2.5 µm and by twice that on an edge: of a barrier of 5 mm a
#: part of 1e-3, of the impulse half of it. While the push lasts the weight takes away m g a Δt / J h = 3e-4 of it.
TOLERANCE = 1e-3


@pytest.fixture(scope="module")
def model():
    return block(A, 0.2, H, mass=M, gyration=GYRATION)


def pushed(model, impulse, direction=(1.0, 0.0, 0.0), duration=5.0):
    state = State.at(model)
    state.arrays.q[2] -= M * G / 4 / FLOOR.k_n  # where it is in equilibrium
    push = Push("trunk", direction, impulse, start=0.01, duration=STEP)
    return simulate(
        model, floor=FLOOR, state=State.at(model, state.arrays.q), duration=duration, step=STEP, disturbances=[push],
        fall=Fall(height=0.5),
    )  # fmt: skip


def test_the_push_that_topples_it_is_that_of_the_energy_criterion(model):
    low, high = 0.5 * ENERGETIC, 1.5 * ENERGETIC
    assert measure_run(pushed(model, low))["verdict"] == "recovered"
    assert measure_run(pushed(model, high))["verdict"] == "fell"
    while high - low > 2e-4 * ENERGETIC:
        middle = 0.5 * (low + high)
        if measure_run(pushed(model, middle))["verdict"] == "fell":
            high = middle
        else:
            low = middle
    assert 0.5 * (low + high) == pytest.approx(ENERGETIC, rel=TOLERANCE)
    # Hof's pendulum is short of what thickness, (a² + k²)/h² = 2 %, and the arc of the path add.
    assert low > LINEAR
    assert high == pytest.approx(LINEAR, rel=(A * A + GYRATION**2) / H**2)


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9, 1.1, 1.5])
def test_the_margin_after_the_push_tells_how_it_ends(model, share):
    """b = a − v/ω₀ with v = J h²/I."""
    run = pushed(model, share * LINEAR, duration=4.0)
    after = measure_run(pushed(model, share * LINEAR, duration=0.014))["margin_of_stability_end"]
    expected = A - share * LINEAR * H * H / INERTIA / math.sqrt(G / H)
    assert after == pytest.approx(expected, abs=2e-3)  # 4 ms later it has grown or shrunk by ω₀ b t = 1 % of b
    assert (measure_run(run)["verdict"] == "fell") == (after < 0.0)


URDF = Path(__file__).parents[3] / "examples" / "human.urdf"


def renamed(model, name="floating_base"):
    root = replace(model.root, joint=replace(model.root.joint, name=name))
    return Model(
        model.name, (root, *model.bodies[1:]), model.contact_points, gravity=model.gravity, shapes=model.shapes,
        feet=model.feet, facing=model.facing,
    )  # fmt: skip


@pytest.fixture(scope="module")
def setup():
    return experiment_named("balance").build({"push.impulse": 6.0})


def pushed_human(setup, model):
    state = type(setup.state).at(model, setup.state.q.copy())
    push = Push("trunk", direction=(-1.0, 0.0, 0.0), impulse=6.0, start=0.2, duration=0.1)
    return simulate(
        model, setup.controller, state=state, floor=setup.floor, disturbances=[push], fall=setup.fall, duration=0.6,
        step=1e-3,
    )  # fmt: skip


@pytest.fixture(scope="module")
def runs(setup):
    return pushed_human(setup, setup.model), pushed_human(setup, renamed(setup.model))


def test_metrics_and_errors_are_the_same(runs):
    usual, other = runs
    assert other.metrics == usual.metrics
    for errors in (position_errors, orientation_errors, error_quaternions):
        assert (errors(other, other.set_point) == errors(usual, usual.set_point)).all()


def test_it_is_saved_and_read(runs, setup, tmp_path):
    other = runs[1]
    other.save(tmp_path)
    assert measure_run(Run.load(tmp_path, renamed(setup.model))).items() >= other.metrics.items()


def test_it_is_drawn_and_told_of(runs, tmp_path):
    other = runs[1]
    assert run_sections(other)[0].blocks
    assert {"body-position", "error", "top-view"} <= set(run_figures(other))
    assert len(draw_figures(other, tmp_path)) == len(draw_figures(runs[0], tmp_path)) > 3


def test_a_robot_of_a_urdf_file_from_elsewhere_is_measured(setup):
    person = setup.model
    text = re.sub(r"<biped.*</biped>", "", URDF.read_text(encoding="utf-8"), flags=re.DOTALL)
    robot = replace(load_urdf(text), contact_points=person.contact_points, feet=person.feet)
    run = pushed_human(setup, robot)
    assert run.root not in ("body", "trunk")
    assert f"{run.root}_qw" in run.frame
    assert run.verdict_line == "undecided: a push acted 0.3 s before the end"
    usual = pushed_human(setup, person)
    for name in ("settling_time", "peak_position_error", "margin_of_stability_min", "peak_torque_left_knee_pitch"):
        assert run.metrics[name] == pytest.approx(usual.metrics[name], rel=1e-6), name
