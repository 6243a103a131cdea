"""Where a motion ends since a matrix became singular on the way, the message names the matrix and what is lost."""

import re

import numpy as np
import pytest

from biped.errors import IntegrationError
from formulations.mechanism import Distance, Mechanism, MechanismError, PointAlong, kinematic, rx, ry, rz, tx, ty, tz


def spherical(mass: float = 1.0) -> Mechanism:
    """Section VII-A: the angle about the vertical moves nothing where the pendulum hangs."""
    return Mechanism("spherical", [rz("phi", ry("theta", tz(-1.0, mass=mass)))])


@pytest.mark.parametrize("mass", [1.0, 1e-6])
def test_a_motion_through_the_pole_of_a_chart_says_that_M_is_singular_and_at_which_variable(mass: float) -> None:
    with pytest.raises(IntegrationError, match=r"M is nearly \(.*\) singular there \(det M = 0\): 'phi'") as caught:
        spherical(mass).simulate(5.0, 0.01, q={"theta": 0.5}, v={"phi": 1e-3}, tolerance=1e-10 * mass)
    angles = caught.value.run.q[:, 1]
    assert np.abs(angles[-1]) < 0.05 < np.abs(angles).max()


def test_far_from_the_origin_it_is_told_alike_and_nothing_is_told_that_is_not_so() -> None:
    far = Mechanism("far", [tx(300.0, rz("phi", ry("theta", tz(-1.0, mass=1.0))))])
    with pytest.raises(IntegrationError, match="'phi'"):
        far.simulate(5.0, 0.01, q={"theta": 0.5}, v={"phi": 1e-3})
    swing = Mechanism("swing", [tx(300.0, ry("theta", tz(-1.0, mass=1.0)))])
    with pytest.raises(IntegrationError) as caught:
        swing.simulate(5.0, 5.0, q={"theta": 0.5}, v={"theta": 40.0})
    assert "singular" not in str(caught.value)


def test_axes_in_one_line_are_told() -> None:
    gimbal = Mechanism("gimbal", [rx("a", ry("b", rx("c", mass=(1.0, 1.0, 2.0, 3.0))))], gravity=None)
    with pytest.raises(IntegrationError, match=r"M is singular there \(det M = 0\): 'a'"):
        gimbal.simulate(5.0, 0.01, q={"b": 0.5}, v={"b": -1.0})
    with pytest.raises(MechanismError, match=r"M is singular there \(det M = 0\): 'a'"):
        gimbal.rates_of({}, {"b": 1.0})


def test_constraints_that_become_dependent_on_the_way_are_told() -> None:
    """A bead on a hoop that is lifted over its top: there, the height and the hoop say the same."""
    bead = tx("x", ty("y", name="bead", mass=1.0))
    lift = ty(kinematic("lift"), name="height")
    held = [Distance("bead", "world", 1.0, name="hoop"), PointAlong("bead", "height", (0, 1, 0), name="lifted")]
    mechanism = Mechanism("bead", [bead, lift], None, constraints=held)
    with pytest.raises(IntegrationError, match=r"\[Dh M⁻¹ Dhᵀ\] is .*singular there") as caught:
        mechanism.simulate(2.0, 0.01, q={"x": 1.0}, v={"y": 1.0}, kinematic={"lift": lambda t: t})
    assert re.search("'hoop'|'lifted'", str(caught.value))
    assert 0.9 < len(caught.value.run.frame) * 0.01 < 1.1
