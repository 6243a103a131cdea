"""From bodies in any order, some welded together, to a tree whose parents stand before their children."""

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
    """Where a body has gone that was welded to another."""

    body: str
    offset: Vector3  # [m] from the link frame of `body` to that of the body that was welded to it


def sorted_depth_first(bodies: Sequence[Body]) -> tuple[Body, ...]:
    """The root, then each branch to its end; siblings stay in the order given.

    Raises:
        ModelError: a name occurs twice, a parent does not exist, there is no root or more than one, bodies
            hang on one another in a circle, or a body other than the root floats.
    """
    _check_names(bodies)
    root = _only_root(bodies)
    children: dict[str, list[Body]] = defaultdict(list)
    for body in bodies:
        if body.parent is not None:
            children[body.parent].append(body)
    ordered: list[Body] = []
    pending = [root]
    while pending:
        body = pending.pop()
        ordered.append(body)
        pending.extend(reversed(children[body.name]))
    _check_reached(bodies, ordered)
    _check_only_root_floats(ordered)
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


def _only_root(bodies: Sequence[Body]) -> Body:
    roots = [body for body in bodies if body.parent is None]
    if len(roots) != 1:
        found = ", ".join(repr(body.name) for body in roots) or "none"
        raise ModelError(f"a model has exactly one root, a body whose parent is None; found {found}")
    return roots[0]


def _check_reached(bodies: Sequence[Body], ordered: Sequence[Body]) -> None:
    reached = {body.name for body in ordered}
    circle = [repr(body.name) for body in bodies if body.name not in reached]
    if circle:
        raise ModelError(f"bodies {', '.join(circle)} do not hang on the root: following parents goes in a circle")


def _check_only_root_floats(ordered: Sequence[Body]) -> None:
    for body in ordered[1:]:
        if body.joint.kind == "floating":
            raise ModelError(f"joint {body.joint.name!r} of body {body.name!r} floats; only the root's joint may")


def merge_welds(ordered: Sequence[Body]) -> tuple[tuple[Body, ...], dict[str, Weld]]:
    """The same system without fixed joints, and for every body of ``ordered`` where it is now.

    A welded body gives its mass to its parent. A welded root is part of the ground: it vanishes, and the
    one body on it becomes the root.

    Args:
        ordered: parents before children.

    Raises:
        ModelError: a welded root carries no body, or more than one.
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
    _check_ground(ordered, kept)
    return tuple(kept.values()), welds


_GROUND = ""


def _rehung(body: Body, welds: dict[str, Weld]) -> tuple[str | None, Joint]:
    """The body's parent and joint once its parent has been merged."""
    if body.parent is None:
        return None, body.joint
    weld = welds[body.parent]
    position = vector3(np.add(weld.offset, body.joint.position), "position")
    return (None if weld.body == _GROUND else weld.body), replace(body.joint, position=position)


def _welded(body: Body, other: Body, offset: Vector3) -> Body:
    """``body`` and ``other`` as one, the link frame of ``other`` being ``offset`` [m] from that of ``body``."""
    com_other = np.add(offset, other.com)
    mass = body.mass + other.mass
    com = (body.mass * np.array(body.com) + other.mass * com_other) / mass
    inertia = shifted(body.inertia, body.mass, com - body.com) + shifted(other.inertia, other.mass, com - com_other)
    return replace(body, mass=mass, com=com, inertia=inertia)  # type: ignore[arg-type]


def _check_ground(ordered: Sequence[Body], kept: dict[str, Body]) -> None:
    root = ordered[0]
    if root.joint.kind != "fixed":
        return
    on_ground = [name for name, body in kept.items() if body.parent is None]
    if len(on_ground) != 1:
        found = ", ".join(repr(name) for name in on_ground) or "none"
        raise ModelError(
            f"root {root.name!r} is fixed to the ground, so exactly one body must be jointed to it; found {found}"
        )
