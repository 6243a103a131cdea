import numpy as np
import pytest

from biped import Load, State
from biped.dynamics import forward_kinematics
from biped.model import human, ragdoll, random_tree, subject
from experiments.catalogue.registry import experiment_named
from experiments.visualization.viewer.shapes import shapes_of
from experiments.visualization.viewer.trajectory import snapshot_of

MODELS = {
    "human": human,
    "loaded": lambda: Load("left_shank", 2.0, (0.1, 0.0, 0.05)).on(human()),
    "box": lambda: experiment_named("box-drop").build().model,
    "tree": lambda: random_tree(np.random.default_rng(2), 6, floating=True, kinds=("revolute", "spherical")),
}


SMALL = subject(1.5, 60.0, "female")


def by_name(model):
    return {shape.name: shape for shape in shapes_of(model)}


def joint_place(snapshot, model, body):
    """Return the position [m] of a body's joint."""
    number = model.body_index(body)
    return snapshot.point_of(number, -np.asarray(model.bodies[number].com))


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_surfaces_are_closed_and_face_outwards(model):
    for shape in shapes_of(model()):
        faces, v = np.asarray(shape.mesh.faces), np.asarray(shape.mesh.vertices)
        assert np.isfinite(v).all()
        places = np.unique(np.round(v, 9), axis=0, return_inverse=True)[1].reshape(-1)  # a box corner: 3 vertices
        welded = places[faces]
        edges = np.concatenate([welded[:, [0, 1]], welded[:, [1, 2]], welded[:, [2, 0]]])
        edges = edges[edges[:, 0] != edges[:, 1]]
        forth, counts = np.unique(edges, axis=0, return_counts=True)
        back, backs = np.unique(edges[:, ::-1], axis=0, return_counts=True)
        assert (forth == back).all(), shape.name
        assert (counts == backs).all(), shape.name
        a, b, c = (v[faces[:, k]] for k in range(3))
        assert np.sum(a * np.cross(b, c)) / 6.0 > 0.0, shape.name


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("which", ["human", "loaded"])
def test_limbs_are_between_their_joints(side, which, posture):
    model = MODELS[which]()
    snapshot = snapshot_of(State.at(model, posture(human()).q))
    parts = by_name(model)
    for name, above, below in (
        (f"{side}_shorts", f"{side}_thigh", f"{side}_shank"),
        (f"{side}_thigh", f"{side}_thigh", f"{side}_shank"),
        (f"{side}_shank", f"{side}_shank", f"{side}_ankle"),
    ):
        top, bottom = joint_place(snapshot, model, above), joint_place(snapshot, model, below)
        shape = parts[name]
        centre = snapshot.point_of(shape.body, shape.mesh.vertices).mean(axis=0)
        along = (centre - top) @ (bottom - top) / np.sum((bottom - top) ** 2)
        assert 0.0 < along < 1.0, name
        assert np.linalg.norm(centre - top - along * (bottom - top)) < 0.02, name


@pytest.mark.parametrize("side", ["left", "right"])
def test_soles_end_at_the_contact_points(side, posture):
    model = human()
    snapshot = snapshot_of(posture(model))
    shape = by_name(model)[f"{side}_sole"]
    sole = snapshot.point_of(shape.body, shape.mesh.vertices)
    points = snapshot.contact_place[[model.contact_index(f"{side}_{k}") for k in range(1, 5)]]
    # The foot is flat in this posture: the sole's extent along the axes is that of the points.
    assert sole.min(axis=0) == pytest.approx(points.min(axis=0), abs=1e-6)
    assert sole[:, :2].max(axis=0) == pytest.approx(points[:, :2].max(axis=0), abs=1e-6)


