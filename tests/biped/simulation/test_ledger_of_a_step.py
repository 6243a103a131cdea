"""The books of one step, longhand: of a random tree on a floor that moves and has a patch, pushed, held by its joints.

All is recomputed from the configurations at both ends: forces from the contact law at the chords, works as forces
along displacements, impulses about the inertial origin at the middle of the displacements.
"""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from biped import Integrator, Midpoint, Recursive, Signal, State, dynamics
from biped.disturbances import Force, Patch, Platform, Push, compile_ground, compile_pushes
from biped.kernels.solve.causes import LANDED_TOO_DEEP
from biped.kernels.state import simulation_state
from biped.kernels.state.simulation_state import START as AT_START
from biped.kernels.step.step import account_impulse, count_iterations, prepare, substep, whole_momentum
from biped.kernels.variational.equations import new_scratch
from biped.model import random_tree, rigid_box
from biped.model.pinocchio_model import orientations
from contact import Floor
from contact.ground import END, START, place_frame
from contact.modes import NONE, SLIDING, STICKING
from contact.point_law import anchor_at_end, is_clipped, mode_of, state_at_end, stored_energy
from contact.regimes import point_force
from tests.conftest import bent_configuration

pytestmark = pytest.mark.jit_off

KINDS = ("revolute", "prismatic", "spherical")
BEGIN, H = 0.3, 1e-3
FLOOR = Floor(k_n=6e4, b_n=40.0, k_t=3e4, b_t=15.0, mu_s=0.5, mu_d=0.4, stiction_velocity=2e-3)
PATCH = Patch((0.1, 9.0), (-9.0, 9.0), FLOOR.with_(k_n=9e4, k_t=2e4, mu_s=0.3, mu_d=0.2))
PIVOT = (0.1, -0.2, 0.3)


def wave(size, shift):
    times = np.linspace(0.0, 1.0, 21)
    return Signal.sampled(times, size * (np.sin(7.0 * times + shift) - np.sin(shift)), "cubic")


MOTION = {axis: wave(0.05 + 0.01 * k, 0.3 * k) for k, axis in enumerate(Platform.AXES)}
PLATFORM_MOVES = Platform(**MOTION, pivot=PIVOT)


def floor_frame(t):
    """Origin and rotation of the floor, by its definition: turned about the pivot, then displaced."""
    x, y, z, roll, pitch, yaw = (float(MOTION[axis]([t])[0]) for axis in Platform.AXES)
    R = Rotation.from_rotvec([roll, pitch, yaw]).as_matrix()
    return np.array([x, y, z]) + np.array(PIVOT) - R @ PIVOT, R


