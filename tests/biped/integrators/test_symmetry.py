"""A symmetric step is undone by the step back: by every integrator that says so, and by none that does not."""

import numpy as np
import pytest

from biped import INTEGRATORS, dynamics

from .conftest import variants

STEP = 0.1


def gap_after_return(system, one_step, integrator) -> float:
    """What is left of a step and the one back: with reversed momenta, in the same direction of time."""
    model, q, v = system
    p = dynamics.mass_matrix(model, q) @ v
    there, momentum = one_step(model, integrator, q, p, v, STEP)
    assert np.linalg.norm(there - q) > 0.05
    rates = np.linalg.solve(dynamics.mass_matrix(model, there), momentum)
    back, reversed_p = one_step(model, integrator, there, -momentum, -rates, STEP)
    return max(np.abs(back - q).max(), np.abs(reversed_p + p).max())


SYMMETRIC = [name for name, integrator in INTEGRATORS.items() if integrator.symmetric]
SLOW = (
    "floating_tree-svi", "hanging_chain-svi", "hanging_chain-lee-broyden", "hanging_chain-lee-riqn",
    "floating_tree-lee-broyden", "floating_tree-lee-riqn",
)  # fmt: skip


@pytest.mark.parametrize(("system", "name"), variants(SYMMETRIC, SLOW), indirect=["system"])
def test_a_step_back_undoes_a_step(system, one_step, name):
    assert gap_after_return(system, one_step, INTEGRATORS[name]) < 1e-11


@pytest.mark.parametrize("name", [name for name, integrator in INTEGRATORS.items() if not integrator.symmetric])
def test_the_others_do_not_come_back(swinging, one_step, name):
    assert gap_after_return(swinging, one_step, INTEGRATORS[name]) > 1e-7
