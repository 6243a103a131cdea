"""The workspace law within friction cones: by the equations of motion of the whole tree, and beside the thesis's law."""

import math

import numpy as np
import pytest

from biped import standing
from biped.errors import InputError
from biped.kernels.loop.measurement import new_measurement
from biped.kernels.tree.dynamics import set_tree_data
from biped.model import human
from biped.whole_body import WholeBody
from contact.modes import NONE, STICKING
from controllers.cone_workspace import ConeWorkspaceController
from controllers.kernels.cone_workspace import WITHOUT_LIMITS, cone_workspace_torques
from controllers.kernels.contact_qp import COSINES, INNER, SINES, SOLVED
from controllers.kernels.whole_body import HELD
from controllers.kernels.workspace import workspace_torques
from controllers.workspace import WorkspaceController

MODEL = human()
GLUED = {"big_base": 1e6}


class Tick:
    """One control tick at a state, with some contact points lifted."""

    def __init__(self, q, v, lifted=(), kernel=cone_workspace_torques, make=ConeWorkspaceController, **settings) -> None:
        self.q, self.v = q, v
        controller = make(**settings)
        law = controller.law(MODEL)
        # Only those points carry that are said to.
        self.law = law._replace(tasks=law.tasks._replace(lift=-math.inf)) if lifted is not None else law
        measurement = new_measurement(MODEL.tree, MODEL.nq, MODEL.nv)
        measurement.q[:], measurement.time[:], measurement.held[:] = q, 0.0, 0.0
        measurement.found[:], measurement.force[:] = STICKING, 0.0
        measurement.found[list(lifted)] = NONE
        set_tree_data(MODEL.tree, q, v, measurement.motion)
        self.torque = np.full(MODEL.nv, math.nan)
        recorded = np.full(len(controller.recorded), math.nan)
        kernel(self.law, measurement, self.torque, recorded)
        assert np.isfinite(recorded).all()
        self.ended, self.iterations = recorded[-2:]
        self.torque[:6] = 0.0
        self.whole = WholeBody(MODEL, q, v)

    @property
    def forces(self):
        return self.law.qp.unknown[6:].reshape(-1, 3)

    def accelerations(self):
        """(nv,) with the root's as planned, and the legs' joints such that the feet do what is planned of them."""
        root = self.law.room.acceleration + self.law.qp.unknown[:6]
        root[:3] += np.cross(self.v[3:6], self.v[:3])
        J, wanted = [], []
        for k, foot in enumerate(MODEL.feet):
            twist = self.law.room.planned[k]
            arm = self.whole.position(foot) - self.q[:3]
            moving = self.whole.velocity(foot)
            linear = twist[:3] + np.cross(twist[3:], arm) + np.cross(moving[3:], moving[:3])
            J.append(self.whole.jacobian(foot))
            wanted.append(np.concatenate([linear, twist[3:]]) - self.whole.bias(foot))
        J, wanted = np.vstack(J), np.concatenate(wanted)
        return np.concatenate([root, np.linalg.solve(J[:, 6:], wanted - J[:, :6] @ root)])

    def residual(self):
        """(nv,) of M v̇ + h = τ + Jᵀ f: zero if all fits."""
        pushes = sum(
            self.whole.contact_jacobian(name).T @ force
            for name, force in zip(MODEL.contact_names, self.forces, strict=True)
        )
        return self.whole.mass_matrix @ self.accelerations() + self.whole.bias_forces - self.torque - pushes


def crouched(rng, wild=1.0):
    """A posture with bent knees, and how it moves."""
    q = standing(MODEL).q
    q[:3] += 0.02 * wild * rng.normal(size=3)
    q[7:] += 0.1 * wild * rng.normal(size=MODEL.nq - 7)
    for side in ("left", "right"):
        q[MODEL.coordinate(f"{side}_knee_pitch")] -= 0.4
    return q, wild * rng.normal(size=MODEL.nv) * np.repeat([0.5, 0.5, 0.3], [3, 3, MODEL.nv - 6])


LIFTED = [(), (0, 1), (0, 1, 2, 3), (1, 4, 5), tuple(range(8))]


@pytest.mark.parametrize("lifted", LIFTED)
@pytest.mark.parametrize("seed", range(4))
def test_what_is_planned_fits_the_equations_of_motion(seed, lifted):
    """Accelerations, forces and torques: the legs' weight and motion count for what the floor has to carry."""
    tick = Tick(*crouched(np.random.default_rng(seed)), lifted, **GLUED)
    assert tick.ended == SOLVED
    assert np.abs(tick.residual()).max() < 1e-5 * max(1.0, np.abs(tick.torque).max())


@pytest.mark.parametrize("lifted", LIFTED)
@pytest.mark.parametrize("seed", range(4))
def test_forces_lie_in_their_pyramids_and_lifted_points_have_none(seed, lifted):
    tick = Tick(*crouched(np.random.default_rng(seed)), lifted)
    sideways = tick.forces[:, :2] @ np.array([COSINES, SINES])
    assert (sideways <= 0.27 * INNER * tick.forces[:, 2:] + 1e-6).all()
    assert np.hypot(*tick.forces[:, :2].T).max() <= 0.27 * tick.forces[:, 2].max() + 1e-6
    assert not tick.forces[list(lifted)].any()
