"""Maximal coordinates: runs are the recursive integrator's (Wendlandt 1997, Theorem 2.1), joints closed, books kept."""

from dataclasses import replace

import numpy as np
import pytest

from biped import IntegrationError, Maximal, Push, Recursive, Run, State, dynamics, human, simulate
from biped.integrators import INTEGRATORS, Integrator
from biped.integrators.maximal.kernels import GAP
from biped.model import Model, chain, random_tree
from contact import Floor
from contact.modes import SLIDING, SLIDING_TO_STICKING, STICKING, STICKING_TO_SLIDING
from controllers import JointImpedance
from experiments.catalogue.registry import experiment_named

from ...rounding import walked
from .motions import tumbling

KINDS = ("revolute", "prismatic", "spherical")
TIGHT = 1e-11
BOTH = (Recursive(tolerance=TIGHT), Maximal(tolerance=TIGHT))


def gaps(run: Run) -> float:
    return float(run.frame[["gap_position", "gap_rotation"]].to_numpy().max())


def apart(one: State, other: State) -> float:
    """How far two states are from each other, in coordinates and in momenta; of large momenta relatively."""
    size = max(1.0, np.abs(one.momentum).max())
    return float(max(np.abs(one.q - other.q).max(), np.abs(one.momentum - other.momentum).max() / size))


def check_alike(runs: list[Run]) -> None:
    assert apart(*(run.state for run in runs)) < 1e-8
    assert gaps(runs[1]) <= GAP


def defect_of_rounding(model: Model) -> float:
    """Of a momentum to which the weight of all bodies adds for a second, in steps of 1 ms."""
    return walked(1000 * model.n, model.total_mass * 9.81)


def test_the_human_in_flight():
    model = human().without_contacts()
    runs = [
        simulate(model, state=tumbling(model), step=1e-3, record_every=1e-3, duration=1.0, integrator=integrator)
        for integrator in BOTH
    ]
    check_alike(runs)
    assert np.abs(runs[0].state.q[7:]).max() > 1.0
    assert runs[1].summary["momentum_defect"] < defect_of_rounding(model)
    assert runs[1].summary["angular_momentum_defect"] < 1e-9


@pytest.mark.parametrize("name", ["stand-tilted", "thrown-block", "box-drop"])
def test_experiments(name):
    setup = replace(experiment_named(name).build(), duration=1.0)
    setup = replace(setup, record_every=setup.step)
    runs = [replace(setup, integrator=integrator).run() for integrator in BOTH]
    check_alike(runs)
    assert runs[1].summary["momentum_defect"] < defect_of_rounding(setup.model)
    ours, theirs = (run.events for run in runs)
    assert ours[["kind", "subject"]].equals(theirs[["kind", "subject"]])
    assert np.abs(ours["time"] - theirs["time"]).max() < 1e-9
    assert abs(runs[0].summary["ledger_residual"] - runs[1].summary["ledger_residual"]) < 1e-8


def test_the_human_stands_on_stiff_joints_and_is_pushed(person):
    push = Push("trunk", (0.6, 0.8, 0.0), 5.0, start=0.2, duration=0.1, waveform="half-sine")
    runs = [
        simulate(
            person, JointImpedance(), state=State.at(person), step=1e-3, duration=1.0, record_every=1e-3,
            disturbances=[push], integrator=integrator,
        )
        for integrator in BOTH
    ]  # fmt: skip
    check_alike(runs)
    assert runs[1].state.arrays.ledger.impulse[:2] == pytest.approx(runs[0].state.arrays.ledger.impulse[:2], abs=1e-9)


