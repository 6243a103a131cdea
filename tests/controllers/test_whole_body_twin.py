"""Compiled whole-body controller against its twin, and its plan against the equations of motion."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from biped import Body, Controller, InputError, Model, Observation, Scene, Session, human, simulate, spherical, standing
from contact import ContactState
from controllers.kernels.contact_qp import ENDED, SOLVED
from controllers.whole_body import WholeBodyController

from .contact_programs import Kept, Watched, limited, run_of, scenes
from .whole_body_twin import Terms, Twin

#: Of torques, by the largest of a tick.
AGREEMENT = 1e-9
TORQUES = {"left_knee_pitch": 40.0, "right_hip_roll": 25.0, "right_ankle_pitch": 30.0}


def with_ball_joints() -> Model:
    person, inertia = human(), ((0.03, 0.0, 0.0), (0.0, 0.03, 0.0), (0.0, 0.0, 0.004))
    arms = (Body(f"{side}_arm", 2.0, inertia, (0.0, 0.0, -0.15), spherical(f"{side}_shoulder", (0.0, y, 0.25)), "trunk")
            for side, y in (("left", -0.25), ("right", 0.25)))  # fmt: skip
    return Model("armed", (*person.bodies, *arms), contact_points=person.contact_points, feet=person.feet)


CASES = {
    "free": (human(), {}),
    "torques limited": (human(), {"torque_limit": TORQUES}),
    "ball joints": (with_ball_joints(), {}),
    "all limited": (limited(human()), {"torque_limit": 80.0}),
    "otherwise tuned": (human(), {"capture": 5.0, "weight_trunk": 0.5, "weight_momentum": 0.0, "friction": 0.6,
                                  "margin": 0.02, "lift": 0.001, "kp_posture": 80.0, "weight_force": 0.05}),
}  # fmt: skip


def seen_at_random(model: Model, random: np.random.Generator) -> Observation:
    q = standing(model).q.copy()
    q[:3] += 0.02 * random.normal(size=3)
    q[3:7] += 0.05 * random.normal(size=4)
    q[3:7] /= np.linalg.norm(q[3:7])
    for body, first in zip(model.bodies[1:], model.tree.first_q[1:], strict=True):
        if body.joint.has_axis:
            q[first] += 0.1 * random.normal()
        else:
            q[first : first + 4] += 0.1 * random.normal(size=4)
            q[first : first + 4] /= np.linalg.norm(q[first : first + 4])
    touching = random.random(model.nc) < random.choice([0.0, 0.3, 0.7, 1.0])
    forces = np.where(touching[:, None], random.normal([0, 0, 90], [20, 20, 30], size=(model.nc, 3)), 0.0)
    loose = random.choice([ContactState.NONE, ContactState.PULLING], size=model.nc)
    modes = np.where(touching, ContactState.STICKING, loose)
    held = random.normal(size=model.nv - 6)
    return Observation(model, 0.0, q, 0.5 * random.normal(size=model.nv), forces, modes, held)


def compare(twin: Twin, seen: Observation, law, torques) -> int:
    ended = int(law.qp.counts[ENDED])
    plan = twin.plan(seen)
    if plan is None:
        assert len(law.limits.range_dof) > 0
        plan = twin.plan(seen, ranges=False)
    else:
        assert ended == SOLVED
    assert plan is not None
    scale = max(abs(plan.torques).max(), 1.0)
    np.testing.assert_allclose(torques / scale, plan.torques / scale, rtol=0.0, atol=AGREEMENT)
    planned = law.qp.unknown[: len(plan.acceleration)]
    scale = max(abs(plan.acceleration).max(), 1.0)
    np.testing.assert_allclose(planned / scale, plan.acceleration / scale, rtol=0.0, atol=AGREEMENT)
    return ended


@pytest.mark.parametrize("case", CASES)
def test_torques_are_those_of_the_twin_anywhere(case):
    model, settings = CASES[case]
    controller = Kept(**settings)
    twin, random = Twin(controller, model), np.random.default_rng(3)
    for _ in range(60):
        seen = seen_at_random(model, random)
        torques = controller.torques(seen)
        compare(twin, seen, controller.kept, torques)


def test_torques_are_those_of_the_twin_along_runs():
    """Torques equal the twin's at every eleventh tick of pushed runs, some of which end in a fall."""
    ends = []
    for scene in scenes(4):
        twin = Twin(WholeBodyController(), scene.model)
        run_of(scene, Watched(lambda *found, twin=twin: ends.append(compare(twin, *found)), every=11), 0.8)
    assert len(ends) > 100


