"""OpenSim's skeleton: centre of mass, frames and coordinates against the run, longhand and with OpenSim."""

from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from biped import Model
from biped.metrics import series
from biped.model.body import Body
from biped.model.joint import Joint
from experiments import experiment_named
from experiments.visualization import export_opensim
from experiments.visualization.export.skeleton import has_skeleton, skeleton
from experiments.visualization.export.tables import to_isb

#: [m] The file has 12 digits of each coordinate, of a chain of 8 and some 2 m.
DIGITS = 8 * 2.0 * 1e-12


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("opensim")
    run = experiment_named("thrown-block").run({"run.duration": 0.2})
    export_opensim(run, folder)
    return run, folder


def storage(file):
    lines = file.read_text(encoding="utf-8").splitlines()
    begin = lines.index("endheader") + 1
    rows = np.array([line.split("\t") for line in lines[begin + 1 :]], dtype=float)
    return dict(zip(lines[begin].split("\t"), rows.T, strict=True))


def vector(element, key):
    return np.array(element.findtext(key).split(), dtype=float)


def mass_centre(file, coordinates):
    """Return the centre of mass (3,) [m] of an .osim file at some coordinates, by OpenSim's documentation."""
    model = ElementTree.parse(file).getroot().find("Model")
    bodies = {f"/bodyset/{body.get('name')}": body for body in model.find("BodySet/objects")}
    poses = {"/ground": (np.zeros(3), Rotation.identity())}
    for joint in model.find("JointSet/objects"):
        parent, child = joint.findall("frames/PhysicalOffsetFrame")
        assert joint.findtext("socket_parent_frame") == parent.get("name")
        values = [coordinates[one.get("name")] for one in joint.findall("coordinates/Coordinate")]
        place, turn = np.zeros(3), Rotation.identity()
        if joint.tag == "FreeJoint":
            turn, place = Rotation.from_euler("XYZ", values[:3]), np.array(values[3:])
        elif joint.tag == "PinJoint":
            turn = Rotation.from_rotvec([0.0, 0.0, values[0]])
        elif joint.tag == "SliderJoint":
            place = np.array([values[0], 0.0, 0.0])
        at, of = poses[parent.findtext("socket_parent")]
        ends = [Rotation.from_euler("XYZ", vector(end, "orientation")) for end in (parent, child)]
        joint_at, joint_of = at + of.apply(vector(parent, "translation")), of * ends[0]
        body_of = joint_of * turn * ends[1].inv()
        body_at = joint_at + joint_of.apply(place) - body_of.apply(vector(child, "translation"))
        poses[child.findtext("socket_parent")] = body_at, body_of
    masses = {name: float(body.findtext("mass")) for name, body in bodies.items()}
    moments = [
        mass * (poses[name][0] + poses[name][1].apply(vector(bodies[name], "mass_center")))
        for name, mass in masses.items()
    ]
    return np.sum(moments, axis=0) / sum(masses.values())


def centres(run):
    return to_isb(series(run)[["com_x", "com_y", "com_z"]].to_numpy(), run.state.model.facing)


def test_its_centre_of_mass_is_the_runs(exported):
    run, folder = exported
    table = storage(folder / "skeleton.sto")
    for row in (0, len(run.frame) // 2, len(run.frame) - 1):
        found = mass_centre(folder / "skeleton.osim", {name: values[row] for name, values in table.items()})
        np.testing.assert_allclose(found, centres(run)[row], atol=DIGITS)


def test_opensim_finds_the_same(exported):
    """Tested with OpenSim 4.6 (`pip install opensim`), which is too large for the project's extras."""
    opensim = pytest.importorskip("opensim")
    run, folder = exported
    model = opensim.Model(str(folder / "skeleton.osim"))
    state = model.initSystem()
    assert model.getTotalMass(state) == pytest.approx(run.state.model.total_mass, rel=1e-12)
    table, known = storage(folder / "skeleton.sto"), model.getCoordinateSet()
    for row in (0, len(run.frame) // 2, len(run.frame) - 1):
        for k in range(known.getSize()):
            known.get(k).setValue(state, table[known.get(k).getName()][row], False)
        model.realizePosition(state)
        found = model.calcMassCenterPosition(state)
        np.testing.assert_allclose([found.get(k) for k in range(3)], centres(run)[row], atol=DIGITS)


def test_slides_and_hinges_of_any_axis_are_turned_into_opensims(tmp_path):
    """A chain from the world: an oblique slide, an oblique hinge, and a reversed hinge."""
    inertia = ((0.02, 0.0, 0.001), (0.0, 0.03, 0.0), (0.001, 0.0, 0.04))
    axes = [(0.3, -0.5, 0.8), (-0.6, 0.64, 0.48), (0.0, 0.0, -1.0), (1.0, 0.0, 0.0)]
    kinds = ["prismatic", "revolute", "revolute", "prismatic"]
    bodies = []
    for k, (kind, axis) in enumerate(zip(kinds, axes, strict=True)):
        joint = Joint(f"joint {k}", kind, axis, (0.1 * k, 0.2, -0.1))
        bodies.append(Body(f"body {k}", 1.0 + k, inertia, (0.05, -0.1, 0.2), joint, f"body {k - 1}" if k else None))
    model = Model("chain", bodies)
    file = tmp_path / "chain.osim"
    file.write_text(skeleton(model), encoding="utf-8")
    q = np.array([0.3, -0.7, 1.1, 0.2])
    place, turn, moment, mass = np.zeros(3), Rotation.identity(), np.zeros(3), 0.0
    for body, value in zip(bodies, q, strict=True):
        place = place + turn.apply(body.joint.position)
        axis = np.array(body.joint.axis)
        if body.joint.kind == "prismatic":
            place = place + turn.apply(axis * value)
        else:
            turn = turn * Rotation.from_rotvec(axis * value)
        moment, mass = moment + body.mass * (place + turn.apply(body.com)), mass + body.mass
    found = mass_centre(file, {f"joint_{k}": value for k, value in enumerate(q)})
    np.testing.assert_allclose(found, to_isb(moment / mass, model.facing), atol=1e-14)


def test_what_opensim_has_no_joint_for_has_no_skeleton():
    ball = Body("ball", 1.0, np.eye(3).tolist(), (0.0, 0.0, -0.3), Joint("ball", "spherical"))
    assert not has_skeleton(Model("ball", [ball]))
    assert has_skeleton(Model("hinge", [replace(ball, joint=Joint("hinge", "revolute", (0.0, 1.0, 0.0)))]))
