"""The friction machine as Wendlandt 1997 prints it (section 5.2, figure 5.1), beside ours."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from biped.errors import InputError
from biped.integrators import Recursive
from biped.model import rigid_box
from biped.runs.state import State
from biped.simulation.simulate import simulate
from contact import Floor
from contact.modes import NONE, PULLING, SLIDING, SLIDING_TO_STICKING, STICKING, STICKING_TO_SLIDING
from contact.point_law import anchor_at_end, mode_of, state_at_end
from contact.regimes import point_force
from experiments.catalogue.registry import experiment_named
from experiments.papers.wendlandt_1997.friction_search import FACTS, Motion

PRINTED = Floor(mu_s=0.4, mu_d=0.3, friction="printed")
MASS, SIZE, MU = 10.0, (0.4, 0.6, 0.1), 0.5


class Machine:
    """A contact point by the text of section 5.2: nothing of the kernels."""

    def __init__(self, floor):
        self.floor, self.state, self.anchor = floor, SLIDING, None

    def step(self, p, velocity, end):
        """(3,) the force in a step, with p the middle of the chord; then the state at its end, and in the next step."""
        floor, pt, speed = self.floor, np.array(p[:2]), np.array(velocity[:2])
        normal = -(floor.k_n * p[2] + floor.b_n * velocity[2])
        pulls, normal = normal <= 0.0, max(normal, 0.0)
        slow = np.linalg.norm(speed) <= floor.stiction_velocity
        tangential, found = np.zeros(2), self.state
        if self.state == NONE:
            found, normal = SLIDING, 0.0
        elif self.state == SLIDING:
            drag = floor.stiction_velocity if slow else np.linalg.norm(speed)
            tangential = -floor.mu_d * normal * speed / drag
            found = SLIDING_TO_STICKING if slow else SLIDING
        elif self.state == STICKING:
            tangential = -(floor.k_t * (pt - self.anchor) + floor.b_t * speed)
            size = np.linalg.norm(tangential)
            if size > floor.mu_s * normal:
                tangential *= floor.mu_s * normal / size
                found = STICKING_TO_SLIDING
        if self.state != NONE and pulls:
            found = PULLING
        if end[2] >= 0.0:
            found = NONE
        if found == SLIDING_TO_STICKING:
            self.anchor = np.array(end[:2])  # "set at the current configuration of the contact point"
        if found == STICKING_TO_SLIDING:
            self.anchor = None  # "released"
        lasting = {SLIDING_TO_STICKING: STICKING, STICKING_TO_SLIDING: SLIDING, PULLING: SLIDING}
        self.state = lasting.get(found, found)
        return np.array([*tangential, normal]), found


def walk(rng, steps, h):
    """Places of a point that is dragged about in and out of the floor, and now and then stops."""
    place = np.array([0.0, 0.0, -1e-3])
    for _ in range(steps):
        pace = rng.choice([1e-4, 5e-4, 0.02, 0.5])
        move = h * pace * rng.normal(size=3)
        begin, place = place, place + move
        place[2] = np.clip(place[2], -3e-3, 2e-4) if rng.random() < 0.98 else 1e-4
        yield begin.copy(), place.copy()


def test_the_kernels_are_the_printed_machine():
    h, rng, machine = 1e-3, np.random.default_rng(0), Machine(PRINTED)
    law, mode, anchor = PRINTED.parameters, SLIDING, (0.0, 0.0)
    seen = []
    for begin, end in walk(rng, 20_000, h):
        middle, velocity = tuple(0.5 * (begin + end)), tuple((end - begin) / h)
        force = point_force(law, mode, middle, velocity, anchor)
        found = state_at_end(law, mode, middle, velocity, anchor, end[2])
        anchor = anchor_at_end(law, mode, middle, velocity, anchor, tuple(end), force)
        expected, expected_state = machine.step(middle, velocity, end)
        assert found == expected_state
        assert force == pytest.approx(expected, rel=1e-12, abs=1e-9)
        mode = mode_of(found)
        assert mode == machine.state
        if mode == STICKING:
            assert anchor == pytest.approx(machine.anchor, abs=1e-15)
        seen.append(found)
    assert all(seen.count(state) > 100 for state in range(NONE, PULLING + 1))


def test_a_clipped_slow_point_slides_at_once_where_ours_yields():
    p, crawls, anchor = (1e-3, 0.0, -1e-3), (1e-4, 0.0, 0.0), (0.0, 0.0)
    found = {kind: state_at_end(Floor(friction=kind).parameters, STICKING, p, crawls, anchor, -1e-3)
             for kind in ("yielding", "printed")}  # fmt: skip
    assert found == {"yielding": STICKING, "printed": STICKING_TO_SLIDING}


@pytest.mark.parametrize(("mu", "holds"), [(0.393, False), (0.394, True), (0.400, True), (0.401, False)])
def test_the_box_keeps_its_interval_of_friction(mu, holds):
    run = experiment_named("box-drop").run({"floor.mu_s": mu, "floor.mu_d": mu, "floor.friction": "printed"})
    motion = Motion(run)
    assert all(fact.holds(motion) for fact in FACTS) == holds
    assert run.summary["momentum_defect"] < 1e-9


@pytest.mark.parametrize("name", ["stand-tilted", "thrown-block"])
def test_both_experiments_stand(name):
    run = experiment_named(name).run({"floor.friction": "printed"})
    ours = experiment_named(name).run()
    assert run.summary["verdict"] == "recovered"
    assert run.summary["foot_creep"] < 1e-6
    assert not run.frame.equals(ours.frame)
    assert run.metrics["ledger_residual"] < 1.1 * ours.metrics["ledger_residual"]


def creep(kind, factor):
    """[m/s] of a box that stands on an incline below the angle of friction."""
    floor, upright = Floor(mu_s=MU, mu_d=MU, friction=kind), rigid_box(MASS, SIZE)
    state = State.at(upright, upright.configuration(position=(0.0, 0.0, SIZE[2] / 2.0 - 1e-4)))
    settings = SimpleNamespace(floor=floor, step=1e-3)
    state = simulate(upright, state=state, duration=1.0, **vars(settings)).state
    for part in np.linspace(0.0, 1.0, 101):
        angle = part * factor * math.atan(MU)
        state.model = upright.with_gravity((9.81 * math.sin(angle), 0.0, -9.81 * math.cos(angle)))
        state = simulate(state.model, state=state, duration=0.05, **vars(settings)).state
    state = simulate(state.model, state=state, duration=2.0, **vars(settings)).state
    before = state.q.copy()
    state = simulate(
        state.model, state=state, duration=2.0, integrator=Recursive(tolerance=1e-11), **vars(settings)
    ).state
    return float(np.linalg.norm((state.q - before)[:2])) / 2.0


@pytest.mark.parametrize("factor", [0.9, 0.99])
def test_what_it_costs_on_an_incline(factor):
    """Near the angle of friction a loaded box creeps by millimetres a second, and at nine tenths of it not at all."""
    assert creep("yielding", factor) < 1e-9
    if factor < 0.95:
        assert creep("printed", factor) < 1e-9
    else:
        assert creep("printed", factor) == pytest.approx(3.1e-3, rel=0.2)


def test_engines_have_friction_of_their_own():
    with pytest.raises(InputError, match="has its own friction law: leave floor.friction = yielding"):
        experiment_named("stand-tilted").run({"integrator.name": "mujoco", "floor.friction": "printed"})
