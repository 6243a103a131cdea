"""Figure 13 of Brüdigam et al. 2024: the quadruped, its trot, and the search by which it learns to walk."""

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from biped import Observation, mass_matrix
from experiments.papers.bruedigam_2024 import learning
from experiments.papers.bruedigam_2024.learning import (
    CLEARANCE,
    DAMPING,
    LEGS,
    PACE,
    PARTS,
    STIFFNESS,
    Gait,
    Trot,
    crouched,
    in_maximal,
    limbs,
    quadruped,
)
from formulations.assembly import placement_of

#: What a later program of the same authors (Dojo.jl, examples/learning) gives as learned.
WALKING = Gait(0.3604389380437305, 0.15854285262309512, 0.9575825661369068, -0.325769852046206, -1.4824537456751052)
TRUNK = ["trunk_x", "trunk_y", "trunk_z"]


@pytest.fixture(scope="module")
def model():
    return quadruped()


def test_a1_weighs_what_its_links_do(model):
    assert_allclose(model.total_mass, 4.713 + 4 * (0.696 + 1.013 + 0.166))


def test_legs_are_one_another_s_mirror_images(model):
    angles = {f"{leg}_{part}": value for leg in LEGS for part, value in zip(PARTS, (0.3, 0.8, -1.5), strict=True)}
    q = model.configuration(angles=angles | {"FR_hip": -0.3, "RR_hip": -0.3})
    points = dict(zip(LEGS, limbs(model, q), strict=True))
    for side in "LR":
        assert_allclose(points[f"F{side}"] - points[f"R{side}"], [[2 * 0.183, 0.0, 0.0]] * 3, atol=1e-12)
    for end in "FR":
        assert_allclose((points[f"{end}L"] - points[f"{end}R"])[:, [0, 2]], 0.0, atol=1e-12)
        assert_allclose((points[f"{end}L"] + points[f"{end}R"])[:, 1], np.zeros(3), atol=1e-12)
        left, right = (resistance(model, q, f"{end}{side}") for side in "LR")
        mirror = np.diag([-1.0, 1.0, 1.0])
        assert_allclose(left, mirror @ right @ mirror, atol=1e-12)
    hips = [model.bodies[model.body_index(f"{leg}_hip")] for leg in ("FL", "RL")]
    assert_array_equal(hips[1].com, hips[0].com * np.array([-1.0, 1.0, 1.0]))


def resistance(model, q, leg):
    dofs = [model.dof(f"{leg}_{part}") for part in PARTS]
    return mass_matrix(model, q)[np.ix_(dofs, dofs)]


def test_thighs_and_shanks_are_two_tenths_of_a_metre(model):
    state = crouched(model, 1.0, -1.5)
    hip, knee, foot = (limbs(model, state.q)[:, k] for k in range(3))
    assert_allclose(np.linalg.norm(knee - hip, axis=1), 0.2, atol=1e-12)
    assert_allclose(np.linalg.norm(foot - knee, axis=1), math.hypot(0.006435, 0.207388), atol=1e-12)
    assert_allclose(foot[:, 2], CLEARANCE, atol=1e-12)


def test_the_compiled_trot_is_its_formula(model):
    rng, time = np.random.default_rng(4), 0.123
    q = model.configuration(angles={name: rng.uniform(-1.0, 1.0) for name in model.joint_names})
    seen = Observation(model, time, q, rng.normal(size=model.nv))
    turn = 2.0 * math.pi * PACE * WALKING.pace * time
    swings = {"FR": 1.0, "FL": -1.0, "RR": -1.0, "RL": 1.0}
    targets = np.array([
        (0.0, WALKING.thigh + sign * WALKING.thigh_swing * math.cos(turn),
         WALKING.calf + sign * WALKING.calf_swing * math.sin(turn))
        for sign in (swings[name[:2]] for name in model.joint_names[::3])
    ])  # fmt: skip
    wanted = np.tile(STIFFNESS, 4) * (targets.reshape(-1) - seen.angles) - np.tile(DAMPING, 4) * seen.rates
    assert_allclose(Trot(WALKING).torques(seen), wanted, atol=1e-12)


def test_a_quadruped_that_stands_is_borne_by_its_feet():
    run = replace(learning.scene(learning.START, 2.0), record_every=0.5).run()
    end = run.frame.iloc[-1]
    forces = end[[f"contact_{leg}_f{axis}" for leg in LEGS for axis in "xyz"]].to_numpy(dtype=float).reshape(-1, 3)
    assert_allclose(forces.sum(axis=0), [0.0, 0.0, 12.213 * 9.81], atol=1e-6)
    assert_allclose(end[["trunk_vx", "trunk_vy", "trunk_vz"]].to_numpy(dtype=float), 0.0, atol=1e-6)


