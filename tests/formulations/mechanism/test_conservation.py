"""Conservation by the variational integrator: symplectic form, momenta, time reversal, energy, constraints."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from formulations import mechanism as mech
from formulations.mechanism import rx, ry, rz, tx, ty, tz
from tests.differences import jacobian

from .closed_chains import Chain, four_bar, mechanism_of, rssr
from .random_frames import conservative, tangent_rates

STEP = 0.02
#: Of the differences.
REACH = 4e-4


def symplectic_form(columns):
    """ω of all pairs of columns (δq, δp)."""
    n = len(columns) // 2
    return columns[:n].T @ columns[n:] - columns[n:].T @ columns[:n]


@pytest.mark.parametrize(("seed", "loops", "alpha"), [(0, 0, 0.5), (1, 0, 0.25), (2, 2, 0.5), (3, 3, 1.0)])
def test_a_step_is_symplectic(seed, loops, alpha):
    """Tangents of the manifold of constraints in phase space, before and after a step: by differences, to rounding."""
    mechanism, q, v = conservative(seed, loops)
    Dh = mechanism.constraint_jacobian(q)
    free = np.linalg.svd(Dh)[2][len(Dh) :].T if loops else np.eye(mechanism.size)
    d = free.shape[1]

    def start(u):
        place = mechanism.satisfy_constraints(q + free @ u[:d], 1e-14)
        return place, tangent_rates(mechanism, place, v + free @ u[d:])

    def before(u):
        place, rates = start(u)
        return np.concatenate([place, mechanism.momentum(place, rates)])

    def after(u):
        place, rates = start(u)
        motion = mechanism.simulate(STEP, STEP, q=place, v=rates, alpha=alpha, tolerance=1e-15)
        return np.concatenate([motion.q[1], motion.momentum[1]])

    here, there = (jacobian(function, np.zeros(2 * d), REACH) for function in (before, after))
    expected, found = (symplectic_form(columns.value) for columns in (here, there))
    assert np.abs(np.linalg.eigvals(expected)).min() > 1e-3  # it is one
    slack = max(2.0 * np.abs(one.value).sum(axis=0).max() * one.error.max() for one in (here, there))
    assert np.abs(found - expected).max() <= max(slack, 1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("alpha", [0.5, 0.25])
def test_momenta_of_cyclic_coordinates_are_kept_to_rounding(alpha):
    leg = ry("hip", tz(-0.6, rx("knee", tz(-0.4, name="foot", mass=(0.5, 0.02, 0.01, 0.01)))), mass=0.2)
    arm = rx("shoulder", tx(0.5, ry("elbow", tz(-0.4, name="hand", mass=0.3))), mass=(0.4, 0.02, 0.02, 0.02))
    body = rz("turn", leg, tz(0.7, arm), tx(0.3, mass=1.0, name="belly"), mass=(3.0, 0.2, 0.3, 0.1))
    mechanism = mech.Mechanism(
        "skater", [tx("x", ty("y", body))], potentials=[mech.LinearSpring("foot", "belly", 40.0, 0.3)]
    )
    q = np.array([0.0, 0.0, 0.3, 0.4, 0.2, 0.5, -0.3])
    length = np.linalg.norm(mechanism.frame("hand").position(q) - mechanism.frame("belly").position(q))
    mechanism = replace(mechanism, constraints=[mech.Distance("hand", "belly", float(length))])
    v = tangent_rates(mechanism, q, np.array([0.5, -0.2, 2.0, 1.0, -1.0, 0.7, 0.4]))
    # What is left of a step's equations is carried over in p, but as the tree slides it changes its moment about O.
    motion = mechanism.simulate(10.0, 0.01, q=q, v=v, alpha=alpha, tolerance=1e-14)
    assert np.ptp(motion.q[:, 3:], axis=0).min() > 0.1  # it moves
    (x, y), (px, py, turning) = motion.q[:, :2].T, motion.momentum[:, :3].T
    for kept in (px, py, x * py - y * px + turning):
        assert np.abs(kept - kept[0]).max() < 2e-12


@pytest.mark.parametrize("loops", [0, 2])
def test_the_symmetric_rule_finds_its_way_back(loops):
    mechanism, q, v = conservative(5, loops)
    there = mechanism.simulate(1.0, 0.01, q=q, v=v, tolerance=1e-14)
    back = mechanism.simulate(1.0, 0.01, q=there.q[-1], v=-there.v[-1], tolerance=1e-14)
    assert np.abs(there.q[-1] - q).max() > 0.1
    assert_allclose(back.q[::-1], there.q, atol=1e-8)
    one_sided = mechanism.simulate(1.0, 0.01, q=q, v=v, alpha=0.25)
    returned = mechanism.simulate(1.0, 0.01, q=one_sided.q[-1], v=-one_sided.v[-1], alpha=0.25)
    assert np.abs(returned.q[-1] - q).max() > 1e-4


@pytest.mark.parametrize("make", [four_bar, rssr])
def test_energy_does_not_drift_and_constraints_hold(make):
    """Over 20 000 steps: the mean of the last tenth is that of the first, as far as the oscillation lets it be said."""
    chain: Chain = make()
    mechanism = mechanism_of(chain)
    motion = mechanism.simulate(200.0, 0.01, q=chain.configuration(chain.start), record_every=5)
    energy = motion.frame["energy"].to_numpy()
    tenth = len(energy) // 10
    first, last, swing = energy[:tenth], energy[-tenth:], np.ptp(energy)
    assert abs(last.mean() - first.mean()) < 0.05 * swing
    assert np.ptp(last) < 1.2 * np.ptp(first)
    assert mechanism.largest_constraints(motion.q[::40]).max() <= 1e-10