@pytest.mark.parametrize("floats", [True, False], ids=["floating", "fixed"])
@pytest.mark.parametrize("seed", range(3))
def test_random_trees_that_are_pushed(seed, floats):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 9, floating=floats, kinds=KINDS)
    v, gains = rng.normal(size=model.nv), {"stiffness": 20.0, "damping": 0.5}
    push = Push("body_5", (0.0, 0.6, 0.8), 2.0, start=0.1, duration=0.2, waveform="half-sine")
    runs = [
        simulate(
            model, JointImpedance(**gains), state=State.at(model, None, v), step=1e-3, record_every=1e-3,
            duration=1.0, disturbances=[push], integrator=integrator,
        )
        for integrator in BOTH
    ]  # fmt: skip
    check_alike(runs)


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_trees_that_slide_and_stick(seed):
    """A tree of all joints falls on a rubber floor: points slide, stick, slip and lift.

    No step may be halved: where the two find it to need different parts, they take different steps. At a kink of the
    contact law a tolerance near rounding may not be reached in a whole step.
    """
    model = random_tree(np.random.default_rng(seed), 5, kinds=KINDS, contacts=10)
    q = model.neutral()
    q[2] += 0.02 - dynamics.forward_kinematics(model, q).contact[:, 2].min()
    settings = {"tolerance": 1e-9, "landing_depth": np.inf, "max_halvings": 0}
    runs = [
        simulate(
            model, JointImpedance(stiffness=200.0, damping=5.0), floor=Floor(mu_s=0.8, mu_d=0.6),
            state=State.at(model, q), step=5e-4, duration=0.8, record_every=5e-4, integrator=integrator,
        )
        for integrator in (Recursive(**settings), Maximal(**settings))
    ]  # fmt: skip
    modes = runs[1].frame.filter(regex="contact_.*_mode").to_numpy()
    assert {SLIDING, STICKING, SLIDING_TO_STICKING, STICKING_TO_SLIDING} <= set(modes.ravel())
    check_alike(runs)
    assert runs[1].summary["momentum_defect"] < 1e-11


def test_integrators_can_be_exchanged_at_any_tick(person, posture):
    alone, mixed = posture(person), posture(person)
    alone = simulate(person, JointImpedance(), state=alone, duration=0.4, integrator=BOTH[0]).state
    for k in range(4):
        mixed = simulate(person, JointImpedance(), state=mixed, duration=0.1, integrator=BOTH[k % 2]).state
    assert apart(alone, mixed) < 1e-8


def test_a_long_chain_stays_closed():
    """200 links of 3 cm, six metres from the hinge: runs differ by less than by what a step leaves of a momentum."""
    model = chain(200, length=0.03, thickness=0.01, mass=0.1).without_contacts()
    start = State.at(model, np.full(200, 0.2))
    beside = start.copy()
    beside.momentum[:] += 1e-10 / 200**0.5 * np.random.default_rng(1).choice([-1.0, 1.0], 200)
    one, other, third = (
        simulate(model, state=state, step=1e-3, duration=0.2, integrator=integrator(tolerance=1e-10))
        for state, integrator in ((start.copy(), Recursive), (start.copy(), Maximal), (beside, Recursive))
    )
    assert apart(one.state, other.state) < apart(one.state, third.state) < 1e-6
    assert gaps(other) <= GAP


@pytest.mark.parametrize("integrator", [INTEGRATORS["recursive"], INTEGRATORS["maximal"]], ids=lambda i: i.name)
def test_without_a_solution_it_ends_as_the_recursive_one(integrator: Integrator):
    """A hinge at 1e6 rad/s turns many times in the smallest part of a step; nothing is accepted."""
    model = chain(2).without_contacts()
    settings = type(integrator)(max_halvings=3)
    with pytest.raises(IntegrationError, match="no solution of the time step at 0 s") as caught:
        simulate(model, state=State.at(model, None, [1e6, -1e6]), step=1e-3, duration=0.01, integrator=settings)
    assert np.isfinite(caught.value.run.state.q).all()


def test_steps_without_a_solution_are_halved():
    model = chain(2).without_contacts()
    runs = [
        simulate(model, state=State.at(model, None, [500.0, -550.0]), step=4e-3, duration=0.02, integrator=integrator)
        for integrator in (Recursive(), Maximal())
    ]
    assert runs[0].summary["retried_steps"] == runs[1].summary["retried_steps"] == 5
    assert apart(*(run.state for run in runs)) < 1e-6
