"""A model of another size moves as the first does, in its own measures of length, mass and time."""

import math

import numpy as np
import pytest

from biped import Joint, ModelError, State, WholeBody, human, scaled, simulate, standing
from biped.model import random_tree
from contact import Floor

LENGTH, MASS = 1.2, 1.5


@pytest.mark.parametrize("seed", range(4))
def test_it_is_dynamically_similar(seed):
    """With times by √λ and torques by μλ, angular accelerations are 1/λ of the first's, linear ones the same."""
    generator = np.random.default_rng(seed)
    model = random_tree(generator, 6, kinds=("revolute", "spherical"))
    other = scaled(model, LENGTH, MASS)
    q, v, torque = model.neutral(), generator.normal(size=model.nv), generator.normal(size=model.nv)
    big_q = q.copy()
    big_q[:3] = other.neutral()[:3]
    rate, effort = np.full(model.nv, LENGTH**-0.5), np.full(model.nv, MASS * LENGTH)
    rate[:3], effort[:3] = LENGTH**0.5, MASS
    first, second = WholeBody(model, q, v), WholeBody(other, big_q, rate * v)
    expected = np.linalg.solve(first.mass_matrix, torque - first.bias_forces) * rate / LENGTH**0.5
    found = np.linalg.solve(second.mass_matrix, effort * torque - second.bias_forces)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_limits_and_bearings_of_joints_scale_too():
    hinge = Joint("hinge", "revolute", (0, 1, 0), (0, 0, 1), -1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0)
    slide = Joint("slide", "prismatic", (0, 0, 1), (0, 0, 1), -1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0)
    person = human()
    bodies = [
        person.root,
        *(
            type(person.root)(f"{joint.name}_body", 1.0, person.root.inertia, (0.0, 0.0, 0.1), joint, person.root.name)
            for joint in (hinge, slide)
        ),
    ]
    model = type(person)("limited", tuple(bodies), posture=(("hinge", 0.1), ("slide", 0.1)))
    other = {body.joint.name: body.joint for body in scaled(model, 4.0, 3.0).bodies}
    found = other["hinge"]
    assert (found.position, found.lower, found.upper) == ((0.0, 0.0, 4.0), -1.0, 2.0)
    assert (found.max_velocity, found.max_effort, found.damping) == (3.0 / 2.0, 4.0 * 12.0, 5.0 * 24.0)
    assert (found.friction, found.armature) == (6.0 * 12.0, 7.0 * 48.0)
    found = other["slide"]
    assert (found.lower, found.upper, found.max_velocity, found.max_effort) == (-4.0, 8.0, 3.0 * 2.0, 4.0 * 3.0)
    assert (found.damping, found.friction, found.armature) == (5.0 * 3.0 / 2.0, 6.0 * 3.0, 7.0 * 3.0)
    assert dict(scaled(model, 4.0, 3.0).posture) == {"hinge": 0.1, "slide": 0.4}


def test_a_smaller_human_stands_as_the_first_does():
    small = scaled(human(), 0.8, 0.5)
    assert small.total_mass == pytest.approx(0.5 * human().total_mass)
    rigid = Floor(k_n=1e7)  # it sinks in by its weight over the springs, which are not scaled
    first, second = standing(human(), rigid), standing(small, rigid)
    np.testing.assert_allclose(second.q[:3], 0.8 * first.q[:3], atol=1e-4)
    np.testing.assert_allclose(second.q[7:], first.q[7:], atol=1e-3)


def test_a_motion_is_the_same_in_its_own_time():
    person, half = human().without_contacts(), scaled(human(), 0.25, 0.1).without_contacts()
    angles = {"left_knee_pitch": -60.0, "right_hip_pitch": 30.0}
    starts = [State.at(model, model.configuration(angles=angles, degrees=True)) for model in (person, half)]
    spin = np.zeros(person.nv)
    spin[6:] = 1.0
    states = [
        State.at(model, start.q, spin * rate)
        for model, start, rate in ((person, starts[0], 1.0), (half, starts[1], 2.0))
    ]
    runs = [
        simulate(model, state=state, duration=0.4 * time, step=1e-3 * time)
        for model, state, time in ((person, states[0], 1.0), (half, states[1], 0.5))
    ]
    np.testing.assert_allclose(runs[1].state.q[3:], runs[0].state.q[3:], atol=1e-6)  # as far as steps are solved


@pytest.mark.parametrize(("name", "value"), [("length", 0.0), ("mass", -1.0), ("length", math.nan)])
def test_a_factor_that_is_none_is_refused(name, value):
    with pytest.raises(ModelError, match=f"scaled: {name}"):
        scaled(human(), **{name: value})
