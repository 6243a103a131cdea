"""Descriptions of a model: facts, a table of its bodies, and its full text."""

from collections.abc import Iterator
from dataclasses import fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from biped.model.model import Model

#: Fields for drawing, which influence no result.
DRAWN = ("visuals", "lines")


def model_title(model: "Model") -> str:
    """Return name, size and mass of a model."""
    mass = sum(body.mass for body in model.bodies)
    return f"Model {model.name}: {model.n} bodies, {model.nv} degrees of freedom, {mass:.4g} kg"


def model_facts(model: "Model") -> Iterator[tuple[str, str]]:
    """Yield facts about a model, as pairs of a name and a text."""
    yield "root", f"{model.root.name}, {model.root.joint.kind}"
    if model.joint_names:
        yield "joints", ", ".join(model.joint_names)
    if model.closing_joints:
        yield "closing joints", ", ".join(joint.name for joint in model.closing_joints)
    if model.nc:
        yield "contact points", ", ".join(model.contact_names)
    if model.actuators:
        yield "actuators", ", ".join(actuator.name for actuator in model.actuators)
    if model.floor_friction is not None:
        yield "floor", f"µ {model.floor_friction:g}"
    if model.feet:
        yield "feet", ", ".join(model.feet)
    for note in model.notes:
        yield "note", note


def describe(model: "Model") -> "pd.DataFrame":
    """Return one row per body, indexed by name; lengths in m, masses in kg, inertias in kg m² about the com."""
    import pandas as pd  # importing pandas takes a quarter of a command's start

    rows = []
    for body, (x, y, z) in zip(model.bodies, model.home_positions.tolist(), strict=True):
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = body.inertia
        rows.append(
            {
                "body": body.name,
                "parent": body.parent or "",
                "joint": body.joint.name,
                "kind": body.joint.kind,
                "axis": _axis_name(body.joint.axis),
                "mass": body.mass,
            }
            | {"home_x": x, "home_y": y, "home_z": z}
            | {"Ixx": xx, "Iyy": yy, "Izz": zz, "Ixy": xy, "Ixz": xz, "Iyz": yz}
        )
    return pd.DataFrame(rows).set_index("body")


def spelt_out(model: "Model") -> str:
    """Return the full text of a model without its drawings, so that it does not depend on the location of files."""
    names = [field.name for field in fields(model) if field.name not in DRAWN]
    return f"Model({', '.join(f'{name}={getattr(model, name)!r}' for name in names)})"


def _axis_name(axis: tuple[float, float, float]) -> str:
    named = {(1.0, 0.0, 0.0): "X", (0.0, 1.0, 0.0): "Y", (0.0, 0.0, 1.0): "Z", (0.0, 0.0, 0.0): ""}
    return named.get(axis, "({:.4g}, {:.4g}, {:.4g})".format(*axis))
