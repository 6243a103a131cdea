"""The joints' reaction forces: hand calculation, balance of momentum, and Pinocchio's inverse dynamics."""

import numpy as np
import pinocchio as pin
import pytest

from biped import Maximal, Push, Recursive, Run, State, dynamics, human, simulate
from biped.model import Body, Model, box_inertia, chain, prismatic, random_tree, revolute
from biped.model.pinocchio_model import configuration_to_pinocchio, to_pinocchio, velocity_to_pinocchio
from controllers import JointImpedance

KINDS = ("revolute", "prismatic", "spherical")
PARTS = ("fx", "fy", "fz", "nx", "ny", "nz")
G = 9.81


def reaction(run: Run, joint: str) -> np.ndarray:
    """(rows, 6)."""
    return run.frame[[f"reaction_{joint}_{part}" for part in PARTS]].to_numpy()


def beyond(model: Model, i: int) -> list[int]:
    found = [i]
    for j in range(i + 1, model.n):
        if model.tree.parent[j] in found:
            found.append(j)
    return found


def test_a_hanging_chain_carries_what_hangs_on_it():
    model = chain(4, mass=0.5)
    run = simulate(model.without_contacts(), step=1e-3, duration=0.02, integrator=Maximal())
    for k in range(4):
        below = 0.5 * G * (4 - k)
        rows = reaction(run, f"joint_{k + 1}")
        assert np.allclose(rows[1:], (0.0, 0.0, below, 0.0, 0.0, 0.0), rtol=0.0, atol=1e-9)
        assert not rows[0].any()
    assert run.units["reaction_joint_2_fz"] == "N"
    assert run.units["reaction_joint_2_ny"] == "N*m"
    assert run.units["gap_position"] == "m"


def test_a_bracket_bears_the_moment_of_its_load():
    """An arm of 0.4 m along x on a hinge about x, with a slide along x at its end that is held by a torque.

    About the hinge the weights pull at 0.4 m and at 0.4 + 0.1 m; the slide bears the moment of its own load.
    """
    inertia = box_inertia(2.0, (0.1, 0.1, 0.1))
    arm = Body("arm", 2.0, inertia, (0.4, 0.0, 0.0), revolute("hinge", (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)))
    load = Body("load", 3.0, inertia, (0.1, 0.0, 0.0), prismatic("slide", (1.0, 0.0, 0.0), (0.4, 0.0, 0.0)), "arm")
    model = Model("bracket", (arm, load))
    run = simulate(model, step=1e-3, duration=0.02, integrator=Maximal())
    hinge, slide = reaction(run, "hinge")[1:], reaction(run, "slide")[1:]
    assert np.allclose(slide, (0.0, 0.0, 3.0 * G, 0.0, -3.0 * G * 0.1, 0.0), rtol=0.0, atol=1e-9)
    assert np.allclose(hinge, (0.0, 0.0, 5.0 * G, 0.0, -G * (2.0 * 0.4 + 3.0 * 0.5), 0.0), rtol=0.0, atol=1e-9)


def test_forces_are_what_changes_the_momentum_beyond(person):
    """The human is pushed on its feet: in every step, h F = Δ Σ m v − h Σ (m g + contact forces), to round-off."""
    h = 1e-3
    push = Push("trunk", (0.6, 0.8, 0.0), 20.0, start=0.05, duration=0.1, waveform="half-sine")
    run = simulate(
        person, JointImpedance(), state=State.at(person), step=h, record_every=h, duration=0.3, disturbances=[push],
        integrator=Maximal(),
    )  # fmt: skip
    assert run.summary["retried_steps"] == 0
    q = run.frame[list(person.coordinate_names)].to_numpy()
    v = run.frame[list(person.velocity_names)].to_numpy()
    momentum = np.array(
        [
            person.tree.mass[:, None] * dynamics.forward_kinematics(person, *row).velocity
            for row in zip(q, v, strict=True)
        ]
    )
    force = np.array([run.frame[[f"contact_{c}_f{a}" for a in "xyz"]].to_numpy() for c in person.contact_names])
    assert force[:, :, 2].max() > 50.0
    for i, body in enumerate(person.bodies[1:], start=1):
        bodies = beyond(person, i)
        ground = sum(force[c] for c in range(person.nc) if person.tree.contact_body[c] in bodies)
        weight = person.tree.mass[bodies].sum() * np.array(person.gravity)
        change = np.diff(momentum[:, bodies].sum(axis=1), axis=0)
        expected = change / h - weight - (ground[1:] if np.ndim(ground) else 0.0)
        assert np.abs(reaction(run, body.joint.name)[1:, :3] - expected).max() < 1e-7


