"""Expansion of floating and spherical joints to joints of one degree of freedom."""

import numpy as np

from biped.kernels.tree.tree import FLOATING, PASSIVE, PRISMATIC, REVOLUTE, SPHERICAL, Tree

#: Axes of a joint's slides, and of its turns in the first chart (``kernels.charts``).
_SLIDES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
_TURNS = ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0))


def expanded(tree: Tree) -> Tree:
    """Return a tree with one body for each degree of freedom of ``tree``.

    A floating joint becomes three slides and three hinges, a spherical one three hinges, with bodies without mass
    between them. Body i of the tree becomes body ``first_v[i] + dofs[i] - 1``; degrees of freedom keep their numbers.
    A step in the other chart overwrites the axes of turns.
    """
    count = int(tree.dofs.sum())
    last = tree.first_v + tree.dofs - 1
    wide = Tree(
        parent=np.arange(-1, count - 1), kind=np.full(count, REVOLUTE), axis=np.zeros((count, 3)), pitch=np.zeros(0),
        joint_offset=np.zeros((count, 3)), com_offset=np.zeros((count, 3)), mass=np.zeros(count),
        inertia=np.zeros((count, 9)), first_q=np.arange(count), first_v=np.arange(count),
        dofs=np.ones(count, dtype=np.int64), gravity=tree.gravity.copy(), contact_body=np.zeros(0, dtype=np.int64),
        contact_offset=np.zeros((0, 3)), armature=tree.armature.copy(), passive=np.zeros((0, PASSIVE)),
    )  # fmt: skip
    for i, parent in enumerate(tree.parent):
        first, end = int(tree.first_v[i]), int(last[i])
        wide.parent[first] = -1 if parent < 0 else last[parent]
        wide.joint_offset[first] = tree.joint_offset[i]
        wide.com_offset[end], wide.mass[end], wide.inertia[end] = tree.com_offset[i], tree.mass[i], tree.inertia[i]
        if tree.kind[i] == FLOATING:
            wide.kind[first : first + 3] = PRISMATIC
            wide.axis[first : first + 3] = _SLIDES
        if tree.kind[i] in (FLOATING, SPHERICAL):
            wide.axis[end - 2 : end + 1] = _TURNS
        else:
            wide.kind[end], wide.axis[end] = tree.kind[i], tree.axis[i]
    wide.joint_offset[: 6 if tree.kind[0] == FLOATING else 0] = 0.0
    wide.com_offset[: 6 if tree.kind[0] == FLOATING else 0] = 0.0
    return wide