def test_the_tree_walks_as_an_assembly_in_maximal_coordinates(model):
    apart = []
    for step in (1e-3, 2.5e-4):
        run = replace(learning.scene(WALKING, 0.3, step), controller=Trot(WALKING, step), record_every=1e-3).run()
        assembly, forces = in_maximal(WALKING, learning.FRICTION)
        start = placement_of(model, crouched(model, WALKING.thigh, WALKING.calf).q)
        motion = assembly.simulate(0.3, step, start, forces=forces, record_every=round(1e-3 / step))
        apart.append(np.abs(motion.position("trunk") - run.frame[TRUNK].to_numpy()).max())
        assert (run.frame[["contact_FR_fz", "contact_FL_fz"]] == 0.0).any().all()  # it steps
    assert apart[0] < 1e-3
    assert apart[1] < apart[0] / 3.0


def test_a_gait_that_was_learned_elsewhere_walks_at_any_step():
    ways = [learning.walked(WALKING, 2.0, step) for step in (1e-3, 5e-4)]
    assert ways[0] > 0.8
    assert_allclose(ways[0], ways[1], rtol=0.01)


@pytest.mark.parametrize("way", [learning.walked, learning.walked_in_maximal])
def test_a_gait_that_throws_the_trunk_below_the_floor_fails(way):
    assert way(Gait(0.1, 0.0, 0.0, 0.0, 3.0), 2.0) is None


def test_a_gait_walks_as_far_in_maximal_coordinates():
    ways = [way(WALKING, 1.0) for way in (learning.walked, learning.walked_in_maximal)]
    assert_allclose(ways[0], ways[1], rtol=0.01)


def test_only_whole_searches_in_maximal_coordinates_are_held_against_the_printed_distance():
    short, long, joint = (
        learning._distance(coordinates, [11.0], 100, 10.0, quick, kind)
        for coordinates, quick, kind in (("maximal", True, "evidence"), ("maximal", False, "evidence"),
                                         ("joint", False, "ours"))
    )  # fmt: skip
    assert (short.verdict, long.verdict, joint.verdict) == ("ours", "differs", "not so")
    assert learning._distance("maximal", [13.0, 12.5, 1.0], 100, 10.0, quick=False).verdict == "agrees"


def test_learning_is_the_same_in_any_number_of_threads():
    alone, both = (learning.learn((1, 2), 3, 0.2, lambda _: None, workers) for workers in (1, 2))
    for one, other in zip(alone, both, strict=True):
        assert_array_equal(one.best, other.best)
        assert one.achieved == other.achieved
    assert any((search.best != learning.START).any() for search in alone)


def test_a_search_climbs():
    search = learning.RandomSearch(np.zeros(5), 3)
    top = np.full(5, 0.2)
    for _ in range(300):
        search.judge(1.0 - float(np.linalg.norm(search.propose() - top)))
    assert all(np.diff(search.achieved) >= 0.0)
    assert search.achieved[-1] > 0.9
    assert_allclose(search.achieved[-1], 1.0 - np.linalg.norm(search.best - top))


def test_proposals_are_spread_as_the_last_successes_and_failures_say():
    after = {failures: [] for failures in (0, 1, 5)}
    onwards = []
    for seed in range(400):
        for failures, found in after.items():
            search = learning.RandomSearch(np.ones(5), seed)
            for failure in range(failures):
                search.propose()
                search.judge(None if failure % 2 else -1.0)
            found.append(search.propose() - search.best)
        search.judge(1.0)
        way = found[-1]
        assert_array_equal(search.best, np.ones(5) + way)
        onwards.append(search.propose() - search.best - learning.STRIDE * way / np.linalg.norm(way))
    for failures, found in after.items():
        assert_allclose(np.std(found), learning.SPREAD * learning.SHRINKING**failures, rtol=0.06)
    assert_allclose(np.std(onwards), learning.NARROW, rtol=0.06)


@pytest.mark.slow
def test_quadrupeds_learn_to_walk():
    """More than 12 m in 10 s after 100 episodes (figure 13), by gaits that walk as far with half the step."""
    searches = learning.learn((1, 2, 3), 100, 10.0, lambda _: None)
    assert np.median([search.achieved[-1] for search in searches]) > 12.0
    for search in searches:
        gait = Gait(*search.best.tolist())
        assert learning.walked(gait, 10.0) == search.achieved[-1] > 2.0 * search.achieved[9]
        assert_allclose(learning.walked(gait, 10.0, 5e-4), search.achieved[-1], rtol=0.03)
