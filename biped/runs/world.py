"""What a run of no tree is drawn and plotted by: rigid bodies of their own poses, and columns that belong together."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar

from biped.errors import InputError
from biped.inputs.files import in_place_of
from biped.inputs.saved import built
from biped.model.geometry import Vector3
from biped.model.line import Line

#: In a run's folder, in the place of a model and a state.
WORLD = "world.json"


@dataclass(frozen=True)
class Hull:
    """A surface on a body: the convex hull of points, and all within a radius of it."""

    points: tuple[Vector3, ...]  #: (k, 3) [m] from the body's centre of mass, in its axes
    radius: float = 0.0  #: [m]


@dataclass(frozen=True)
class ContactMark:
    """A point of a body over a plane, whose force is in the columns ``NAME_normal``, ``NAME_tangent_1``, ``…_2``."""

    name: str  #: of the contact
    body: str  #: that it is on
    point: Vector3  #: (3,) [m] from the body's centre of mass, in its axes
    frame: tuple[Vector3, ...]  #: (3, 3) rows: the plane's normal and the two tangents, world axes


@dataclass(frozen=True)
class Bodies:
    """Rigid bodies whose poses are the columns ``NAME_x`` … ``NAME_z``, ``NAME_qw`` … ``NAME_qz`` of a run."""

    name: str  #: of the whole
    body_names: tuple[str, ...]  #: in the order of all arrays
    masses: tuple[float, ...]  #: (n,) [kg]
    hulls: tuple[tuple[Hull, ...], ...]  #: (n,) the surfaces of each
    contact_points: tuple[ContactMark, ...] = ()  #: over planes
    floor: bool = False  #: whether there is a floor to see

    #: As a model's: nothing is stretched between bodies, and who looks from the side has x to the right.
    lines: ClassVar[tuple[Line, ...]] = ()
    facing: ClassVar[Vector3] = (-1.0, 0.0, 0.0)


@dataclass(frozen=True)
class Plot:
    """Columns of one unit that are looked at together."""

    title: str  #: of the panel
    unit: str  #: of its axis
    columns: tuple[str, ...]  #: of the run
    logarithmic: bool = False  #: whether the axis is


@dataclass(frozen=True)
class World:
    """What moved in a run that is not one of a tree."""

    kind: str  #: with its article: "a mechanism", "an assembly", "a Lagrangian system"
    name: str  #: of it
    step: float  #: [s]
    plots: tuple[Plot, ...] = ()  #: what of its columns is worth a look
    bodies: Bodies | None = None  #: what there is to see in space, or None

    def save(self, folder: Path) -> None:
        """Write it beside a run's table.

        Raises:
            OSError: the folder cannot be written.
        """
        with in_place_of(folder / WORLD) as part:
            part.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> World:
        """Read what ``save`` wrote.

        Raises:
            InputError: the file is damaged.
        """
        try:
            found: World = built(cls, json.loads((folder / WORLD).read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"{folder / WORLD}: damaged, or not written by Run.save ({error})") from error
        return found
