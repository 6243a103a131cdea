"""Shapes of a compiled MJCF: what can touch the floor, the floor's friction, and what is drawn."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np

from biped.model.errors import ModelError
from biped.model.geometry import matrix3, vector3
from biped.model.importing import contacts
from biped.model.importing.locking import listed
from biped.model.mjcf.tree import Tree, is_disabled, pose
from biped.model.visual import Form, Visual

#: MuJoCo's numbers of the types of geoms.
PLANE, HFIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH = range(8)
_FORMS: dict[int, Form] = {
    SPHERE: "sphere", CAPSULE: "capsule", ELLIPSOID: "sphere", CYLINDER: "cylinder", BOX: "box", MESH: "mesh",
}  # fmt: skip
#: Groups of geoms that MuJoCo's viewer shows at first.
_SHOWN = 2
#: MuJoCo's grey, which a geom has that no colour was given.
_UNPAINTED = (0.5, 0.5, 0.5)
#: [m] How far above or below zero a floor may be that is at zero.
_LEVEL = 1e-6


def collision(compiled: Any, tree: Tree, locked: Any, joints: Collection[int]) -> Any:
    """Pinocchio's geometry of what can touch the floor on these joints of ``locked``: the tree with joints locked.

    Where the file has a floor, that is what can touch it; else what can touch anything.

    Raises:
        ModelError: what is there on one of the joints touches nothing.
    """
    import pinocchio as pin

    result = pin.GeometryModel()
    touching, idle = set(_touching(compiled, tree)), []
    for g, frame in _geoms(compiled, tree, locked):
        shape = _shape(compiled, g) if frame.parentJoint in joints else None
        if shape is None:
            continue
        if g not in touching:
            idle.append((frame.parentJoint, _name(compiled, g)))
            continue
        at = frame.placement * pose(compiled.geom_pos[g], compiled.geom_quat[g])
        result.addGeometryObject(pin.GeometryObject(str(g), frame.parentJoint, at, shape))
    found = {geometry.parentJoint for geometry in result.geometryObjects}
    for joint in set(joints) - found:
        names = [name for row, name in idle if row == joint]
        if names:
            raise ModelError(
                f"contacts = 'collision': {listed(names)} on {locked.names[joint]!r} can touch no floor, by contype, "
                "conaffinity and <contact>; load the scene whose <contact><pair> names them, or give points by link"
            )
    return result


def _geoms(compiled: Any, tree: Tree, locked: Any) -> Iterator[tuple[int, Any]]:
    """Geoms of the tree's bodies, each with the frame of its body in ``locked``."""
    import pinocchio as pin

    for g in range(compiled.ngeom):
        b = int(compiled.geom_bodyid[g])
        if b:
            yield g, locked.frames[locked.getFrameId(tree.bodies[b], pin.FrameType.BODY)]


def _name(compiled: Any, g: int) -> str:
    return compiled.geom(g).name or f"geom_{g}"


def floors(compiled: Any, tree: Tree) -> dict[int, Any]:
    """Planes of the ground that face up, within 60°, each with where it is: a ``pinocchio.SE3``."""
    planes = [
        g for g, b in enumerate(compiled.geom_bodyid) if compiled.geom_type[g] == PLANE and not tree.moves(int(b))
    ]
    poses = {
        g: tree.place[int(compiled.geom_bodyid[g])][1] * pose(compiled.geom_pos[g], compiled.geom_quat[g])
        for g in planes
    }
    return {g: at for g, at in poses.items() if at.rotation[2, 2] > 0.5}


def _touching(compiled: Any, tree: Tree) -> list[int]:
    """Geoms that can touch a floor of the file, or, where it has none, anything."""
    known = floors(compiled, tree)
    if is_disabled(compiled, "CONTACT"):
        return []
    if known:
        return [g for g in range(compiled.ngeom) if any(_friction(compiled, g, floor) is not None for floor in known)]
    pairs = {*compiled.pair_geom1.tolist(), *compiled.pair_geom2.tolist()}
    masks = compiled.geom_contype | compiled.geom_conaffinity
    return [g for g in range(compiled.ngeom) if masks[g] or g in pairs]


def _friction(compiled: Any, g: int, floor: int) -> float | None:
    """The coefficient of sliding friction of two geoms as MuJoCo mixes theirs; None where they do not touch."""
    pair = {g, floor}
    for k in range(compiled.npair):
        if {int(compiled.pair_geom1[k]), int(compiled.pair_geom2[k])} == pair:
            return float(compiled.pair_friction[k, 0])
    first, second = sorted(int(compiled.geom_bodyid[geom]) for geom in pair) if len(pair) == 2 else (0, 0)
    masks, others = compiled.geom_contype, compiled.geom_conaffinity
    if first == second or (first << 16) + second in compiled.exclude_signature:
        return None
    if not (masks[g] & others[floor] or masks[floor] & others[g]):
        return None
    ranks = compiled.geom_priority[[g, floor]]
    own = compiled.geom_friction[[g, floor], 0]
    return float(own.max() if ranks[0] == ranks[1] else own[int(np.argmax(ranks))])