class Taken:
    def __init__(
        self,
        seed: int,
        floating: bool = True,
        moves: bool = True,
        depth: float = math.inf,
        integrator: type[Integrator] = Recursive,
    ) -> None:
        rng = np.random.default_rng(seed)
        tree = random_tree(rng, 6, floating=floating, kinds=KINDS, contacts=8)
        self.model = model = tree.with_gravity((1.5, -2.5, -9.0))
        state = State.at(model, *self.start(rng), BEGIN)
        self.moves, self.arrays = moves, state.arrays
        self.fill(rng)
        self.pushes = (
            Push(model.body_names[-1], (1.0, 2.0, -1.0), 3.0, 0.0, 1.0, point=(0.1, 0.2, -0.1)),
            Force(model.body_names[2], (0.0, -1.0, 1.0), Signal.rectangle(40.0, 0.0, 1.0), (0.0, 0.1, 0.0)),
        )
        self.ground = compile_ground(FLOOR, model, PLATFORM_MOVES if moves else None, [PATCH])
        self.integrator = integrator(tolerance=1e-13)
        self.method = self.integrator.method(model)
        self.scratch = new_scratch(model.n, model.nq, model.nv, model.nc)
        prepare(model.tree, self.arrays, self.scratch)
        self.before = copied(self.arrays)
        pushes = compile_pushes(model, self.pushes)
        arguments = model.tree, self.ground, self.arrays, pushes, self.scratch, self.method, BEGIN, H, depth
        self.result = substep(*arguments)
        self.after = copied(self.arrays)

    def start(self, rng):
        v, q = rng.normal(size=self.model.nv), bent_configuration(self.model, rng, 0.5)
        if self.model.is_floating:
            heights = np.sort(dynamics.forward_kinematics(self.model, q).contact[:, 2])
            q[2] -= 0.5 * (heights[2] + heights[3])
        return q, v

    def fill(self, rng):
        arrays, model = self.arrays, self.model
        for array in (arrays.ledger.works, arrays.ledger.defect, arrays.ledger.impulse, arrays.ledger.slip):
            array[:] = rng.normal(size=len(array))
        below = dynamics.forward_kinematics(model, arrays.q).contact
        for c in range(model.nc):
            deep = below[c, 2] < 0.0 and model.is_floating  # a root that is held would be too deep
            arrays.mode[c] = (SLIDING, STICKING)[c % 2] if deep else NONE
            arrays.anchor[c] = below[c, :2] + rng.normal(size=2) * (1e-4 if c % 4 == 1 else 0.1)
        if model.is_floating:  # the highest of those below the floor has come down just now
            arrays.mode[np.argmax(np.where(arrays.mode != NONE, below[:, 2], -np.inf))] = NONE
        one = np.repeat(model.tree.dofs == 1, model.tree.dofs)
        arrays.torque[:] = 5.0 * rng.normal(size=model.nv)
        arrays.torque[: 6 if model.is_floating else 0] = 0.0
        arrays.torque[~one] = 0.0
        arrays.stiffness[one] = np.resize([50.0, 0.0, 1.0], one.sum())
        arrays.damping[one] = np.resize([2.0, 1.0, 0.0], one.sum())
        arrays.setpoint[one] = rng.normal(size=one.sum())
        arrays.cache.rate_change[:], arrays.cache.rate_curve[:] = rng.normal(size=(2, model.nv))
        arrays.clock[simulation_state.LAST_STEP_LENGTH] = 3.0 * H

    # --- the step again, longhand ---

    def places(self, arrays):
        return dynamics.forward_kinematics(self.model, arrays.q)

    def frame(self, t):
        return floor_frame(t) if self.moves else (np.zeros(3), np.eye(3))

    def law(self, at):
        inside = PATCH.x[0] <= at[0] <= PATCH.x[1]
        return (PATCH.floor if inside else FLOOR).parameters

    def contacts(self):
        """By point: its chord in the world, its ends in the floor, the law, the chord's middle and velocity, forces."""
        first, last = self.places(self.before).contact, self.places(self.after).contact
        (o, R), (p, Q), (_, M) = self.frame(BEGIN), self.frame(BEGIN + H), self.frame(BEGIN + 0.5 * H)
        found = []
        for c in range(self.model.nc):
            start, end = R.T @ (first[c] - o), Q.T @ (last[c] - p)
            law, anchor = self.law(start), tuple(self.before.anchor[c])
            middle, velocity = tuple(0.5 * (start + end)), tuple((end - start) / H)
            force = np.array(point_force(law, self.before.mode[c], middle, velocity, anchor))
            found.append((last[c] - first[c], start, end, law, middle, velocity, force, M @ force))
        return found

    def push_points(self, arrays):
        places, R = self.places(arrays), orientations(self.model, arrays.q)
        rows = [self.model.body_index(push.body) for push in self.pushes]
        return np.array([places.position[i] + R[i] @ p.point for i, p in zip(rows, self.pushes, strict=True)])

    def momenta(self, arrays):
        linear = arrays.momentum[:3]
        return np.concatenate([linear, arrays.momentum[3:6] + np.cross(arrays.q[:3], linear)])

    def impulses(self):
        masses = np.array([body.mass for body in self.model.bodies])
        first, last = self.places(self.before), self.places(self.after)
        weights = H * masses[:, None] * np.array(self.model.gravity)
        total = wrench(0.5 * (first.position + last.position), weights)
        for c, (*_, force) in enumerate(self.contacts()):
            total += wrench(0.5 * (first.contact[c] + last.contact[c]), H * force)
        given = [push.delivered(BEGIN, BEGIN + H) for push in self.pushes]
        return total + wrench(0.5 * (self.push_points(self.before) + self.push_points(self.after)), np.array(given))