def test_standing_still_the_ankles_carry_the_ground_and_the_hips_the_trunk(person):
    """At rest: ankle = foot's weight less the floor's force; both hips together: less the trunk's weight."""
    run = simulate(person, JointImpedance(), state=State.at(person), step=1e-3, duration=4.0, integrator=Maximal())
    last = run.frame.iloc[-1]
    mass = dict(zip(person.body_names, person.tree.mass, strict=True))
    floor = {
        side: sum(last[f"contact_{c}_fz"] for c in person.contact_names if c.startswith(side))
        for side in ("left", "right")
    }
    assert sum(floor.values()) == pytest.approx(person.total_mass * G, rel=1e-4)
    for side in ("left", "right"):
        foot = person.bodies[person.tree.contact_body[person.contact_names.index(f"{side}_1")]]
        assert foot.joint.name == f"{side}_ankle_pitch"
        assert last[f"reaction_{foot.joint.name}_fz"] == pytest.approx(mass[foot.name] * G - floor[side], rel=1e-4)
    hips = sum(last[f"reaction_{side}_hip_roll_fz"] for side in ("left", "right"))
    assert hips == pytest.approx(-mass["trunk"] * G, rel=1e-4)


def test_the_torque_is_the_part_along_the_axis():
    """Of a driven hinge: the mean moment along its axis is the torque held, to second order."""
    model = chain(3).without_contacts()
    errors = []
    for h in (2e-3, 1e-3):
        run = simulate(
            model, JointImpedance(stiffness=30.0, damping=1.0), step=h, record_every=h, duration=0.1,
            state=State.at(model, [0.5, -0.7, 0.9], [1.0, 2.0, -1.0]), integrator=Maximal(tolerance=1e-12),
        )  # fmt: skip
        row, before = run.frame.iloc[-1], run.frame.iloc[-2]
        middle = (row["torque_joint_1"] + before["torque_joint_1"]) / 2
        errors.append(abs(row["reaction_joint_1_ny"] - middle))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.2)


def their_wrenches(model: Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Pinocchio's joint wrenches (n, 6), world axes about the joints, of free motion."""
    theirs = to_pinocchio(model)
    data, free = theirs.createData(), theirs.createData()
    place, rate = configuration_to_pinocchio(model, q), velocity_to_pinocchio(model, q, v)
    pin.aba(theirs, free, place, rate, np.zeros(model.nv))
    pin.rnea(theirs, data, place, rate, free.ddq)
    pin.forwardKinematics(theirs, data, place)
    rows = []
    for i in range(model.n):
        rotation, f = data.oMi[i + 1].rotation, data.f[i + 1]
        rows.append(np.concatenate([rotation @ f.linear, rotation @ f.angular]))
    return np.array(rows)


def cases():
    for seed in range(2):
        for floats in (True, False):
            model = random_tree(np.random.default_rng(seed), 7, floating=floats, kinds=KINDS)
            yield pytest.param(model, id=f"tree-{seed}-{'floating' if floats else 'fixed'}")
    yield pytest.param(human().without_contacts(), id="human")


@pytest.mark.parametrize("model", list(cases()))
def test_they_are_pinocchios_to_second_order(model):
    """In the middle of the last step, against inverse dynamics of a run with a step 64 times finer."""
    v = np.random.default_rng(4).normal(size=model.nv)
    errors, span, names = [], 0.064, [body.joint.name for body in model.bodies]
    for h in (4e-3, 2e-3):
        run = simulate(
            model, state=State.at(model, None, v), step=h, duration=span, record_every=span,
            integrator=Maximal(tolerance=1e-13),
        )  # fmt: skip
        fine = simulate(
            model, state=State.at(model, None, v), step=h / 64, duration=span - h / 2, record_every=span - h / 2,
            integrator=Recursive(tolerance=1e-13),
        )  # fmt: skip
        middle = fine.frame.iloc[-1]
        wrenches = their_wrenches(
            model,
            middle[list(model.coordinate_names)].to_numpy(dtype=float),
            middle[list(model.velocity_names)].to_numpy(dtype=float),
        )
        first = int(model.is_floating)
        ours = np.array([reaction(run, name)[-1] for name in names[first:]])
        errors.append(np.abs(ours - wrenches[first:]).max(axis=0))
    orders = np.log2(np.array(errors[0]) / np.array(errors[1]))
    assert np.abs(wrenches[first:]).max() > 1.0
    assert orders == pytest.approx(2.0, abs=0.25)
