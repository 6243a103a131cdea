"""A thrown box in flight is the tree of one body: the same trajectory, from its own few lines."""

import numpy as np
import pytest

from biped import IntegrationError, Recursive, State, Throw, rigid_box, simulate

SPIN = (3.0, -5.0, 2.0)
BOX = Throw(2.0, (0.3, 0.2, 0.1), (50.0, 0.0, 2.0), (1.0, 2.0, 3.0), angular_velocity=SPIN)


def test_it_flies_as_a_tree_of_one_body_does(person):
    human = State.at(person.without_contacts())
    human = simulate(human.model, state=human, step=1e-3, duration=0.5, disturbances=[BOX]).state
    model = rigid_box(BOX.mass, BOX.size).without_contacts()
    tree = State.at(model, model.configuration(BOX.position, BOX.orientation), [*BOX.velocity, *SPIN])
    tree = simulate(model, state=tree, step=1e-3, duration=0.5, integrator=Recursive(tolerance=1e-13)).state
    assert np.abs(human.projectile[:7] - tree.q).max() < 1e-9
    assert np.abs(human.projectile[7:13] - tree.momentum).max() < 1e-9


def test_a_turn_too_large_for_the_step_is_refused(person):
    spinning = Throw(2.0, (0.3, 0.2, 0.1), (50.0, 0.0, 2.0), (0.0, 0.0, 0.0), angular_velocity=(1e4, 1e4, 0.0))
    with pytest.raises(IntegrationError, match="at 0 s: the thrown box's flight or collision has no solution"):
        simulate(person, step=2e-3, duration=0.1, disturbances=[spinning])