def test_the_person_stands_upright_and_faces_forwards():
    model = human()
    snapshot = snapshot_of(State.at(model))
    at = {name: snapshot.point_of(shape.body, shape.mesh.vertices) for name, shape in by_name(model).items()}
    assert max(points[:, 2].max() for points in at.values()) == pytest.approx(1.778, abs=0.01)
    assert min(points[:, 2].min() for points in at.values()) == pytest.approx(0.0, abs=1e-9)
    assert at["eyes"][:, 0].max() < at["hair"].mean(axis=0)[0]  # the eyes look towards −x
    assert at["head"].mean(axis=0)[2] > at["torso"][:, 2].max() > at["pelvis"][:, 2].max()
    assert at["left_shoe"].mean(axis=0)[1] < 0.0 < at["right_shoe"].mean(axis=0)[1]
    for side in ("left", "right"):  # the pelvis holds the hips
        hip = joint_place(snapshot, model, f"{side}_thigh")
        assert at["pelvis"][:, 2].min() < hip[2] < at["pelvis"][:, 2].max()
        assert abs(hip[1]) < np.abs(at["pelvis"][:, 1]).max()


@pytest.mark.parametrize("model", [SMALL, ragdoll(SMALL)], ids=["subject", "fallen"])
def test_another_person_is_drawn_in_his_or_her_proportions(model):
    """The vertex is at the stature, soles are on the floor and as long as the contact points, knees at the knees."""
    snapshot = snapshot_of(State.at(model))
    at = {name: snapshot.point_of(shape.body, shape.mesh.vertices) for name, shape in by_name(model).items()}
    assert max(points[:, 2].max() for points in at.values()) == pytest.approx(1.5, abs=0.01)
    assert min(points[:, 2].min() for points in at.values()) == pytest.approx(0.0, abs=1e-9)
    points = snapshot.contact_place[[model.contact_index(f"left_{k}") for k in range(1, 5)]]
    assert np.ptp(at["left_sole"][:, 0]) == pytest.approx(np.ptp(points[:, 0]), abs=1e-6)
    knee, hip = (joint_place(snapshot, model, f"left_{body}") for body in ("shank", "thigh"))
    assert at["left_shank"][:, 2].mean() < knee[2] < at["left_thigh"][:, 2].mean() < hip[2]
    assert at["left_thigh"][:, 1].mean() == pytest.approx(hip[1], abs=0.02)


def test_a_persons_parts_are_on_what_moves_by_itself():
    """At home only the arms differ, which begin at their joints."""
    whole, model = SMALL, subject(1.5, 60.0, "female", segments=("lumbar", "head", "arms"))
    one, other = by_name(whole), by_name(model)
    assert one.keys() == other.keys()
    for name, shape in other.items():
        where = shape.mesh.vertices + model.home_positions[shape.body]
        was = one[name].mesh.vertices + whole.home_positions[one[name].body]
        if "arm" not in name and "sleeve" not in name:
            np.testing.assert_allclose(where, was, rtol=0, atol=1e-12)
    on = {name: model.body_names[shape.body] for name, shape in other.items()}
    assert (on["pelvis"], on["torso"], on["hair"]) == ("pelvis", "trunk", "head")
    assert (on["left_sleeve"], on["right_forearm"]) == ("left_upper_arm", "right_forearm")
    snapshot = snapshot_of(State.at(model, model.neutral()))
    for side in ("left", "right"):
        elbow = joint_place(snapshot, model, f"{side}_forearm")
        places = other[f"{side}_forearm"].mesh.vertices + model.home_positions[other[f"{side}_forearm"].body]
        assert np.linalg.norm(places - elbow, axis=1).min() < 0.06  # [m], as thick as it is


def test_another_model_has_limbs_from_joint_to_joint():
    model = MODELS["tree"]()
    q = model.neutral()
    snapshot = snapshot_of(State.at(model, q))
    assert snapshot.position == pytest.approx(forward_kinematics(model, q).position)
    shapes = shapes_of(model)
    assert {shape.body for shape in shapes} == set(range(model.n))
    for i, body in enumerate(model.bodies):
        if body.parent is not None:
            surface = [
                snapshot.point_of(shape.body, shape.mesh.vertices)
                for shape in shapes
                if shape.body == model.body_index(body.parent)
            ]
            joint = joint_place(snapshot, model, body.name)
            reach = max(np.linalg.norm(item.joint.position) for item in model.bodies[1:])
            nearest = np.linalg.norm(np.concatenate(surface) - joint, axis=1).min()
            assert nearest < 0.2 * reach, i
