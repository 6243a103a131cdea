"""Shapes of a compiled MJCF: collision geometry, friction of the floor, and visuals."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from biped.model.mjcf.tree import Tree, is_disabled, pose
from contact.errors import listed

#: MuJoCo's numbers of the types of geoms.
PLANE, HFIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH = range(8)
#: Highest group of geoms that MuJoCo's viewer shows by default.
_SHOWN = 2
#: [m] Tolerance of the height of a floor at zero.
_LEVEL = 1e-6


def shapes_of(compiled: Any, tree: Tree, *, drawn: bool, folder: Path = Path()) -> Any:
    """Return geoms of a ``mujoco.MjModel``, the visible ones if ``drawn``, as a ``pinocchio.GeometryModel``.

    Otherwise, return those that can touch the floor; without a floor, all collision geoms. Meshes are in ``folder``.
    """
    import pinocchio as pin

    result, model = pin.GeometryModel(), tree.model
    for g in np.flatnonzero(compiled.geom_group <= _SHOWN).tolist() if drawn else _touching(compiled, tree):
        body, mesh = int(compiled.geom_bodyid[g]), int(compiled.geom_dataid[g])
        shape = _shape(compiled, g, vertices=not drawn) if body else None
        row, at = tree.place[body]
        at, looks = at * pose(compiled.geom_pos[g], compiled.geom_quat[g]), ("", np.ones(3))
        if drawn and compiled.geom_type[g] == MESH:  # in the axes of its file, which MuJoCo changes
            at = at * pose(compiled.mesh_pos[mesh], compiled.mesh_quat[mesh]).inverse()
            first = int(compiled.mesh_pathadr[mesh])
            file = folder / compiled.paths[first:].partition(b"\0")[0].decode()
            looks = str(file), compiled.mesh_scale[mesh].copy()
            shape = shape if first >= 0 else None  # otherwise defined by numbers in the MJCF itself
        if shape is not None:
            frame = model.getFrameId(tree.bodies[body], pin.FrameType.BODY)
            color = np.append(_color(compiled, g), 1.0)
            result.addGeometryObject(pin.GeometryObject(str(g), row, frame, at, shape, *looks, True, color))
    return result


def _shape(compiled: Any, g: int, *, vertices: bool) -> Any:
    import coal

    kind, (a, b, c), mesh = int(compiled.geom_type[g]), compiled.geom_size[g].tolist(), compiled.geom_dataid[g]
    if kind == MESH:
        first, count = compiled.mesh_vertadr[mesh], int(compiled.mesh_vertnum[mesh]) if vertices else 0
        shape = coal.BVHModelOBB()
        shape.beginModel(0, count)
        shape.addVertices(compiled.mesh_vert[first : first + count].astype(np.float64))
        return shape
    sizes = {SPHERE: (a,), CAPSULE: (a, 2.0 * b), CYLINDER: (a, 2.0 * b), BOX: (2.0 * a, 2.0 * b, 2.0 * c)}
    makers = {SPHERE: coal.Sphere, CAPSULE: coal.Capsule, CYLINDER: coal.Cylinder, BOX: coal.Box}
    if kind == ELLIPSOID:
        return coal.Ellipsoid(a, b, c)
    return makers[kind](*sizes[kind]) if kind in makers else None


def _color(compiled: Any, g: int) -> Any:
    """Return the geom's colour or, if it is MuJoCo's grey, that of its material, or white without a material."""
    color, material = compiled.geom_rgba[g, :3], int(compiled.geom_matid[g])
    if not np.allclose(color, 0.5):
        return color
    return compiled.mat_rgba[material, :3] if material >= 0 else np.ones(3)


def floors(compiled: Any, tree: Tree) -> dict[int, Any]:
    """Return the planes of the ground that face up within 60°, each with its ``pinocchio.SE3``."""
    planes = [g for g, b in enumerate(compiled.geom_bodyid) if compiled.geom_type[g] == PLANE and not tree.moves(b)]
    at = {g: tree.place[compiled.geom_bodyid[g]][1] * pose(compiled.geom_pos[g], compiled.geom_quat[g]) for g in planes}
    return {g: place for g, place in at.items() if place.rotation[2, 2] > 0.5}


def _touching(compiled: Any, tree: Tree) -> list[int]:
    known = floors(compiled, tree)
    if is_disabled(compiled, "CONTACT"):
        return []
    if known:
        return [g for g in range(compiled.ngeom) if any(_friction(compiled, g, floor) is not None for floor in known)]
    pairs = {*compiled.pair_geom1.tolist(), *compiled.pair_geom2.tolist()}
    return [g for g in range(compiled.ngeom) if compiled.geom_contype[g] | compiled.geom_conaffinity[g] or g in pairs]


def _friction(compiled: Any, g: int, floor: int) -> float | None:
    """Return the coefficient of sliding friction of two geoms, mixed as in MuJoCo; None if they do not touch."""
    for k, pair in enumerate(zip(compiled.pair_geom1, compiled.pair_geom2, strict=True)):
        if set(pair) == {g, floor}:
            return _sliding(compiled, compiled.pair_friction[k, :2].min(), compiled.pair_dim[k])
    first, second = sorted((int(compiled.geom_bodyid[g]), int(compiled.geom_bodyid[floor])))
    masks, affinities = compiled.geom_contype, compiled.geom_conaffinity
    touch = masks[g] & affinities[floor] or masks[floor] & affinities[g]
    if not touch or first == second or (first << 16) + second in compiled.exclude_signature:
        return None
    ranks, both = compiled.geom_priority[[g, floor]], np.array([g, floor])
    ruling = both if ranks[0] == ranks[1] else both[[np.argmax(ranks)]]
    return _sliding(compiled, compiled.geom_friction[ruling, 0].max(), compiled.geom_condim[ruling].max())


def _sliding(compiled: Any, mu: float, dimensions: int) -> float:
    """Return the friction of a contact: zero in one dimension; ``<flag override>`` sets one value for all."""
    if compiled.opt.enableflags & 1:  # mjENBL_OVERRIDE
        mu = compiled.opt.o_friction[:2].min()
    return float(mu) if dimensions > 1 else 0.0


def floor_of(compiled: Any, tree: Tree, feet: Sequence[str]) -> tuple[float | None, list[str]]:
    """Return the coefficient of friction between the feet, or the whole robot, and the floor, with notes.

    The coefficient is None if the file has no floor that they can touch, and the smallest if there are several.
    """
    welds = {int(compiled.body_weldid[tree.bodies.index(foot)]) for foot in feet if foot in tree.bodies}
    known = floors(compiled, tree)
    bodies = [b for b in range(compiled.nbody) if tree.moves(b) and (not welds or compiled.body_weldid[b] in welds)]
    geoms = np.flatnonzero(np.isin(compiled.geom_bodyid, bodies)).tolist()
    mixed = [_friction(compiled, g, floor) for g in geoms for floor in known]
    values = sorted({mu for mu in mixed if mu is not None})
    text = f"geoms differ in friction with the floor, {listed(map(str, values))}: the least is used"
    notes = [text] if values[1:] else []
    for floor, at in known.items():
        if abs(at.translation @ at.rotation[:, 2]) > _LEVEL or at.rotation[2, 2] < 1.0 - _LEVEL:
            notes.append(f"<geom> plane {geom_name(compiled, floor)} is not level at height 0, as the used floor is")
    return (values[0] if values else None), notes


def geom_name(compiled: Any, g: int) -> str:
    """Return the name of a geom, or a name with its number."""
    return compiled.geom(g).name or f"geom_{g}"
