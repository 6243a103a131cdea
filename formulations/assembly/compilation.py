"""Conversion of bodies, joints and contacts to the arrays of the kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from biped.kernels.solve.contacts import Contacts, friction_directions, ground_contacts, pairs_of
from biped.model.geometry import Vector3
from biped.model.joint_rows import Row
from contact.arrays import Floats
from contact.collision import contact_frame
from formulations.assembly.body import BodyContact, PointContact, RigidBody
from formulations.assembly.custom import CustomLink, new_links
from formulations.assembly.graph import SpanningTree, graph_of, spanning_tree
from formulations.assembly.joint import Freedom, Joint
from formulations.assembly.kernels.system import Bodies, Joints, System
from formulations.assembly.spring import Spring


class Structure(NamedTuple):
    """Constant structure of an assembly, derived from its parts.

    Attributes:
        system: arrays of the kernels.
        tree: spanning tree of the bodies.
        freedom_rows: rows of the freedoms of each joint, custom link and spring, in the order of its coordinates.
        pairs: number of pairs of slack and multiplier, without those of contacts between bodies.
        touching: pairs of bodies (first, second) that may touch, by index.
    """

    system: System
    tree: SpanningTree
    freedom_rows: tuple[tuple[int, ...], ...]
    pairs: int
    touching: tuple[tuple[int, int], ...]


def structure_of(
    bodies: Sequence[RigidBody],
    joints: Sequence[Joint],
    customs: Sequence[CustomLink],
    springs: Sequence[Spring],
    contacts: Sequence[PointContact],
    touching: Sequence[BodyContact],
    gravity: Vector3,
    directions: int,
) -> Structure:
    """Return the structure of an assembly whose names have been checked."""
    index = {body.name: i for i, body in enumerate(bodies)}
    held, freedom_rows, pairs = _joints((*joints, *customs, *springs), index)
    grounded, pairs = _contacts(contacts, index, directions, pairs)
    meeting = tuple((index[pair.first], index[pair.second]) for pair in touching)
    ends = list(zip(held.inboard.tolist(), held.outboard.tolist(), strict=True))
    tree = spanning_tree(len(bodies), ends[: len(joints)])
    system = System(
        Bodies(
            np.array([body.mass for body in bodies]), np.array([body.inertia for body in bodies]).reshape(-1, 9),
            np.array(gravity),
        ),
        held, grounded, graph_of(len(bodies), held, meeting), len(springs),
        new_links((), {}, index, len(joints))[0],
    )  # fmt: skip
    return Structure(system, tree, freedom_rows, pairs, meeting)


def _joints(
    joints: Sequence[Joint | CustomLink | Spring], index: Mapping[str, int]
) -> tuple[Joints, tuple[tuple[int, ...], ...], int]:
    first, rigid, solved, freedom_rows, pair = [0], [], [], [], []
    rows: list[tuple[Row, Freedom]] = []
    pairs = 0
    for joint in joints:
        free = list(zip(joint.free_rows, joint.freedoms, range(len(joint.freedoms)), strict=True))
        ordered = [part for part in free if part[1].is_soft] + [part for part in free if not part[1].is_soft]
        held = joint.rigid_rows
        rigid.append(len(held))
        solved.append(len(held) + sum(freedom.is_soft for freedom in joint.freedoms))
        place = {number: first[-1] + len(held) + k for k, (_, _, number) in enumerate(ordered)}
        freedom_rows.append(tuple(place[number] for number in range(len(free))))
        rows += [(row, Freedom()) for row in held] + [(row, freedom) for row, freedom, _ in ordered]
        pair += [-1] * len(held)
        for _, freedom, _ in ordered:
            pair.append(pairs if freedom.limits else -1)
            pairs += freedom.limits
        first.append(len(rows))

    def numbers(*values: float) -> Floats:
        return np.array(values, dtype=np.float64)

    def vectors(values: Sequence[Sequence[float]], width: int) -> Floats:
        return np.array(values, dtype=np.float64).reshape(-1, width)

    def integers(values: Sequence[int]) -> np.ndarray:
        return np.array(values, dtype=np.int64)

    arrays = Joints(
        inboard=integers([-1 if joint.inboard is None else index[joint.inboard] for joint in joints]),
        outboard=integers([index[joint.outboard] for joint in joints]),
        inboard_point=vectors([joint.inboard_point for joint in joints], 3),
        outboard_point=vectors([joint.outboard_point for joint in joints], 3),
        alignment=vectors([joint.alignment for joint in joints], 4), first=integers(first), rigid=integers(rigid),
        solved=integers(solved), kind=integers([row.kind for row, _ in rows]),
        axis=vectors([row.axis for row, _ in rows], 3), other=vectors([row.other for row, _ in rows], 3),
        reference=vectors([row.reference for row, _ in rows], 3), pitch=numbers(*(row.pitch for row, _ in rows)),
        stiffness=numbers(*(freedom.stiffness for _, freedom in rows)),
        rest=numbers(*(freedom.rest for _, freedom in rows)),
        damping=numbers(*(freedom.damping for _, freedom in rows)),
        lower=numbers(*(freedom.lower for _, freedom in rows)),
        upper=numbers(*(freedom.upper for _, freedom in rows)), pair=integers(pair),
    )  # fmt: skip
    return arrays, tuple(freedom_rows), pairs


def _contacts(
    contacts: Sequence[PointContact], index: Mapping[str, int], directions: int, pairs: int
) -> tuple[Contacts, int]:
    pair = []
    for contact in contacts:
        pair.append(pairs)
        pairs += pairs_of(contact.friction, directions)
    return ground_contacts(
        body=np.array([index[contact.body] for contact in contacts], dtype=np.int64),
        point=np.array([contact.point for contact in contacts], dtype=np.float64).reshape(-1, 3),
        frame=np.array([frame_of(contact.normal) for contact in contacts], dtype=np.float64).reshape(-1, 9),
        height=np.array([float(contact.height + contact.radius) for contact in contacts], dtype=np.float64),
        friction=np.array([float(contact.friction) for contact in contacts], dtype=np.float64),
        directions=friction_directions(directions),
        pair=np.array(pair, dtype=np.int64),
        radius=np.array([float(contact.radius) for contact in contacts], dtype=np.float64),
    ), pairs  # fmt: skip


def frame_of(normal: Sequence[float]) -> Floats:
    """Return the contact frame (9,): normal and two tangents as rows; x and y for a vertical normal."""
    rows = np.array(contact_frame(normal), dtype=np.float64).reshape(3, 3)
    return rows[[2, 0, 1]].reshape(9)