@pytest.mark.parametrize("case", CASES)
def test_what_it_plans_is_what_moves(case):
    model, settings = CASES[case]
    controller = Kept(**settings)
    twin, random = Twin(controller, model), np.random.default_rng(4)
    loaded = 0
    for _ in range(60):
        seen = seen_at_random(model, random)
        torques = controller.torques(seen)
        acceleration, forces = np.split(controller.kept.qp.unknown, [model.nv])
        forces = forces.reshape(-1, 3)
        terms = Terms(model, twin.pinocchio, seen.q, seen.v)
        J = np.vstack([terms.point(name, inset)[1] for name, inset in zip(twin.names, twin.insets, strict=True)])
        moved = pin.rnea(twin.pinocchio, terms.data, terms.q, terms.v, terms.T @ acceleration + terms.drift)
        loads = terms.T.T @ moved - J.T @ forces.ravel()
        atol = 1e-9 * max(abs(moved).max(), 1.0)
        np.testing.assert_allclose(loads[:6], 0.0, rtol=0.0, atol=atol)
        np.testing.assert_allclose(loads[6:], torques, rtol=0.0, atol=atol)
        carrying = twin.carrying(seen, terms)
        assert (forces[~carrying] == 0.0).all()
        tangential, normal = np.hypot(forces[:, 0], forces[:, 1]), forces[:, 2]
        assert (tangential <= controller.friction * normal + 1e-6).all()
        limited = [model.dof(joint) - 6 for joint in model.joint_names]
        most = np.array([twin.torque_limit(joint) for joint in model.joint_names])
        assert (abs(torques[limited]) <= most * (1.0 + 1e-14)).all()
        loaded += normal.sum() > 0.0
    assert loaded > 20


class Wrapped(Controller):
    def __init__(self, *, arms: bool) -> None:
        self.arms, self.seen = arms, []

    def torques(self, observation):
        self.seen.append(observation)
        torques = WholeBodyController().torques(observation)
        return torques if self.arms else torques[: len(observation.model.joint_names)]


def test_ball_joints_get_their_torques_from_python_too():
    model = with_ball_joints()
    start = {"state": standing(model), "duration": 0.1}
    compiled = simulate(model, WholeBodyController(), **start)
    wrapped, limp = Wrapped(arms=True), Wrapped(arms=False)
    run = simulate(model, wrapped, **start)
    assert np.array_equal(run.state.q, compiled.state.q)
    assert np.array_equal(run.state.momentum, compiled.state.momentum)
    assert wrapped.seen[-1].torques.shape == (18,)
    assert wrapped.seen[-1].torques[12:].any()
    simulate(model, limp, **start)
    assert not limp.seen[-1].torques[12:].any()
    assert limp.seen[-1].torques[:12].any()


def test_a_wrong_number_of_torques_is_told_with_both_that_can_be():
    session = Session(Scene(with_ball_joints(), state=standing(with_ball_joints())))
    with pytest.raises(
        InputError, match=r"shape \(6,\); it must be \(12,\), one torque .* of one degree of freedom, or \(18,\)"
    ):
        session.step(np.zeros(6))
    with pytest.raises(InputError, match="torque of right_shoulder is not finite"):
        session.step(np.append(np.zeros(17), np.nan))
    seen = replace(seen_at_random(with_ball_joints(), np.random.default_rng(0)), torques=np.zeros(3))
    with pytest.raises(InputError, match=r"the observation's torques have shape \(3,\)"):
        WholeBodyController().torques(seen)