def copied(arrays: simulation_state.SimulationState) -> simulation_state.SimulationState:
    return type(arrays)(*(copied(part) if isinstance(part, tuple) else part.copy() for part in arrays))


def wrench(places, forces):
    return np.concatenate([np.sum(np.atleast_2d(x), axis=0) for x in (forces, np.cross(places, forces))])


def close(ours, expected, size):
    return np.abs(np.asarray(ours) - expected).max() <= 1e-9 * max(size, float(np.abs(expected).max()))


CASES = [(seed, moves, Recursive) for seed in range(4) for moves in (True, False)]
CASES += [(seed, moves, Midpoint) for seed in range(2) for moves in (True, False)]


def name_of(case) -> str:
    seed, moves, integrator = case
    return f"{integrator().name}-{seed}-{'moving' if moves else 'resting'}"


@pytest.fixture(scope="module", params=CASES, ids=name_of)
def taken(request):
    seed, moves, integrator = request.param
    return Taken(seed, moves=moves, integrator=integrator)


def test_the_steps_show_what_they_are_for():
    steps = [Taken(seed, moves=moves) for seed, moves, integrator in CASES if integrator is Recursive]
    assert all(step.result > 0 for step in steps)
    modes = np.concatenate([step.before.mode[step.after.force[:, 2] > 0.0] for step in steps])
    assert {SLIDING, STICKING} <= set(modes)
    clipped = laws = 0
    for step in steps:
        for c, (_, _, _, law, middle, velocity, force, _) in enumerate(step.contacts()):
            held = step.before.mode[c] == STICKING and force[2] > 0.0
            clipped += held and is_clipped(law, middle, velocity, tuple(step.before.anchor[c]))
            laws += law == PATCH.floor.parameters and force[2] > 0.0
    assert clipped > 0
    assert laws > 0
    assert any(((step.before.mode == NONE) & (step.after.mode == SLIDING)).any() for step in steps)


def test_forces_are_those_of_the_law_at_the_chord(taken):
    expected = np.array([force for *_, force in taken.contacts()])
    assert close(taken.after.force, expected, 1.0)
    assert np.abs(expected).max() > 10.0


def test_the_floors_frames_are_where_the_floor_is():
    ground = compile_ground(FLOOR, rigid_box(1.0, (1.0, 1.0, 1.0)), PLATFORM_MOVES)
    for row, t in ((START, 0.1), (END, 0.77)):
        place_frame(ground, row, t)
        origin, R = floor_frame(t)
        assert ground.frame[row, :3] == pytest.approx(origin, abs=1e-14)
        assert ground.frame[row, 3:12] == pytest.approx(R.ravel(), abs=1e-14)
        assert ground.frame[row, 12:] == pytest.approx(np.roll(Rotation.from_matrix(R).as_quat(canonical=True), 1))
    place_frame(ground, START, 0.0)
    assert ground.frame[START] == pytest.approx([0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0], abs=1e-15)


def test_momentum_gains_what_was_given(taken):
    """Gravity, floor and pushes; nothing is left over, and the sum of impulses goes on.

    Of angular momentum something is left over by an integrator that does not conserve it, and told.
    """
    given = taken.impulses()
    size = float(np.abs(taken.momenta(taken.before)).max())
    gained = taken.momenta(taken.after) - taken.momenta(taken.before)
    kept = slice(0, 6 if taken.integrator.conserves_momentum else 3)
    assert close(gained[kept], given[kept], size)
    assert close(taken.after.ledger.impulse - taken.before.ledger.impulse, given, size)
    defect = taken.after.ledger.defect - taken.before.ledger.defect
    assert np.abs(defect[kept]).max() < 1e-12 * size
    about_root = (gained - given)[3:] - np.cross(taken.before.q[:3], (gained - given)[:3])
    assert np.abs(defect[3:] - about_root).max() < 1e-9 * size


