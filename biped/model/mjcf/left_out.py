"""Notes on the parts of a compiled MJCF that a model does not have, with tags and names."""

from typing import Any

import numpy as np

from biped.model.mjcf.shapes import floors, geom_name
from biped.model.mjcf.tree import BALL, FREE, Tree, is_disabled
from contact.errors import listed

#: Largest number of names in a sentence.
MOST = 40


def left_out(compiled: Any, tree: Tree) -> list[str]:
    """Return a note for each kind of part that is not simulated."""
    import mujoco

    names, kinds, option, objects = tree.joints, compiled.jnt_type, compiled.opt, mujoco.mjtObj
    at = compiled.qpos_spring[compiled.jnt_qposadr] - compiled.qpos0[compiled.jnt_qposadr]
    springs = np.flatnonzero(compiled.jnt_stiffness * (not is_disabled(compiled, "SPRING")))
    resistance = (compiled.dof_armature + compiled.dof_damping + compiled.dof_frictionloss)[compiled.jnt_dofadr]
    bent = _any(compiled, "jnt_stiffnesspoly", compiled.njnt)
    bent |= _any(compiled, "dof_dampingpoly", compiled.nv)[compiled.jnt_dofadr]
    equalities = np.flatnonzero(compiled.eq_active0 * (not is_disabled(compiled, "EQUALITY"))).tolist()
    masks, level = compiled.geom_contype | compiled.geom_conaffinity, floors(compiled, tree)
    medium = {"density": option.density, "viscosity": option.viscosity, "wind": np.abs(option.wind).max()}
    parts = {
        "springs, <joint stiffness> (a controller's Impedance can be one)": [
            f"{names[j]} ({compiled.jnt_stiffness[j]:g}{'' if kinds[j] in (FREE, BALL) else f' about {at[j]:g}'})"
            for j in springs
        ],
        "springs and dampers of <joint> that are not linear": [names[j] for j in np.flatnonzero(bent)],
        "<joint type='ball'> range": [names[j] for j in np.flatnonzero((kinds == BALL) & (compiled.jnt_limited != 0))],
        "armature, damping and frictionloss of free and ball joints": [
            names[j] for j in np.flatnonzero(np.isin(kinds, (FREE, BALL)) & (resistance > 0.0))
        ],
        "<body gravcomp>": [tree.bodies[b] for b in np.flatnonzero(compiled.body_gravcomp)],
        "<body mocap>, which stays where it is": [tree.bodies[b] for b in np.flatnonzero(compiled.body_mocapid >= 0)],
        "<equality>": [_equality(compiled, k) for k in equalities],
        "<tendon>": _names(compiled, objects.mjOBJ_TENDON, compiled.ntendon),
        "<flex>": _names(compiled, objects.mjOBJ_FLEX, compiled.nflex),
        "<plugin>": _names(compiled, objects.mjOBJ_PLUGIN, compiled.nplugin),
        "<option>": [f"{name} {value:g}" for name, value in medium.items() if value],
        "<geom surfacevel>": [
            geom_name(compiled, g) for g in np.flatnonzero(_any(compiled, "geom_surfacevel", compiled.ngeom)).tolist()
        ],
        "collision geometry of the world other than a floor, <geom>": [
            geom_name(compiled, g)
            for g, b in enumerate(compiled.geom_bodyid)
            if masks[g] and g not in level and not tree.moves(b)
        ],
    }
    return [f"not simulated: {what}: {listed(named, MOST)}" for what, named in parts.items() if named]


def _any(compiled: Any, field: str, rows: int) -> Any:
    """Return a mask of the rows with a nonzero entry in an array; earlier versions of MuJoCo lack some arrays."""
    return np.reshape(getattr(compiled, field, np.zeros(rows)), (rows, -1 if rows else 0)).any(axis=1)


def _names(compiled: Any, kind: Any, count: int) -> list[str]:
    import mujoco

    return [mujoco.mj_id2name(compiled, kind, k) or str(k) for k in range(count)]


def _equality(compiled: Any, k: int) -> str:
    """Return the kind of a constraint and its name."""
    import mujoco

    kind = mujoco.mjtEq(int(compiled.eq_type[k])).name.removeprefix("mjEQ_").lower()
    return f"{kind} {compiled.eq(k).name}".strip()
