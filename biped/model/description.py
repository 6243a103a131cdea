"""A model as a table to read."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from biped.model.model import Model


def describe(model: "Model") -> "pd.DataFrame":
    """One row per body, indexed by its name; lengths in m, masses in kg, inertias in kg m² about the com."""
    import pandas as pd

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


def _axis_name(axis: tuple[float, float, float]) -> str:
    named = {(1.0, 0.0, 0.0): "X", (0.0, 1.0, 0.0): "Y", (0.0, 0.0, 1.0): "Z", (0.0, 0.0, 0.0): ""}
    return named.get(axis, "({:.4g}, {:.4g}, {:.4g})".format(*axis))