def test_momentum_that_nothing_gave_is_told(taken):
    rng, arrays = np.random.default_rng(1), copied(taken.after)
    arrays.q[:3] = taken.before.q[:3]
    shift = taken.scratch.shift
    linear, angular, before, spin_before = rng.normal(size=(4, 3))
    defect, impulse = arrays.ledger.defect.copy(), arrays.ledger.impulse.copy()
    given = (tuple(before), tuple(spin_before), tuple(linear), tuple(angular))
    account_impulse(taken.model.tree, arrays, taken.scratch, *given)
    spin = arrays.momentum[3:6] + np.cross(shift, arrays.momentum[:3])
    left = np.concatenate([arrays.momentum[:3] - before - linear, spin - spin_before - angular])
    assert arrays.ledger.defect - defect == pytest.approx(left, rel=1e-9, abs=1e-12)
    about_origin = np.concatenate([linear, angular + np.cross(arrays.q[:3], linear)])
    assert arrays.ledger.impulse - impulse == pytest.approx(about_origin, rel=1e-9, abs=1e-12)


def test_works_of_contacts_and_of_the_floors_motion(taken):
    contacts = taken.contacts()
    done = sum(force @ chord for chord, *_, force in contacts)
    in_floor = sum(force @ (end - start) for _, start, end, _, _, _, force, _ in contacts)
    gained = taken.after.ledger.works - taken.before.ledger.works
    assert close(gained[simulation_state.CONTACT], done, 1.0)
    assert close(gained[simulation_state.PLATFORM], done - in_floor, 1.0)
    assert (abs(gained[simulation_state.PLATFORM]) > 1e-6) == taken.moves


def test_what_contacts_take_up_is_stored_or_dissipated(taken):
    lost = 0.0
    for c, (_, start, end, law, _, _, force, _) in enumerate(taken.contacts()):
        stored = stored_energy(law, taken.before.mode[c], tuple(start), tuple(taken.before.anchor[c]))
        kept = stored_energy(taken.law(end), taken.after.mode[c], tuple(end), tuple(taken.after.anchor[c]))
        lost -= force @ (end - start) + kept - stored
    assert close(
        taken.after.ledger.works[simulation_state.DISSIPATED] - taken.before.ledger.works[simulation_state.DISSIPATED],
        lost,
        1.0,
    )


def test_works_of_joints_and_pushes(taken):
    joints = 0.0
    for i, dofs in enumerate(taken.model.tree.dofs):
        if dofs == 1:
            a, j = taken.model.tree.first_q[i], taken.model.tree.first_v[i]
            p, change = taken.before, taken.after.q[a] - taken.before.q[a]
            spring = p.stiffness[j] * (p.q[a] + 0.5 * change - p.setpoint[j])
            joints += (p.torque[j] - spring - p.damping[j] * change / H) * change
    moved = taken.push_points(taken.after) - taken.push_points(taken.before)
    pushed = sum(np.dot(p.delivered(BEGIN, BEGIN + H), by) / H for p, by in zip(taken.pushes, moved, strict=True))
    gained = taken.after.ledger.works - taken.before.ledger.works
    assert close(gained[simulation_state.ACTUATORS], joints, 1e-3)
    assert close(gained[simulation_state.PUSHES], pushed, 1e-3)
    assert gained[simulation_state.IMPACTS] == gained[AT_START] == 0.0


def test_modes_anchors_and_slips(taken):
    for c, (_, start, end, law, middle, velocity, force, _) in enumerate(taken.contacts()):
        mode, anchor = taken.before.mode[c], tuple(taken.before.anchor[c])
        found = state_at_end(law, mode, middle, velocity, anchor, end[2])
        assert (taken.after.contact_state[c], taken.after.mode[c]) == (found, mode_of(found))
        held = anchor_at_end(law, mode, middle, velocity, anchor, tuple(end), tuple(force))
        assert taken.after.anchor[c] == pytest.approx(held, rel=1e-9)
        slides = mode == SLIDING or (mode == STICKING and is_clipped(law, middle, velocity, anchor))
        slipped = math.hypot(*(end - start)[:2]) if slides else 0.0
        assert taken.after.ledger.slip[c] - taken.before.ledger.slip[c] == pytest.approx(slipped, rel=1e-9, abs=1e-14)


