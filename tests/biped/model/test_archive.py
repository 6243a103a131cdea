"""Models as JSON: the same again, bit for bit, or a sentence."""

import json
from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from biped.model import Box, Line, ModelError, Visual, human, random_tree, rigid_box
from biped.model.archive import model_from_json, model_to_json
from biped.runs.state import fingerprint
from tests.refusals import refuses


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 12), floats=st.booleans())
@settings(max_examples=50)
def test_random_trees_come_back_to_the_last_bit(seed, n, floats):
    kinds = ("revolute", "prismatic", "helical", "spherical")
    model = random_tree(np.random.default_rng(seed), n, floating=floats, kinds=kinds, contacts=3, armature=0.1)
    again = model_from_json(model_to_json(model))
    assert again == model
    assert fingerprint(again) == fingerprint(model)
    for name in model.tree._fields:
        assert getattr(again.tree, name).tobytes() == getattr(model.tree, name).tobytes(), name


def test_all_that_a_model_has_comes_back():
    person = human()
    knee = person.joint_index("left_knee_pitch")
    body = person.bodies[knee]
    joint = replace(body.joint, lower=-2.0, max_effort=90.0, damping=0.1, friction=0.2, armature=0.3)
    model = replace(
        person, bodies=(*person.bodies[:knee], replace(body, joint=joint), *person.bodies[knee + 1 :]),
        posture=(("left_knee_pitch", -0.3),), notes=("nothing of this is true",), gravity=(0.1, 0.0, -1.62),
        visuals=(Visual("trunk", "mesh", (1, -1, 0.001), (0, 0, 1), file="a.stl"),
            Visual("trunk", "sphere", color=(1, 0, 0))),
        lines=(Line("trunk", None, (0, 0, 0.3), (0.1, 0, 2), (0, 0.5, 1)),),
    )  # fmt: skip
    assert model_from_json(model_to_json(model)) == model


def test_a_turned_box_comes_back():
    model = replace(
        rigid_box(1, (1, 1, 1)), shapes=(Box("box", (1, 2, 3), rotation=[[0, -1, 0], [1, 0, 0], [0, 0, 1]]),)
    )
    assert model_from_json(model_to_json(model)) == model


def damaged(change):
    saved = json.loads(model_to_json(human()))
    change(saved)
    return json.dumps(saved)


@refuses(
    ("{", "not a model that was saved"),
    ("[]", "not a model that was saved"),
    (damaged(lambda saved: saved.update(format=2)), "saved by another version"),
    (damaged(lambda saved: saved.pop("gravity")), "gravity: missing, or not known"),
    (damaged(lambda saved: saved["bodies"][1].update(colour="red")), "colour: missing, or not known"),
    (damaged(lambda saved: saved["bodies"][1].update(mass=-1.0)), "mass must not be below zero"),
    (damaged(lambda saved: saved["bodies"][1]["joint"].update(axle=1)), "axle"),
    error=ModelError,
)  # fmt: skip
def test_what_is_no_model_is_refused(text):
    model_from_json(text)
