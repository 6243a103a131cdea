"""The kernels as plain Python: an oracle for what Numba makes of them, and what coverage can look into."""

from pathlib import Path

import numpy as np
import pytest

from .conftest import said_by

ROOT = Path(__file__).resolve().parent.parent

# The human, knees bent, comes down by 4.6 mm: flight, touch-down of toes and heels, sliding, sticking, controller.
CLOSED_LOOP = """
import sys
from math import cos, radians, sin

import numpy as np

from biped import State, human, simulate
from controllers.workspace import WorkspaceController

model = human()
legs = {"hip_pitch": 40.0, "knee_pitch": -77.4595, "ankle_pitch": 42.4595}
q = model.configuration(
    position=(0.0, 0.0, 1.035),
    orientation=(cos(radians(-2.5)), 0.0, sin(radians(-2.5)), 0.0),
    angles={f"{side}_{joint}": radians(angle) for side in ("left", "right") for joint, angle in legs.items()},
)
v = np.zeros(model.nv)
v[2] = -0.8
run = simulate(model, WorkspaceController(), state=State.at(model, q, v), duration=0.012)
modes = run.frame.filter(regex="contact_.*_mode")
assert {1, 2, 4} <= set(modes.to_numpy().ravel())
np.save(sys.argv[1], run.frame.to_numpy(dtype=float))
"""


# Two arms with springs, a constraint, forces and components of a user's own.
MECHANISM = """
import sys

import numpy as np

from formulations.mechanism import BodyWrench, Damper, LinearSpring, PointAlong
from tests.formulations.mechanism.test_custom import START, OwnDamper, OwnRod, OwnSpringWithHessian, arms

acting = arms(
    potentials=[LinearSpring("left", "right", 40.0, 0.6), OwnSpringWithHessian("left", "right", 4.0, 0.6)],
    constraints=[PointAlong("left", "world", (1, 0, 0)), OwnRod("right", "world", 1.5)],
    forces=[Damper("c", 0.1), OwnDamper("left", "c", 0.1, 0.3), BodyWrench("right", force=(0, 0.1, 0.2))],
)
motion = acting.simulate(0.1, q=acting.satisfy_constraints(START))
np.save(sys.argv[1], motion.frame.select_dtypes("number").to_numpy(dtype=float))
"""


def outcome(script, folder, jit_off):
    target = folder / f"jit_off_{jit_off}.npy"
    said_by(script, str(target), NUMBA_DISABLE_JIT="1" if jit_off else "0")
    return np.load(target)


BASELINES = """
import sys

import numpy as np

from biped import Adaptive, Push, RungeKutta4, SemiImplicitEuler, State, simulate
from biped.model import random_tree

model = random_tree(np.random.default_rng(3), 4, floating=True, kinds=("spherical", "revolute"))
rng = np.random.default_rng(1)
push = Push(model.body_names[1], (1.0, 0.0, 0.0), 1.0, duration=0.01)
frames = []
for integrator in (SemiImplicitEuler(), RungeKutta4(), Adaptive()):
    state = State.at(model, v=rng.normal(size=model.nv))
    run = simulate(model, state=state, duration=0.01, step=1e-3, integrator=integrator, disturbances=[push])
    frames.append(run.frame.to_numpy(dtype=float))
np.save(sys.argv[1], np.concatenate(frames))
"""

MAXIMAL = """
import sys
import numpy as np
from biped import Maximal, State, simulate
from biped.model import random_tree
from controllers import JointImpedance

model = random_tree(np.random.default_rng(5), 5, contacts=6)
q = model.neutral()
q[2] += 0.25
state = State.at(model, q, np.random.default_rng(1).normal(size=model.nv))
run = simulate(model, JointImpedance(10.0, 0.1), state=state, duration=0.03, integrator=Maximal())
assert set(run.frame.filter(regex="contact_.*_mode").to_numpy().ravel()) != {1}
np.save(sys.argv[1], run.frame.drop(columns=["gap_position", "gap_rotation"]).to_numpy(dtype=float))
"""


@pytest.mark.parametrize(
    ("script", "by_columns"), [(CLOSED_LOOP, True), (MECHANISM, False), (BASELINES, False), (MAXIMAL, True)]
)
def test_motions_are_the_same_compiled_and_not(tmp_path, script, by_columns):
    plain, compiled = (outcome(script, tmp_path, off) for off in (True, False))
    scale = np.maximum(1.0, np.abs(plain).max(axis=0) if by_columns else np.abs(plain))
    np.testing.assert_allclose(compiled / scale, plain / scale, rtol=0.0, atol=1e-9)
