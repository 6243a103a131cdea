"""The pieces of the contact law: on each of them it is what the law itself is there."""

import numpy as np
import pytest

from contact import Floor
from contact.modes import NONE, SLIDING, STICKING
from contact.point_law import dragged_anchor
from contact.regimes import (
    CLIPPED,
    COULOMB,
    FREE,
    HELD,
    VISCOUS,
    anchor_in,
    force_in,
    keeps_anchor,
    point_force,
    regime_of,
)

pytestmark = pytest.mark.jit_off

FLOOR = Floor(mu_s=0.4, mu_d=0.3).parameters


def test_the_anchor_in_its_regime_is_the_laws():
    rng, met = np.random.default_rng(0), set()
    for _ in range(400):
        mode = int(rng.choice([NONE, SLIDING, STICKING]))
        p, velocity = rng.normal(size=3) * 1e-3, rng.normal(size=3) * rng.choice([3e-4, 0.03])
        anchor = p[:2] + rng.normal(size=2) * rng.choice([1e-4, 1e-3])
        p, velocity, anchor = map(tuple, (p, velocity, anchor))
        regime, force = regime_of(FLOOR, mode, p, velocity, anchor), point_force(FLOOR, mode, p, velocity, anchor)
        if mode != NONE and not keeps_anchor(FLOOR, regime, anchor, p, force):
            dragged = dragged_anchor(FLOOR, anchor, p, force)
            assert anchor_in(FLOOR, anchor, p, force) == pytest.approx(dragged, rel=1e-12)
        met.add(regime)
    assert met == {FREE, VISCOUS, COULOMB, HELD, CLIPPED}


def test_beyond_its_regime_a_force_goes_on_smoothly():
    """A point that has left its floor is pulled, one that yields is held: what derivatives of whole trials are of."""
    fx, _, fn = force_in(FLOOR, HELD, (1.0, 0.0, 1e-3), (0.0, 0.0, 0.0), (0.0, 0.0))
    assert fn == pytest.approx(-1e-3 * FLOOR.normal.k_n)
    assert fx == pytest.approx(-FLOOR.k_t)
