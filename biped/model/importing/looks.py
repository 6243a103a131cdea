"""Visuals of bodies, from Pinocchio's geometry for drawing."""

from typing import Any

from biped.model.geometry import Vector3, matrix3, vector3
from biped.model.importing.contacts import UNIVERSE, Links
from biped.model.visual import Form, Visual

#: Pinocchio's colour for shapes without a colour in the file.
_UNPAINTED = (1.0, 1.0, 1.0)


def visuals_of(geometry: Any, links: Links) -> list[Visual]:
    """Return the drawable shapes of a ``pinocchio.GeometryModel`` on moving links."""
    visuals = []
    for shape in geometry.geometryObjects:
        form = _form(shape)
        if form is None or shape.parentJoint == UNIVERSE:
            continue
        kind, size = form
        R = links.rotations[shape.parentJoint]
        center = vector3(R @ shape.placement.translation, "center")
        rotation = matrix3(R @ shape.placement.rotation, "rotation")
        color = vector3(shape.meshColor[:3], "color")
        file = str(shape.meshPath) if kind == "mesh" else ""
        painted = None if color == _UNPAINTED else color
        visuals.append(Visual(links.bodies[shape.parentJoint], kind, size, center, rotation, painted, file))
    return visuals


def _form(shape: Any) -> tuple[Form, Vector3] | None:
    """Return form and size for a `Visual`; None for an unsupported shape."""
    import coal

    geometry = shape.geometry
    if isinstance(geometry, coal.Box):
        return "box", vector3(2.0 * geometry.halfSide, "size")
    if isinstance(geometry, coal.Sphere):
        return "sphere", (2.0 * geometry.radius,) * 3
    if isinstance(geometry, coal.Ellipsoid):
        return "sphere", vector3(2.0 * geometry.radii, "size")
    if isinstance(geometry, coal.Capsule):
        return "capsule", (2.0 * geometry.radius, 2.0 * geometry.radius, 2.0 * (geometry.halfLength + geometry.radius))
    if isinstance(geometry, coal.Cylinder):
        return "cylinder", (2.0 * geometry.radius, 2.0 * geometry.radius, 2.0 * geometry.halfLength)
    if isinstance(geometry, (coal.BVHModelBase, coal.ConvexBase)):
        return "mesh", vector3(shape.meshScale, "size")
    return None
