"""Column indices of recorded rows, and properties of the model for the kernels."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biped.errors import InputError
from biped.kernels.loop.log import ABSENT, ContactColumns, LedgerColumns
from biped.metrics.anatomical import anatomical_units
from biped.metrics.kernels.support import SERIES, Body, Places, Scratch
from biped.model import Model
from biped.model.legs import foot_under
from biped.runs.row_layout import columns_of, places_of, torque_names

#: Sections in the rows of every run.
_NEEDED = ("time", "configuration", "velocity", "torque", "contacts", "ledger", "momentum", "com", "defect")
#: Energies that change, and the works that change them; the work of a moving floor is part of ``contacts``.
_EXCHANGED = ("kinetic", "potential", "actuators", "contacts", "pushes", "impacts")


@dataclass(frozen=True)
class Layout:
    """Columns of the recorded runs of one model, and its joints, feet and height; determined once for all its runs.

    Attributes:
        model: the simulated model.
        columns: names of the columns.
        places: index of each column in a row of the table, for the compiled kernels.
        joints: names of the joints with one degree of freedom.
        feet: names of the bodies that stand on the floor.
        standing_height: [m] height of the centre of mass above the lowest contact point in the home configuration; 0
            without contact points.
        angular: (joints,) mask of the rotary joints.
    """

    model: Model
    columns: tuple[str, ...]
    places: Places
    joints: tuple[str, ...]
    feet: tuple[str, ...]
    standing_height: float
    angular: NDArray[np.bool_]

    @classmethod
    def of(cls, model: Model, columns: Sequence[str]) -> "Layout":
        """Return the layout of rows with these columns, which are named as in ``biped.runs.row_layout``.

        Raises:
            InputError: a column of the model is missing.
        """
        return cls(
            model=model,
            columns=tuple(columns),
            places=_places(model, columns),
            joints=model.joint_names,
            feet=feet_of(model),
            standing_height=standing_height(model),
            angular=np.array(
                [model.bodies[model.joint_index(joint)].joint.kind != "prismatic" for joint in model.joint_names],
                dtype=bool,
            ),
        )

    @property
    def series(self) -> dict[str, str]:
        """Units of the centres, margins and forces that are computed for each row, by name."""
        return SERIES | {f"grf_normal_{foot}": "N" for foot in self.feet}

    @property
    def anatomical(self) -> dict[str, str]:
        """Units of positions and inclinations in the axes of posturography, by name."""
        return anatomical_units(self.model)

    def body(self, pendulum_length: float | None = None) -> Body:
        """Return the kernels' description of the body; ``pendulum_length`` [m] replaces the standing height."""
        length = self.standing_height if pendulum_length is None else pendulum_length
        return Body(self.model.total_mass, np.array(self.model.gravity, dtype=np.float64), length)

    def scratch(self) -> Scratch:
        """Return a workspace for the kernels' points and hulls; each thread needs its own."""
        count = self.model.nc
        feet = np.zeros(len(self.feet), dtype=np.int64)
        return Scratch(np.empty((count, 2)), np.empty((2 * count + 2, 2)), feet)


def _places(model: Model, columns: Sequence[str]) -> Places:
    known = columns_of(model, platform=True)
    where = {name: place for place, name in enumerate(columns)}
    for section in _NEEDED:
        for name in known.sections[section]:
            if name not in where and name not in known.hidden:
                raise InputError(f"no column {name!r}: these are not the rows of a run of this model")
    begin = places_of(known.sections, columns)
    dofs = [model.dof(joint) for joint in model.joint_names]
    return Places(
        time=begin.time,
        root=begin.configuration if model.is_floating else ABSENT,
        com=begin.com,
        momentum=begin.momentum,
        platform=begin.platform,
        residual=begin.ledger + LedgerColumns._fields.index("residual"),
        energy=_array(begin.ledger + LedgerColumns._fields.index(name) for name in _EXCHANGED),
        defect=begin.defect,
        contact=_array(begin.contacts + len(ContactColumns._fields) * c for c in range(model.nc)),
        foot=_array(feet_of_points(model)),
        angle=_array(where[model.coordinate_names[model.coordinate(joint)]] for joint in model.joint_names),
        rate=_array(where[model.velocity_names[dof]] for dof in dofs),
        torque=_array(where[torque_names(model)[dof]] for dof in dofs),
    )


def feet_of(model: Model) -> tuple[str, ...]:
    """Return the model's feet that have contact points."""
    touching = {foot_under(model, point.body) for point in model.contact_points}
    return tuple(foot for foot in model.feet if foot in touching)


def standing_height(model: Model) -> float:
    """Return the height [m] of the centre of mass above the lowest contact point at home; 0 without contact points."""
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


def feet_of_points(model: Model) -> list[int]:
    """Return each contact point's foot (or that of its toes), as an index in `feet_of`; −1 for points of no foot."""
    number = {foot: k for k, foot in enumerate(feet_of(model))}
    return [number.get(str(foot_under(model, point.body)), -1) for point in model.contact_points]


def _array(places: Iterable[int]) -> NDArray[np.int64]:
    return np.array(list(places), dtype=np.int64)
