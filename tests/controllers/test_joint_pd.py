"""Proportional and derivative action in the joints; and what the compiled loops record of a law."""

import numpy as np
import pytest

from biped import Observation, simulate
from biped.kernels.loop.measurement import new_measurement
from biped.kernels.tree.dynamics import set_tree_data
from biped.model import human, random_tree
from controllers import JointPD, WorkspaceController
from controllers.kernels.joint_pd import PdLaw, pd_torques
from controllers.kernels.workspace import workspace_torques

KINDS = ("revolute", "prismatic", "spherical")


@pytest.mark.jit_off
@pytest.mark.parametrize("seed", range(4))
def test_torques_are_those_of_springs_and_dampers_within_limits(seed):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 9, kinds=KINDS)
    q, v = model.neutral(), rng.normal(size=model.nv)
    dofs, places = ([f(joint) for joint in model.joint_names] for f in (model.dof, model.coordinate))
    q[places] = rng.normal(size=len(places))
    law = PdLaw(*(np.abs(rng.normal(size=model.nv)) for _ in range(2)), rng.normal(size=model.nv), np.ones(model.nv))
    asked = -law.kp[dofs] * (q[places] - law.target[dofs]) - law.kd[dofs] * v[dofs]
    law.limit[dofs] = np.abs(asked) * np.resize([0.5, 1.5], len(dofs))
    measurement, torque = measured(model, q, v), np.full(model.nv, 7.0)
    pd_torques(law, measurement, torque, np.zeros(0))
    assert torque[dofs] == pytest.approx(asked * np.resize([0.5, 1.0], len(dofs)), rel=1e-14)
    assert (asked[::2] > 0.0).any() or (asked[::2] < 0.0).any()
    assert (np.delete(torque, dofs) == 7.0).all()


@pytest.mark.parametrize("controller", [WorkspaceController(), JointPD(kp=300.0, kd=5.0, limit=20.0)])
def test_a_row_has_the_torques_and_the_wrench_for_what_it_shows(controller, posture):
    model = human()
    run = simulate(model, controller, state=posture(model), duration=0.02, step=1e-3)
    q, v = (run.frame[list(names)].to_numpy() for names in (model.coordinate_names, model.velocity_names))
    torques = run.frame[[f"torque_{joint}" for joint in model.joint_names]].to_numpy()
    for k in range(len(run.frame) - 1):
        expected = controller.torques(Observation(model, 0.0, q[k], v[k]))
        assert torques[k] == pytest.approx(expected, rel=1e-9, abs=1e-9)
        if isinstance(controller, WorkspaceController):
            wrench = run.frame[list(controller.recorded)].to_numpy()[k]
            assert wrench == pytest.approx(desired(controller, model, q[k], v[k]), rel=1e-9, abs=1e-9)
    assert np.abs(np.diff(torques[:-1], axis=0)).max() > 0.0


def desired(controller, model, q, v):
    wrench = np.zeros(6)
    workspace_torques(controller.law(model), measured(model, q, v), np.zeros(model.nv), wrench)
    return wrench


def measured(model, q, v):
    measurement = new_measurement(model.tree, model.nq, model.nv)
    measurement.q[:] = q
    set_tree_data(model.tree, q, v, measurement.motion)
    return measurement
