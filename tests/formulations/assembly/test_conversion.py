"""Models as assemblies: configurations both ways, energies, human on the floor and in a brace, refusals."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from biped.dynamics import energy
from biped.model import Body, Model, human, random_tree, revolute
from biped.model.geometry import quaternion_matrix
from formulations.assembly import Assembly, AssemblyError, RigidBody, from_model, joint, placement_of
from formulations.assembly.placement import Placement

from ...conftest import random_configuration

THIN = ((1e-2, 0.0, 0.0), (0.0, 1e-2, 0.0), (0.0, 0.0, 1e-3))


@pytest.mark.parametrize("seed", range(4))
def test_configurations_close_all_joints(seed):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 8, kinds=("revolute", "prismatic", "helical", "spherical"))
    q, v = random_configuration(model, rng), rng.normal(size=model.nv)
    place = placement_of(model, q, v)
    assembly = from_model(model)
    assert max(assembly.openness(place).values()) < 1e-13
    assert assembly.degrees_of_freedom(place) == model.nv
    rates = assembly.gradients(place)[0][assembly.rigid_mask] @ place.velocity.reshape(-1)
    assert_allclose(rates, 0.0, atol=1e-12)


def test_energies_are_those_of_the_model():
    rng = np.random.default_rng(5)
    model = random_tree(rng, 6)
    q, v = random_configuration(model, rng), rng.normal(size=model.nv)
    row = from_model(model).simulate(0.001, 0.001, placement_of(model, q, v)).frame.iloc[0]
    found = energy(model, q, v)
    assert_allclose(row["kinetic_energy"], found.kinetic, rtol=1e-12)
    assert_allclose(row["potential_energy"], found.potential, rtol=1e-12)


def on_the_floor(assembly, place):
    lowest = min(
        place.position[i, 2] + (quaternion_matrix(place.orientation[i]) @ contact.point)[2]
        for contact in assembly.contacts
        for i in [assembly.body_index(contact.body)]
    )
    return Placement(place.position - np.array([0.0, 0.0, lowest]), place.orientation, place.velocity)


def test_the_human_collapses_onto_the_floor_and_no_point_goes_through():
    model = replace(human(), contact_points=(*human().contact_points, *human().body_points), body_points=())
    assembly = from_model(model)
    start = on_the_floor(assembly, placement_of(model, model.neutral()))
    motion = assembly.simulate(3.0, 0.002, start, record_every=10)
    gaps = motion.frame[[f"{contact.name}_gap" for contact in assembly.contacts]].to_numpy()
    assert gaps[0].min() > -1e-15  # rounding of where it was put
    assert gaps[1:].min() > 0.0
    assert motion.frame["joint_openness"].max() < 1e-9
    assert motion.frame["complementarity"].max() <= 1e-12
    total = motion.frame["energy"].to_numpy()
    assert np.diff(total).max() < 1e-3 * total[0]
    assert total[-1] < 0.6 * total[0]


def test_a_brace_beside_the_human_s_knee_is_a_loop():
    model = human()
    bare = from_model(model)
    thigh, shank = (model.bodies[model.body_index(name)].name for name in ("left_thigh", "left_shank"))
    joints = (
        *bare.joints,
        joint("spherical", "upper", thigh, "strut", inboard_point=(0.0, 0.1, 0.1), outboard_point=(0.0, 0.0, 0.2)),
        joint("point_on_line", "eye", "strut", shank, (0.0, 0.0, 1.0), outboard_point=(0.0, 0.1, 0.0)),
    )
    braced = Assembly("braced", (*bare.bodies, RigidBody("strut", 0.5, THIN)), joints)
    assert braced.closing_joints == ("eye",)
    plain = placement_of(model, model.configuration(angles={"left_knee_pitch": -0.4}))
    guess = Placement(
        np.vstack([plain.position, plain.position[model.body_index(thigh)] - [0.0, -0.1, 0.1]]),
        np.vstack([plain.orientation, [[1.0, 0.0, 0.0, 0.0]]]),
        np.vstack([plain.velocity, np.zeros((1, 6))]),
    )
    start = braced.assemble(guess)
    assert braced.degrees_of_freedom(start) == model.nv + 6 - 3 - 2
    motion = braced.simulate(0.3, 0.002, start)
    assert motion.frame["joint_openness"].max() < 1e-9
    assert_allclose(motion.frame["energy"], motion.frame["energy"].iloc[0], rtol=1e-3)


def test_what_an_assembly_cannot_carry_is_told():
    light = Model("light", (
        Body("cross", 0.0, ((0.0,) * 3,) * 3, (0.0,) * 3, revolute("one", (1.0, 0.0, 0.0))),
        Body("arm", 1.0, THIN, (0.0, 0.0, -0.5), revolute("two", (0.0, 1.0, 0.0)), "cross"),
    ))  # fmt: skip
    with pytest.raises(AssemblyError, match="has no mass"):
        from_model(light)
    with pytest.raises(AssemblyError, match="18 finite numbers|19 finite numbers"):
        placement_of(human(), np.zeros(3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        from_model(human())


def test_limits_of_speed_and_effort_that_are_left_out_are_told():
    knee = replace(revolute("knee", (0.0, 1.0, 0.0)), max_velocity=5.0, max_effort=100.0)
    leg = Model("leg", (Body("shank", 1.0, THIN, (0.0, 0.0, -0.5), knee),))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        from_model(leg)
    assert [str(one.message) for one in told] == [
        f"leg: an assembly does not support greatest {what} of joints; it is ignored in knee"
        for what in ("speed", "effort")
    ]
