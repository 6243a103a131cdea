"""The derivative of steps: against differences of the same steps, in all regimes of contact; and it is symplectic."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from biped import Patch, Platform, Push, Signal, human
from biped.model import random_tree
from contact import Floor
from contact.modes import NONE, SLIDING, STICKING
from contact.regimes import CLIPPED, COULOMB, FREE, HELD, VISCOUS

from ...integrators.test_symplecticity import Frame
from .varied import STEP, Varied, moving

KINDS = ("revolute", "prismatic", "spherical")
FLOOR = Floor(mu_s=0.5, mu_d=0.4, stiction_velocity=0.05, k_n=2e4, k_t=2e4, b_n=50.0, b_t=50.0)
MOVING = Signal.step(0.02, 0.0, 20 * STEP)
#: A floor that moves and has a patch, and a push.
ACTING = (
    Platform(x=MOVING, z=MOVING, roll=MOVING, pitch=MOVING, yaw=MOVING, pivot=(0.1, 0.2, 0.3)),
    Patch((-1.0, 1.0), (0.0, 1.0), FLOOR.with_(k_n=5e4, mu_s=0.2, mu_d=0.1)), Push("trunk", (3.0, 1.0, 0.5), 4.0),
)  # fmt: skip


def standing_human(regime, seed=0, **scene):
    """The human with its feet in the floor, its points in the mode of a regime, or in all modes."""
    rng = np.random.default_rng(seed)
    model = human()
    slow = 0.02 if regime == VISCOUS else 0.5
    scene, state = moving(model, rng, **({"floor": FLOOR, "depth": 0.02, "speed": slow} | scene))
    modes = {FREE: NONE, VISCOUS: SLIDING, COULOMB: SLIDING, HELD: STICKING, CLIPPED: STICKING}
    chosen = (
        [modes[regime]] * model.nc
        if regime is not None
        else [(NONE, SLIDING, STICKING, STICKING)[c % 4] for c in range(8)]
    )
    anchors = state.arrays.anchor + rng.normal(size=(8, 2)) * 1e-4
    far = [regime == CLIPPED or (regime is None and c % 4 == 3) for c in range(8)]
    anchors[far] += 0.05
    torque = np.concatenate([np.zeros(6), 5.0 * rng.normal(size=12)])
    return Varied(scene, state, modes=chosen, anchors=anchors, torque=torque)


@pytest.mark.parametrize("regime", [FREE, VISCOUS, COULOMB, HELD, CLIPPED, None])
def test_it_is_the_derivative_in_each_regime(regime):
    varied = standing_human(regime)
    exact = varied.exact()
    found = set(varied.regimes[0].tolist())
    if regime is None:
        assert found >= {FREE, HELD, CLIPPED}
        assert found & {VISCOUS, COULOMB}
    else:
        assert regime in found
    assert varied.worst(exact, varied.differenced(), 1e-7) <= 1.0


#: Of contact points that are together in one mode: heel and toes of either foot.
GROUPS = ((0, 1), (2, 3), (4, 5), (6, 7))


def test_it_is_the_derivative_in_every_combination_of_contact_modes():
    """None, sliding and sticking, of heel and toes of either foot: 81 of them, each by directions of its own."""
    varied = standing_human(HELD, depth=0.03)
    rng = np.random.default_rng(6)
    found = set()
    for modes in itertools.product((NONE, SLIDING, STICKING), repeat=len(GROUPS)):
        for group, mode in zip(GROUPS, modes, strict=True):
            varied.start.arrays.mode[list(group)] = mode
        exact = varied.exact()
        found.add(tuple(varied.regimes[0].tolist()))
        columns = [int(k) for part in varied.parts for k in rng.choice(np.arange(part.start, part.stop), 2)]
        difference = varied.differenced(columns=columns)
        for rows in varied.parts[:3]:
            for k, column in enumerate(columns):
                size = np.abs(exact[rows, varied.parts[varied.kind(column)]]).max()
                error = np.abs(exact[rows, column] - difference.value[rows, k]).max()
                assert error <= max(1e-7 * size, difference.error[rows, k].max()), modes
    assert len(found) == 81
    assert {regime for regimes in found for regime in regimes} >= {FREE, COULOMB, HELD}


@pytest.mark.parametrize("floating", [True, False])
@pytest.mark.parametrize("seed", range(2))
def test_it_is_the_derivative_on_random_trees(seed, floating):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 6, floating=floating, kinds=KINDS, contacts=5, armature=0.2)
    scene, state = moving(model, rng, floor=FLOOR, speed=1.0)
    varied = Varied(scene, state, modes=[SLIDING, STICKING, STICKING, NONE, SLIDING])
    varied.start.arrays.torque[6 if floating else 0 :] = rng.normal()
    exact = varied.exact(2)
    assert varied.worst(exact, varied.differenced(2), 1e-7) <= 1.0


def test_it_is_the_derivative_with_all_that_can_act():
    varied = standing_human(None, controller=None, disturbances=ACTING)
    arrays = varied.start.arrays
    arrays.stiffness[6:], arrays.damping[6:], arrays.setpoint[6:] = 300.0, 5.0, 0.1
    exact = varied.exact(3)
    assert varied.worst(exact, varied.differenced(3), 2e-7) <= 1.0


def limited_tree():
    rng = np.random.default_rng(5)
    model = random_tree(rng, 6, floating=True, kinds=("revolute", "prismatic"), armature=0.1)
    bodies = []
    for k, body in enumerate(model.bodies):
        if body.joint.has_axis:
            limits = {"lower": -0.1, "upper": 0.1, "max_effort": 20.0, "max_velocity": 0.5 if k % 2 else 50.0}
            body = replace(body, joint=replace(body.joint, damping=0.5, friction=2.0, **limits))
        bodies.append(body)
    model = replace(model, bodies=tuple(bodies))
    scene, state = moving(model, rng, floor=FLOOR, speed=1.0)
    inside = replace(scene, state=None)
    torque = np.concatenate([np.zeros(6), [5.0, -50.0, 8.0, 50.0, 1.0]])
    return Varied(inside, state, torque=torque)


def test_it_is_the_derivative_at_stops_and_bearings():
    varied = limited_tree()
    exact = varied.exact()
    assert varied.worst(exact, varied.differenced(), 1e-7) <= 1.0
    assert not exact[:, varied.parts[3]][:, 7].any()  # at the limit of its effort


@pytest.mark.parametrize("floating", [True, False])
def test_it_is_symplectic_without_dissipation(floating):
    """Aᵀ Ω' A = Ω, in momenta and displacements of natural size."""
    rng = np.random.default_rng(2)
    model = random_tree(rng, 6, floating=floating, kinds=KINDS, armature=0.1)
    scene, state = moving(model, rng, floor=FLOOR, speed=3.0)
    varied = Varied(scene, state)
    A = varied.exact(1)[: 2 * model.nv, : 2 * model.nv]
    begin, end = Frame(model, varied.start.q), Frame(model, varied.end.q)
    before, after = begin.form(varied.start.momentum), end.form(varied.end.momentum)
    size = np.abs(A).T @ np.abs(after) @ np.abs(A)
    assert (np.abs(A.T @ after @ A - before) / size.max()).max() < 1e-12


