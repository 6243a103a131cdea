"""A constraint's force has the same sign, unit and value in mechanisms, trees with loops, their joints, assemblies.

A constraint h = 0 acts by ∂hᵀ λ, λ being a force where h is a length and a moment where it is an angle.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from biped import Body, ClosingJoint, Model, State, box_inertia, revolute, simulate
from biped.model.geometry import quaternion_matrix
from formulations.assembly import Assembly, RigidBody, from_model, joint, placement_of
from formulations.mechanism import Coincident, Gear, Mechanism, integrate, kinematic, ry, rz, tx, tz

from .loops import BASE, COUPLER, CRANK, ROCKER, four_bar, four_bar_start
from .test_loops import TAKE_LOOPS, run_of

G = 9.81
DURATION = 0.1
STEPS = 4e-3, 2e-3
NAMES = "abc"
HELD = ["multiplier_pin_end_x", "multiplier_pin_end_z"]


def linkage() -> Mechanism:
    """``four_bar`` as frames, its fourth hinge being the constraint that the rocker's end meets the coupler's."""
    crank, coupler, rocker = ((body.mass, *np.diag(body.inertia)) for body in four_bar().bodies)
    middle = ry("b", tx(0.5 * COUPLER, mass=coupler), tx(COUPLER, name="end"))
    first = ry("a", tz(0.5 * CRANK, mass=crank), tz(CRANK, middle))
    last = ry("c", tz(0.5 * ROCKER, mass=rocker), tz(ROCKER, name="pin"))
    return Mechanism("linkage", [first, tx(BASE, last)], constraints=[Coincident("pin", "end", "xz")])


def started() -> dict[str, dict[str, float]]:
    q, v = four_bar_start(four_bar())
    return {"q": dict(zip(NAMES, q, strict=True)), "v": dict(zip(NAMES, v, strict=True))}


def force_on_the_rocker(times: list[float]) -> np.ndarray:
    """(times, 2) along x and z, by the continuous equations: an integrator of order eight."""
    found = integrate(linkage(), DURATION, 1e-3, method="dop853", tolerance=1e-12, **started())
    return found.frame.set_index("time")[HELD].to_numpy()[np.rint(np.array(times) / 1e-3).astype(int)]


def errors_fall_with_the_square_of_the_step(found: list[np.ndarray], times: list[float]) -> None:
    expected = force_on_the_rocker(times)
    errors = np.abs(np.array(found) - expected).max(axis=1)
    assert errors[1] < 0.01 * np.abs(expected).min()
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.25)


def test_a_mechanisms_multipliers_are_forces_on_the_first_of_two_points() -> None:
    found = [linkage().simulate(DURATION, h, **started()).frame[HELD].to_numpy()[-1] for h in STEPS]
    errors_fall_with_the_square_of_the_step(found, [DURATION] * 2)


@pytest.mark.parametrize("integrator", TAKE_LOOPS)
def test_a_trees_reactions_are_forces_on_the_child_in_the_middle_of_the_last_step(integrator: str) -> None:
    model, found = four_bar(), []
    for h in STEPS:
        run = run_of(model, *four_bar_start(model), duration=DURATION, step=h, integrator=integrator)
        found.append(run.frame[["reaction_d_fx", "reaction_d_fz"]].to_numpy()[-1])
        assert (run.units["reaction_d_fx"], run.units["reaction_d_ny"]) == ("N", "N*m")
    errors_fall_with_the_square_of_the_step(found, [DURATION - 0.5 * h for h in STEPS])


def test_an_assemblys_rows_are_forces_on_the_outboard_body_along_their_axes() -> None:
    model = four_bar()
    assembly, found = from_model(model), []
    hinge = next(one for one in assembly.joints if one.name == "d")
    for h in STEPS:
        motion = assembly.simulate(DURATION, h, placement_of(model, *four_bar_start(model)))
        R = quaternion_matrix(motion.orientation(hinge.inboard)[-1])
        columns = [f"reaction_d_{k}" for k in range(1, 6)]
        assert [motion.units[name] for name in columns] == ["N"] * 3 + ["N*m"] * 2
        along = np.array([row.axis for row in hinge.rigid_rows[:3]])
        found.append((motion.frame[columns[:3]].to_numpy()[-1] @ along @ R.T)[[0, 2]])
    errors_fall_with_the_square_of_the_step(found, [DURATION] * 2)


def test_moments_are_those_that_statics_ask_for() -> None:
    """An arm along x on a vertical hinge: its weight is carried, and so is the moment of it, −m g l about y."""
    mass, reach, across = 2.0, 0.6, (0.0, 0.0, 1.0)
    inertia = box_inertia(mass, (1.2, 0.1, 0.1))
    expected = -mass * G * reach
    arm = rz("turn", ry("sag", tx(reach, mass=(mass, *np.diag(inertia)))))
    mechanism = Mechanism("arm", [arm, ry(kinematic("held"))], constraints=[Gear("sag", "held", 1.0)])
    held = mechanism.simulate(0.02, 0.01, kinematic={"held": 0.0})
    assert held.units["multiplier_sag_held"] == "N*m"
    assert_allclose(held.frame["multiplier_sag_held"], expected, rtol=1e-9)
    body = Body("arm", mass, inertia, (reach, 0.0, 0.0), revolute("turn", across))
    tree = Model("arm", (body,))
    run = simulate(tree, state=State.at(tree), integrator="maximal", step=0.01, duration=0.02, record_every=0.01)
    last = run.frame.iloc[-1]
    assert_allclose([last["reaction_turn_fz"], last["reaction_turn_ny"]], [mass * G, expected], rtol=1e-9)
    hinge = joint("revolute", "turn", None, "arm", across, outboard_point=(-reach, 0.0, 0.0))
    free = Assembly("arm", [RigidBody("arm", mass, inertia)], [hinge])
    rows, motion = free.joints[0].rigid_rows, free.simulate(0.02, 0.01, free.place())
    found = motion.frame[[f"reaction_turn_{k}" for k in range(1, 6)]].to_numpy()[-1]
    along = np.array([row.axis for row in rows])
    assert_allclose(found[:3] @ along[:3], [0.0, 0.0, mass * G], atol=1e-7)
    assert_allclose(found[3:] @ along[3:], [0.0, expected, 0.0], atol=1e-7)
    lid = Body("lid", mass, inertia, (reach, 0.0, 0.0), revolute("swing", (0.0, 1.0, 0.0)))
    closed = Model("lid", (lid,), closing_joints=(ClosingJoint("stay", "fixed", None, "lid"),))
    for integrator in TAKE_LOOPS[:2]:
        run = simulate(
            closed, state=State.at(closed), integrator=integrator, step=0.01, duration=0.02, record_every=0.01
        )
        assert run.frame["reaction_stay_ny"].iloc[-1] == pytest.approx(expected, rel=1e-9)
