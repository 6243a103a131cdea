"""The box of Wendlandt (1997), section 5.3, and the sample models of tests and benchmarks."""

import numpy as np
import pytest

from biped.model import ModelError, box_inertia, chain, random_tree, rigid_box
from biped.model.joint import KINDS

VERTICES = [  # as printed [m]
    (0.15, -0.2, -0.1), (0.15, 0.2, -0.1), (-0.15, 0.2, -0.1), (-0.15, -0.2, -0.1),
    (0.15, -0.2, 0.1), (0.15, 0.2, 0.1), (-0.15, 0.2, 0.1), (-0.15, -0.2, 0.1),
]  # fmt: skip


def test_box_of_the_thesis():
    box = rigid_box(70.0, (0.30, 0.40, 0.20))
    assert (box.n, box.nq, box.nv) == (1, 7, 6)
    assert box.total_mass == 70.0
    assert box.root.inertia == box_inertia(70.0, (0.30, 0.40, 0.20))
    np.testing.assert_allclose(box.tree.contact_offset, VERTICES, atol=1e-15)
    assert box.contact_names == tuple(f"box_{i}" for i in range(1, 9))
    assert box.shapes[0].size == (0.30, 0.40, 0.20)


def test_a_block_has_its_own_name():
    block = rigid_box(1.8, (0.1, 0.1, 0.1), name="block")
    assert block.body_names == ("block",)
    assert block.contact_names[0] == "block_1"


@pytest.mark.parametrize(("mass", "size"), [(0.0, (1, 1, 1)), (1.0, (1, 0, 1)), (1.0, (1, 1))])
def test_wrong_box(mass, size):
    with pytest.raises(ModelError, match="of the box"):
        rigid_box(mass, size)


def test_chain_hangs_straight_down():
    model = chain(3, length=0.5, mass=2.0)
    np.testing.assert_allclose(model.home_positions, [(0, 0, -0.25), (0, 0, -0.75), (0, 0, -1.25)], atol=1e-15)
    np.testing.assert_array_equal(model.tree.axis, [(0, 1, 0), (1, 0, 0), (0, 1, 0)])
    assert model.total_mass == 6.0
    assert (model.n, model.nq, model.nv) == (3, 3, 3)


@pytest.mark.parametrize("make", [lambda: chain(0), lambda: chain(2, mass=0.0), lambda: chain(2, length=-1.0)])
def test_wrong_chain(make):
    with pytest.raises(ModelError):
        make()


def test_random_trees_depend_on_the_generator_only():
    first, again, other = (random_tree(np.random.default_rng(seed), 8, contacts=3) for seed in (5, 5, 6))
    assert first == again
    assert first != other


def test_random_trees_have_every_kind_of_joint():
    model = random_tree(np.random.default_rng(0), 30, kinds=("revolute", "prismatic", "helical", "spherical"))
    assert {body.joint.kind for body in model.bodies} == set(KINDS) - {"fixed"}
    assert not random_tree(np.random.default_rng(0), 30, floating=False).is_floating


def test_wrong_random_tree():
    with pytest.raises(ModelError, match="at least one"):
        random_tree(np.random.default_rng(0), 0)
