"""Animation of a mode: choice of the mode, amplitude, decay."""

import numpy as np
import pytest

from biped import Recursive, Scene, Session, human
from biped.derivatives.linearization import equilibrium
from biped.dynamics import forward_kinematics
from controllers import WorkspaceController
from experiments.visualization.linearization import CONSTANTS, WIDEST_TURN, moving_mode, shape


@pytest.fixture(scope="module")
def standing():
    scene = Scene(human(), WorkspaceController(), integrator=Recursive(tolerance=1e-11))
    session = Session(scene)
    session.advance(1500)
    return equilibrium(scene, session.state)


def test_it_solves_the_linear_map(standing):
    """The eigenvalue rotates real into imaginary part of the shown displacements."""
    _, found = standing
    values, right, _ = found.eigenvectors
    real, imaginary, rate = shape(found, 0)
    whole = right[:, np.argmin(np.abs(values - found.mode_list[0].eigenvalue))]
    seen = real + 1j * imaginary
    ratio = seen / whole[:18]
    large = np.abs(seen) > 1e-6
    assert np.abs(ratio[large] - ratio[large][0]).max() < 1e-6 * np.abs(ratio[large][0])
    assert np.exp(rate * found.period) == pytest.approx(found.mode_list[0].eigenvalue, rel=1e-12)
    assert np.abs(seen).max() == pytest.approx(WIDEST_TURN)


def test_it_begins_widest_and_dies_away(standing):
    state, found = standing
    mode = moving_mode(found, state, 0)
    rows = mode.trajectory.rows
    rest = np.asarray(forward_kinematics(found.model, state.q).position)
    away = np.abs(rows.position - rest).max(axis=(1, 2))
    assert away[0] > 0.02
    assert away[-1] < 2.0 * np.exp(-CONSTANTS) * away[0]
    assert mode.trajectory.ends == pytest.approx(CONSTANTS / found.mode_list[0].decay)
    assert found.mode_list[0].words in mode.verdict
