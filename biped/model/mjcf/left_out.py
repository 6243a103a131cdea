"""What a compiled MJCF has and a model has not: a sentence for each, with the tag and the names."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from biped.model.importing.locking import listed
from biped.model.mjcf.shapes import floors
from biped.model.mjcf.tree import BALL, FREE, Tree, is_disabled


def left_out(compiled: Any, tree: Tree) -> list[str]:
    """Return a sentence for each kind of what is not simulated."""
    found = (*_joints(compiled, tree), *_bodies(compiled, tree), *_elements(compiled), *_surroundings(compiled, tree))
    return [f"not simulated: {what}: {listed(names, most=_MOST)}" for what, names in found if names]


#: Names that one sentence lists.
_MOST = 40
_Found = Iterator[tuple[str, list[str]]]


def _joints(compiled: Any, tree: Tree) -> _Found:
    names, kinds = tree.joints, compiled.jnt_type
    at = compiled.qpos_spring[compiled.jnt_qposadr] - compiled.qpos0[compiled.jnt_qposadr]
    springs = [] if is_disabled(compiled, "SPRING") else np.flatnonzero(compiled.jnt_stiffness)
    yield (
        "springs, <joint stiffness> (a controller's Impedance can be one)",
        [
            f"{names[j]} ({compiled.jnt_stiffness[j]:g}{'' if kinds[j] in (FREE, BALL) else f' about {at[j]:g}'})"
            for j in springs
        ],
    )
    bent = _any(compiled, "jnt_stiffnesspoly") | _any(compiled, "dof_dampingpoly")[compiled.jnt_dofadr]
    yield "springs and dampers that are not linear, of <joint>", [names[j] for j in np.flatnonzero(bent)]
    yield (
        "ranges of <joint type='ball'>",
        [names[j] for j in range(compiled.njnt) if kinds[j] == BALL and compiled.jnt_limited[j]],
    )
    felt = compiled.dof_armature + compiled.dof_damping + compiled.dof_frictionloss
    whole = np.isin(kinds, (FREE, BALL)) & (felt[compiled.jnt_dofadr] > 0.0)
    yield "armature, damping and frictionloss of free and ball joints", [names[j] for j in np.flatnonzero(whole)]
    yield (
        "surfaces that move, <geom surfacevel>",
        [compiled.geom(g).name or f"geom_{g}" for g in np.flatnonzero(_any(compiled, "geom_surfacevel"))],
    )


def _any(compiled: Any, field: str) -> Any:
    """By row, whether this array has something that is not zero; an earlier MuJoCo may lack it."""
    rows = getattr(compiled, field, None)
    if rows is None:
        rows = np.zeros(getattr(compiled, {"jnt": "njnt", "dof": "nv", "geom": "ngeom"}[field.partition("_")[0]]))
    return np.reshape(rows, (len(rows), -1)).any(axis=1) if len(rows) else np.zeros(0, dtype=bool)


def _bodies(compiled: Any, tree: Tree) -> _Found:
    names = tree.bodies
    yield "<body gravcomp>", [names[b] for b in np.flatnonzero(compiled.body_gravcomp)]
    yield "<body mocap>, which stays where it is", [names[b] for b in np.flatnonzero(compiled.body_mocapid >= 0)]


def _elements(compiled: Any) -> _Found:
    import mujoco

    if not is_disabled(compiled, "EQUALITY"):
        yield "<equality>", [_equality(compiled, k) for k in range(compiled.neq) if compiled.eq_active0[k]]
    for tag, kind, count in (
        ("tendon", mujoco.mjtObj.mjOBJ_TENDON, compiled.ntendon), ("plugin", mujoco.mjtObj.mjOBJ_PLUGIN, compiled.nplugin),
        ("flex", mujoco.mjtObj.mjOBJ_FLEX, compiled.nflex),
    ):  # fmt: skip
        yield f"<{tag}>", [mujoco.mj_id2name(compiled, kind, k) or f"{tag}_{k}" for k in range(count)]


def _equality(compiled: Any, k: int) -> str:
    """The kind of a constraint, its name, and what it holds."""
    import mujoco

    objects = {"joint": mujoco.mjtObj.mjOBJ_JOINT, "tendon": mujoco.mjtObj.mjOBJ_TENDON}
    kind = mujoco.mjtEq(int(compiled.eq_type[k])).name.removeprefix("mjEQ_").lower()
    name = compiled.eq(k).name
    of = objects.get(kind, mujoco.mjtObj(int(compiled.eq_objtype[k])))
    held = [mujoco.mj_id2name(compiled, of, int(i)) for i in (compiled.eq_obj1id[k], compiled.eq_obj2id[k]) if i >= 0]
    return " ".join((kind, *([name] if name else []), f"({', '.join(filter(None, held))})"))


def _surroundings(compiled: Any, tree: Tree) -> _Found:
    option = compiled.opt
    yield (
        "<option>",
        [
            f"{name} {value:g}"
            for name, value in (
                ("density", option.density),
                ("viscosity", option.viscosity),
                ("wind", np.abs(option.wind).max()),
            )
            if value
        ],
    )
    masks, level = compiled.geom_contype | compiled.geom_conaffinity, floors(compiled, tree)
    yield (
        "what the world has to touch beside a floor, <geom>",
        [
            compiled.geom(g).name or f"geom_{g}"
            for g, b in enumerate(compiled.geom_bodyid)
            if not tree.moves(b) and masks[g] and g not in level
        ],
    )
