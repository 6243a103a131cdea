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
    """A surface on a body: the convex hull of points, and all within a radius of it.

    Attributes:
        points: (k, 3) [m] from the body's centre of mass, in its axes.
        radius: [m]
    """

    points: tuple[Vector3, ...]
    radius: float = 0.0


@dataclass(frozen=True)
class ContactMark:
    """A point of a body over a plane, whose force is in the columns ``NAME_normal``, ``NAME_tangent_1``, ``…_2``.

    Attributes:
        name: of the contact.
        body: that it is on.
        point: (3,) [m] from the body's centre of mass, in its axes.
        frame: (3, 3) rows: the plane's normal and the two tangents, world axes.
    """

    name: str
    body: str
    point: Vector3
    frame: tuple[Vector3, ...]


@dataclass(frozen=True)
class Bodies:
    """Rigid bodies whose poses are the columns ``NAME_x`` … ``NAME_z``, ``NAME_qw`` … ``NAME_qz`` of a run.

    Attributes:
        name: of the whole.
        body_names: in the order of all arrays.
        masses: (n,) [kg]
        hulls: (n,) the surfaces of each.
        contact_points: over planes.
        floor: whether there is a floor to see.
    """

    name: str
    body_names: tuple[str, ...]
    masses: tuple[float, ...]
    hulls: tuple[tuple[Hull, ...], ...]
    contact_points: tuple[ContactMark, ...] = ()
    floor: bool = False

    #: As a model's: nothing is stretched between bodies, and who looks from the side has x to the right.
    lines: ClassVar[tuple[Line, ...]] = ()
    facing: ClassVar[Vector3] = (-1.0, 0.0, 0.0)


@dataclass(frozen=True)
class Plot:
    """Columns of one unit that are looked at together.

    Attributes:
        title: of the panel.
        unit: of its axis.
        columns: of the run.
        logarithmic: whether the axis is.
    """

    title: str
    unit: str
    columns: tuple[str, ...]
    logarithmic: bool = False


@dataclass(frozen=True)
class World:
    """What moved in a run that is not one of a tree.

    Attributes:
        kind: with its article: "a mechanism", "an assembly", "a Lagrangian system".
        name: of it.
        step: [s]
        plots: what of its columns is worth a look.
        bodies: what there is to see in space, or None.
    """

    kind: str
    name: str
    step: float
    plots: tuple[Plot, ...] = ()
    bodies: Bodies | None = None

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