def floor_of(compiled: Any, tree: Tree, feet: Sequence[str]) -> tuple[float | None, list[str]]:
    """The coefficient of friction between the feet, or all of the robot, and the file's floor, and what to tell of it.

    None where the file has no floor that they can touch. Of several the least counts.
    """
    welds = {int(compiled.body_weldid[tree.bodies.index(foot)]) for foot in feet if foot in tree.bodies}
    known, told = floors(compiled, tree), []
    geoms = [
        g for g, b in enumerate(compiled.geom_bodyid)
        if tree.moves(b) and (not welds or int(compiled.body_weldid[b]) in welds)
    ]  # fmt: skip
    mixed = [_friction(compiled, g, floor) for g in geoms for floor in known]
    found = sorted({mu for mu in mixed if mu is not None})
    if len(found) > 1:
        told.append(
            f"geoms have different friction with the floor, {listed(map('{:g}'.format, found))}: the least counts"
        )
    for floor, at in known.items():
        if abs(at.translation @ at.rotation[:, 2]) > _LEVEL or at.rotation[2, 2] < 1.0 - _LEVEL:
            told.append(f"<geom> plane {_name(compiled, floor)} is not level at height zero, and the floor here is")
    return (found[0] if found else None), told


def _shape(compiled: Any, g: int) -> Any:
    """The shape of a geom for collisions; None of one that a sole is not found in."""
    import coal

    kind, (a, b, c) = int(compiled.geom_type[g]), compiled.geom_size[g].tolist()
    if kind == MESH:
        points = np.array(_vertices(compiled, g), dtype=np.float64)
        mesh = coal.BVHModelOBB()
        mesh.beginModel(0, len(points))
        mesh.addVertices(points)
        return mesh
    if kind in (SPHERE, CAPSULE, CYLINDER):
        return {SPHERE: coal.Sphere, CAPSULE: coal.Capsule, CYLINDER: coal.Cylinder}[kind](
            *((a,) if kind == SPHERE else (a, 2.0 * b))
        )
    if kind == BOX:
        return coal.Box(2.0 * a, 2.0 * b, 2.0 * c)
    return coal.Ellipsoid(a, b, c) if kind == ELLIPSOID else None


def _vertices(compiled: Any, g: int) -> Any:
    """(k, 3) [m] in the geom's frame."""
    mesh = compiled.geom_dataid[g]
    first = compiled.mesh_vertadr[mesh]
    return compiled.mesh_vert[first : first + compiled.mesh_vertnum[mesh]]


def drawn(compiled: Any, tree: Tree, links: contacts.Links) -> list[Visual]:
    """Return the geoms of bodies that move, of the groups that MuJoCo's viewer shows."""
    found = []
    for g, frame in _geoms(compiled, tree, links.model):
        form = _FORMS.get(int(compiled.geom_type[g]))
        if form is None or frame.parentJoint == contacts.UNIVERSE or compiled.geom_group[g] > _SHOWN:
            continue
        at = frame.placement * pose(compiled.geom_pos[g], compiled.geom_quat[g])
        file = ""
        if form == "mesh":
            mesh = int(compiled.geom_dataid[g])
            at = at * pose(compiled.mesh_pos[mesh], compiled.mesh_quat[mesh]).inverse()
            file = _file(compiled, mesh)
            if not file:
                continue  # made of numbers in the MJCF itself
        R = links.rotations[frame.parentJoint]
        color = vector3(_color(compiled, g), "color")
        found.append(
            Visual(
                body=links.bodies[frame.parentJoint],
                form=form,
                size=vector3(_size(compiled, g, form), "size"),
                center=vector3(R @ at.translation, "center"),
                rotation=matrix3(R @ at.rotation, "rotation"),
                color=None if color == _UNPAINTED else color,
                file=file,
            )
        )
    return found


def _size(compiled: Any, g: int, form: Form) -> Any:
    """As a `Visual` has it."""
    a, b, c = compiled.geom_size[g].tolist()
    if form == "mesh":
        return compiled.mesh_scale[compiled.geom_dataid[g]]
    if form == "capsule":
        return 2.0 * a, 2.0 * a, 2.0 * (a + b)
    if form == "cylinder":
        return 2.0 * a, 2.0 * a, 2.0 * b
    return (2.0 * a,) * 3 if compiled.geom_type[g] == SPHERE else (2.0 * a, 2.0 * b, 2.0 * c)


def _color(compiled: Any, g: int) -> Any:
    """Of the geom's material, if it has one; its own, where that is not MuJoCo's grey, goes before."""
    material = int(compiled.geom_matid[g])
    own = compiled.geom_rgba[g, :3]
    return compiled.mat_rgba[material, :3] if material >= 0 and np.allclose(own, _UNPAINTED) else own


def _file(compiled: Any, mesh: int) -> str:
    first = int(compiled.mesh_pathadr[mesh])
    return "" if first < 0 else compiled.paths[first : compiled.paths.index(b"\0", first)].decode()