def test_it_is_symplectic_where_the_floor_only_stores():
    varied = standing_human(HELD, floor=FLOOR.with_(b_n=0.0, b_t=0.0, mu_s=50.0))
    nv = varied.model.nv
    A = varied.exact(1)[: 2 * nv, : 2 * nv]
    assert (varied.regimes == HELD).any()
    assert set(varied.regimes.ravel().tolist()) <= {FREE, HELD}
    before = Frame(varied.model, varied.start.q).form(varied.start.momentum)
    after = Frame(varied.model, varied.end.q).form(varied.end.momentum)
    size = np.abs(A).T @ np.abs(after) @ np.abs(A)
    assert (np.abs(A.T @ after @ A - before) / size.max()).max() < 1e-12


def test_steps_that_are_taken_in_parts_are_gone_through_part_by_part():
    rng = np.random.default_rng(0)
    model = human()
    scene, state = moving(model, rng, floor=FLOOR, depth=-0.0004, speed=0.0, bent=0.0, landing_depth=1e-4)
    state.arrays.momentum[:3] = 0.02 * model.total_mass, 0.01 * model.total_mass, -1.0 * model.total_mass
    varied = Varied(scene, state, modes=[NONE] * 8)
    exact = varied.exact(2)
    assert len(varied.regimes) > 2
    assert varied.worst(exact, varied.differenced(2), 1e-6) <= 1.0


def test_steps_are_those_that_are_simulated():
    """Bit for bit: whoever linearizes on the way gets where he would have got without."""
    varied = standing_human(HELD)
    varied.exact(4)
    linearized = varied.plan.state.copy()
    varied.put(varied.start)
    assert varied.lin.loop.rollout(4) == 0
    assert np.array_equal(varied.plan.state.q, linearized.q)
    assert np.array_equal(varied.plan.state.momentum, linearized.momentum)
