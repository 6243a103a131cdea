"""A rigid inverted pendulum on one flat foot, pushed: it falls if and only if theory says so.

A push J at the height h turns the body about the edge of its sole with J h = I ω, I about the edge, if the shock takes
away what does not fit (the dampers of the floor do). It topples if I ω²/2 exceeds m g (r − h), with r the distance from
the edge to the centre of mass. Of a linear pendulum, I = m h² and r − h = a²/2h, that is J = m ω₀ a: the extrapolated
centre of mass reaches the edge (Hof, Gazendam, Sinke 2005).
"""

import math

import pytest

from biped import Fall, Push, State, simulate
from biped.metrics import measure_run
from contact import Floor

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