def test_what_the_next_guess_goes_by(taken):
    model, after, before = taken.model, taken.after, taken.before
    middle = 0.5 * (H + 3.0 * H)
    expected = np.zeros(model.nv)
    turns = Rotation.from_matrix(orientations(model, after.q)), Rotation.from_matrix(orientations(model, before.q))
    for i, body in enumerate(model.bodies):
        a, j = model.tree.first_q[i], model.tree.first_v[i]
        if body.joint.has_axis:
            expected[j] = (after.q[a] - before.q[a]) / H
        elif body.joint.kind == "floating":
            expected[j : j + 3] = (after.q[a : a + 3] - before.q[a : a + 3]) / H
            expected[j + 3 : j + 6] = half_tangent(turns[0][i] * turns[1][i].inv())
        else:
            new, old = (Rotation.from_quat(q[[a + 1, a + 2, a + 3, a]]) for q in (after.q, before.q))
            parent = model.tree.parent[i]
            turn = half_tangent(new * old.inv())
            expected[j : j + 3] = turns[1][parent].apply(turn) if parent >= 0 else turn
    assert close(after.cache.rate, expected, 1.0)
    change = (expected - before.cache.rate) / middle
    assert close(after.cache.rate_change, change, 1.0)
    assert close(after.cache.rate_curve, change - before.cache.rate_change, 1.0)
    assert after.clock[2] == H


def half_tangent(turn):
    """The rotation vector that ``displace`` takes, of (1, φ/2) normalized."""
    x, y, z, w = turn.as_quat(canonical=True)
    return 2.0 * np.array([x, y, z]) / (w * H)


def test_the_poses_are_those_of_the_new_configuration(taken):
    fresh = new_scratch(taken.model.n, taken.model.nq, taken.model.nv, taken.model.nc)
    prepare(taken.model.tree, taken.after, fresh)
    assert taken.scratch.motion.poses.flat == pytest.approx(fresh.motion.poses.flat, abs=1e-14)
    assert taken.scratch.motion.inertia == pytest.approx(fresh.motion.inertia, abs=1e-14)


@pytest.mark.parametrize("seed", range(3))
def test_a_root_that_is_held_has_no_books_of_momentum(seed):
    step = Taken(seed, floating=False, moves=False)
    assert step.result > 0
    assert np.array_equal(step.after.ledger.defect, step.before.ledger.defect)
    assert np.array_equal(step.after.ledger.impulse, step.before.ledger.impulse)
    assert not np.array_equal(step.after.q, step.before.q)
    assert whole_momentum(step.model.tree, step.arrays) == ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


@pytest.mark.parametrize(("share", "taken_whole"), [(0.999, False), (1.001, True)])
@pytest.mark.parametrize("moves", [False, True])
def test_a_landing_that_is_too_deep_is_not_taken(moves, share, taken_whole):
    seed = 2
    whole = Taken(seed, moves=moves)
    ends = np.array([end[2] for _, _, end, *_ in whole.contacts()])
    deepest = ends[whole.before.mode == NONE].min()
    assert ends.min() < deepest < -1e-4
    step = Taken(seed, moves=moves, depth=-share * deepest)
    assert (step.result == LANDED_TOO_DEEP) == (not taken_whole)
    if not taken_whole:
        assert np.array_equal(step.after.q, step.before.q)
        assert np.array_equal(step.after.ledger.works, step.before.ledger.works)
        assert np.array_equal(step.after.momentum, step.before.momentum)
        assert np.array_equal(step.after.mode, step.before.mode)


def test_iterations_are_counted_by_step_and_their_most_is_kept():
    count = np.arange(10, 10 + simulation_state.COUNTS)
    for done, most, halved in ((7, 5, False), (30, 25, True), (2, 1, True)):
        before = count.copy()
        count_iterations(count, done, most, halved)
        assert count[simulation_state.ITERATIONS] - before[simulation_state.ITERATIONS] == done
        for place in (simulation_state.MOST_ITERATIONS, simulation_state.RECENT_ITERATIONS):
            assert count[place] == max(before[place], most)
        assert count[simulation_state.RETRIED] - before[simulation_state.RETRIED] == int(halved)
        others = [
            k
            for k in range(simulation_state.COUNTS)
            if k
            not in (
                simulation_state.ITERATIONS,
                simulation_state.MOST_ITERATIONS,
                simulation_state.RECENT_ITERATIONS,
                simulation_state.RETRIED,
            )
        ]
        assert np.array_equal(count[others], before[others])
