"""The marionette: as many variables as printed, closed at its start, alike on both sides, and free to hang."""

import numpy as np
import pytest

from formulations.mechanism import DiscreteMechanism
from formulations.mechanism.marionette import STRINGS, marionette, marionette_start


@pytest.fixture(scope="module")
def puppet():
    return marionette()


def test_it_has_as_many_variables_as_the_paper_counts(puppet):
    assert len(puppet.dynamic_coordinates) == 22
    assert len(puppet.kinematic_coordinates) == 18
    assert len(puppet.constraint_names) == 6
    system = DiscreteMechanism(puppet, 0.01)
    assert (system.states, system.inputs) == (80, 18)


def test_its_strings_hang_straight_at_the_start(puppet):
    q = marionette_start(puppet)
    assert np.abs(puppet.constraint_values(q)).max() < 1e-14
    assert np.linalg.matrix_rank(puppet.constraint_jacobian(q)) == 6
    for string in STRINGS:
        hook, above = (puppet.frame(f"{string}_{end}").position(q) for end in ("hook", "above"))
        length = q[puppet.coordinates.index(f"{string}_length")]
        assert above - hook == pytest.approx([0.0, 0.0, length], abs=1e-14)


def test_left_and_right_are_mirror_images(puppet):
    q = marionette_start(puppet)
    for name in puppet.frame_names:
        if name.startswith("left"):
            left, right = (puppet.frame(one).position(q) for one in (name, name.replace("left", "right")))
            assert left == pytest.approx(right * [-1.0, 1.0, 1.0], abs=1e-14)


def test_a_string_that_is_pulled_in_lifts_what_it_holds(puppet):
    system = DiscreteMechanism(puppet, 0.01)
    x = system.state(marionette_start(puppet))
    u = x[22:40].copy()
    knee = puppet.frame("left_knee_hook")
    before = knee.position(system.configuration_of(x))[2]
    for _ in range(20):
        u[puppet.kinematic_coordinates.index("left_knee_length")] -= 0.005
        x = system.advance(x, u)
    q = system.configuration_of(x)
    assert knee.position(q)[2] == pytest.approx(before + 0.1, abs=0.01)
    assert np.abs(puppet.constraint_values(q)).max() < 1e-11
