"""Where the numbers of a row stand, and what of the model the kernels need."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biped.errors import InputError
from biped.metrics.kernels.support import Body, Places, Room
from biped.model import Model
from biped.runs.row_layout import MOMENTUM, POSE


@dataclass(frozen=True)
class Layout:
    """The columns of a run of one model, found once and used for all its rows.

    Attributes:
        columns: their names.
        places: where in a row the kernels find them.
        joints: names of the joints of one degree of freedom.
        feet: names of the bodies that stand on the floor.
        mass: [kg] of the model.
        gravity: (3,) [m/s²].
        standing_height: [m] of the centre of mass above the lowest contact point in the home configuration; 0 if it
            has none.
    """

    columns: tuple[str, ...]
    places: Places
    joints: tuple[str, ...]
    feet: tuple[str, ...]
    mass: float
    gravity: NDArray[np.float64]
    standing_height: float

    @classmethod
    def of(cls, model: Model, columns: Sequence[str]) -> "Layout":
        """The layout of rows with these columns, as ``biped.runs.row_layout`` names them.

        Raises:
            InputError: a column of the model is missing.
        """
        where = {name: i for i, name in enumerate(columns)}
        joints = model.joint_names
        kinds = {body.joint.name: body.joint.kind for body in model.bodies}
        angles = [f"{'position' if kinds[joint] == 'prismatic' else 'angle'}_{joint}" for joint in joints]
        places = Places(
            time=_one(where, "time"),
            root=_block(where, model.root.joint.name, POSE) if model.is_floating else -1,
            com=_block(where, "com", ("x", "y", "z")),
            momentum=_block(where, "momentum", MOMENTUM),
            platform=_block(where, "platform", ("x", "y", "z", "qw", "qx", "qy", "qz"))
            if "platform_x" in where
            else -1,
            residual=_one(where, "ledger_residual"),
            defect=_block(where, "momentum_defect", MOMENTUM),
            newton=_one(where, "newton_iterations"),
            contact=_array([_block(where, f"contact_{p}", CONTACT) for p in model.contact_names]),
            foot=_array([_foot_of(model, point.body) for point in model.contact_points]),
            angle=_array([_one(where, name) for name in angles]),
            rate=_array([_one(where, f"rate_{joint}") for joint in joints]),
            torque=_array([_one(where, f"torque_{joint}") for joint in joints]),
        )
        return cls(
            columns=tuple(columns),
            places=places,
            joints=joints,
            feet=feet_of(model),
            mass=model.total_mass,
            gravity=np.array(model.gravity, dtype=np.float64),
            standing_height=standing_height(model),
        )

    def body(self, pendulum_length: float | None = None) -> Body:
        """What the kernels know of the model; ``pendulum_length`` [m] instead of the height at home."""
        return Body(self.mass, self.gravity, self.standing_height if pendulum_length is None else pendulum_length)

    def room(self) -> Room:
        """Room for the kernels' points and hulls; one for each thread."""
        count = len(self.places.contact)
        feet = np.zeros(len(self.feet), dtype=np.int64)
        return Room(np.empty((count, 2)), np.empty((2 * count + 2, 2)), feet)


CONTACT = ("mode", "fx", "fy", "fz", "x", "y", "z")


def feet_of(model: Model) -> tuple[str, ...]:
    """The model's feet that have contact points."""
    touching = {point.body for point in model.contact_points}
    return tuple(foot for foot in model.feet if foot in touching)


def standing_height(model: Model) -> float:
    """[m] of the centre of mass above the lowest contact point in the home configuration; 0 without contact points."""
    if not model.contact_points:
        return 0.0
    masses = np.array([body.mass for body in model.bodies])
    height = float(masses @ model.home_positions[:, 2] / masses.sum())
    lowest = min(
        float(model.home_positions[model.body_index(point.body), 2])
        + point.position[2]
        - model.bodies[model.body_index(point.body)].com[2]
        for point in model.contact_points
    )
    return height - lowest


def _foot_of(model: Model, body: str) -> int:
    feet = feet_of(model)
    return feet.index(body) if body in feet else -1


def _array(places: list[int]) -> NDArray[np.int64]:
    return np.array(places, dtype=np.int64)


def _one(where: Mapping[str, int], name: str) -> int:
    if name not in where:
        raise InputError(f"no column {name!r}: these are not the rows of a run of this model")
    return where[name]


def _block(where: Mapping[str, int], prefix: str, parts: tuple[str, ...]) -> int:
    """The first of columns that must stand side by side."""
    found = [_one(where, f"{prefix}_{part}") for part in parts]
    if found != list(range(found[0], found[0] + len(parts))):
        raise InputError(f"the columns {prefix}_{parts[0]} to {prefix}_{parts[-1]} must stand side by side")
    return found[0]
