"""Conversion of bodies in any order, some of them welded, to a tree with parents before their children."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from biped.model.body import Body
from biped.model.errors import ModelError, duplicate, unknown
from biped.model.geometry import Vector3, vector3
from biped.model.inertia import shifted
from biped.model.joint import Joint


class Weld(NamedTuple):
    """Location of a body that was welded to another."""

    body: str
    offset: Vector3  # [m] from the link frame of `body` to that of the welded body


def sorted_depth_first(bodies: Sequence[Body]) -> tuple[Body, ...]:
    """Return each root followed by its branches, depth first; siblings and roots keep the given order.

    Raises:
        ModelError: a name occurs twice, a parent does not exist, there is no root, bodies form a circle, or a body
            other than a single root floats.
    """
    _check_names(bodies)
    roots = _roots(bodies)
    children: dict[str, list[Body]] = defaultdict(list)
    for body in bodies:
        if body.parent is not None:
            children[body.parent].append(body)
    ordered: list[Body] = []
    pending = list(reversed(roots))
    while pending:
        body = pending.pop()
        ordered.append(body)
        pending.extend(reversed(children[body.name]))
    _check_reached(bodies, ordered)
    _check_only_root_floats(ordered, len(roots))
    return tuple(ordered)


def _check_names(bodies: Sequence[Body]) -> None:
    names = {body.name: None for body in bodies}
    error = duplicate("bodies", [body.name for body in bodies]) or duplicate(
        "joints", [body.joint.name for body in bodies]
    )
    if error:
        raise error
    for body in bodies:
        if body.parent is not None and body.parent not in names:
            raise ModelError(f"body {body.name!r}: parent: {unknown('body', body.parent, names)}")


def _roots(bodies: Sequence[Body]) -> list[Body]:
    roots = [body for body in bodies if body.parent is None]
    if not roots:
        raise ModelError("a model needs a root, a body whose parent is None")
    return roots


def _check_reached(bodies: Sequence[Body], ordered: Sequence[Body]) -> None:
    reached = {body.name for body in ordered}
    circle = [repr(body.name) for body in bodies if body.name not in reached]
    if circle:
        raise ModelError(f"bodies {', '.join(circle)} are not connected to the root: their parents form a circle")


def _check_only_root_floats(ordered: Sequence[Body], roots: int) -> None:
    for body in ordered if roots > 1 else ordered[1:]:
        if body.joint.kind == "floating":
            rule = "only the root may float" if roots == 1 else "no body may float if several are on the ground"
            raise ModelError(f"joint {body.joint.name!r} of body {body.name!r} floats; {rule}")


def merge_welds(ordered: Sequence[Body]) -> tuple[tuple[Body, ...], dict[str, Weld]]:
    """Return the bodies without fixed joints, and the location of every body of ``ordered`` in them.

    A welded body gives its mass to its parent. A welded root becomes part of the ground, and the bodies on it become
    roots.

    Args:
        ordered: bodies, parents before children.

    Raises:
        ModelError: all joints are fixed, so that no body moves.
    """
    kept: dict[str, Body] = {}
    welds: dict[str, Weld] = {}
    for body in ordered:
        parent, joint = _rehung(body, welds)
        if joint.kind != "fixed":
            kept[body.name] = replace(body, parent=parent, joint=joint)
            welds[body.name] = Weld(body.name, (0.0, 0.0, 0.0))
        else:
            welds[body.name] = Weld(parent or _GROUND, joint.position)
            if parent is not None:
                kept[parent] = _welded(kept[parent], body, joint.position)
    _check_moving(ordered, kept)
    return tuple(kept.values()), welds


_GROUND = ""


def _rehung(body: Body, welds: dict[str, Weld]) -> tuple[str | None, Joint]:
    """Return the body's parent and joint after its parent has been merged."""
    if body.parent is None:
        return None, body.joint
    weld = welds[body.parent]
    position = vector3(np.add(weld.offset, body.joint.position), "position")
    return (None if weld.body == _GROUND else weld.body), replace(body.joint, position=position)


def _welded(body: Body, other: Body, offset: Vector3) -> Body:
    """Return ``body`` with ``other`` welded to it; ``offset`` [m] is between their link frames, from ``body`` on."""
    com_other = np.add(offset, other.com)
    mass = body.mass + other.mass
    if mass == 0.0:
        return body
    com = (body.mass * np.array(body.com) + other.mass * com_other) / mass
    inertia = shifted(body.inertia, body.mass, com - body.com) + shifted(other.inertia, other.mass, com - com_other)
    return replace(body, mass=mass, com=com, inertia=inertia)  # type: ignore[arg-type]


def _check_moving(ordered: Sequence[Body], kept: dict[str, Body]) -> None:
    if not kept:
        root = ordered[0].name
        raise ModelError(f"root {root!r} and all other bodies are fixed to the ground; give one a moving joint")
