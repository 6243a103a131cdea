"""Blocks thrown at all of a body: what they meet, by closed form, and that nothing comes of nothing."""

import numpy as np
import pytest

from biped import Body, Capsule, InputError, Model, Recursive, Rigid, State, Throw, floating, human, simulate
from biped.model import box_inertia
from experiments.catalogue.registry import experiment_named

EDGE = 0.1216


def thrown(position, velocity, **changes):
    return Throw(1.8, (EDGE,) * 3, position, velocity, **{"target": "all"} | changes)


def impacts(run):
    return run.events[run.events["kind"] == "impact"]


def momenta(state):
    """Linear and angular momentum about the origin, of the model and the block."""
    block, p, center = state.projectile, state.momentum, state.q[:3]
    linear = p[:3] + block[7:10]
    return linear, p[3:6] + np.cross(center, p[:3]) + block[10:13] + np.cross(block[:3], block[7:10])


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_a_block_hits_a_ball_in_the_middle(restitution):
    """The relative velocity comes back by the coefficient of restitution, and the momentum stays."""
    ball = Model(
        "ball", (Body("ball", 3.0, box_inertia(3.0, (0.2, 0.2, 0.2)), (0.0, 0.0, 0.0), floating("body")),),
        gravity=(0.0, 0.0, 0.0), capsules=(Capsule("ball", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.1),),
    )  # fmt: skip
    block = thrown((-0.5, 0.0, 0.0), (4.0, 0.0, 0.0), restitution=restitution)
    state = State.at(ball)
    state = simulate(ball, state=state, step=1e-3, duration=0.2, disturbances=[block]).state
    after = (1.8 - restitution * 3.0) / 4.8 * 4.0, (1.0 + restitution) * 1.8 / 4.8 * 4.0
    assert state.projectile[7] / 1.8 == pytest.approx(after[0], abs=1e-9)
    assert state.momentum[0] / 3.0 == pytest.approx(after[1], abs=1e-9)
    meets = (0.5 - 0.1 - EDGE / 2) / 4.0
    assert state.q[0] == pytest.approx(after[1] * (0.2 - meets), abs=1e-6)


@pytest.mark.parametrize("integrator", [Recursive(), Rigid()])
@pytest.mark.parametrize(
    ("height", "body"), [(0.3, "left_shank"), (0.7, "left_thigh"), (0.03, "left_foot"), (1.66, "trunk")]
)
def test_momenta_stay_when_it_hits_a_human_in_flight(height, body, integrator):
    model = human().without_contacts().with_gravity((0.0, 0.0, 0.0))
    state = State.at(model)
    aside = 0.0 if body == "trunk" else -0.17
    block = thrown((0.4, aside, height), (-5.0, 0.3, 0.2), angular_velocity=(3.0, -2.0, 5.0))
    run = simulate(model, state=state, step=1e-3, duration=0.15, integrator=integrator, disturbances=[block])
    state = run.state
    assert impacts(run)["subject"].iloc[0] == body
    linear, angular = momenta(state)
    begin = 1.8 * np.array(block.velocity)
    spin = np.cross(block.position, begin) + 1.8 * EDGE**2 / 6.0 * np.array(block.angular_velocity)
    assert np.abs(linear - begin).max() < 1e-12
    assert np.abs(angular - spin).max() < 1e-12
    assert run.frame["ledger_residual"].abs().max() < 1e-2  # of the 20 J of the block; of second order in the step


def test_what_flies_past_the_trunk_hits_a_leg_only_where_it_may():
    setup = experiment_named("thrown-block")
    low = {"block.position": (0.5, -0.15, 0.3), "block.velocity": (-4.5, 0.0, 0.4), "run.duration": 0.12}
    past = setup.run(low)
    assert impacts(past).empty
    hit = setup.run(low | {"block.target": "all"})
    assert list(impacts(hit)["subject"])[:1] == ["left_shank"]
    one = setup.run(low | {"block.target": "left_shank"})
    assert np.array_equal(impacts(one).to_numpy()[0, 2:], impacts(hit).to_numpy()[0, 2:])


def test_a_target_without_a_shape_and_a_start_inside_are_refused():
    with pytest.raises(InputError, match="'left_ankle' has no box to hit; bodies with one are trunk, left_foot"):
        simulate(human(), disturbances=[thrown((1.0, 0.0, 1.0), (0.0, 0.0, 0.0), target="left_ankle")])
    with pytest.raises(InputError, match="inside of the box of 'left_shank'"):
        simulate(human(), disturbances=[thrown((0.0, -0.15, 0.3), (0.0, 0.0, 0.0))])
