"""Data for drawing and plotting a run that is not of a tree: rigid bodies with poses, and groups of columns."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar

from biped.errors import InputError
from biped.inputs.files import replacing
from biped.inputs.saved import built
from biped.model.geometry import Vector3
from biped.model.line import Line

#: File in a run's folder, instead of a model and a state.
WORLD = "world.json"


@dataclass(frozen=True)
class Hull:
    """A surface on a body: the convex hull of points, extended by a radius."""

    points: tuple[Vector3, ...]  #: (k, 3) [m] from the body's centre of mass, in its axes
    radius: float = 0.0  #: [m]


@dataclass(frozen=True)
class ContactMark:
    """A point of a body over a plane; its force is in the columns ``NAME_normal``, ``NAME_tangent_1``, ``…_2``."""

    name: str  #: name of the contact
    body: str  #: name of the body that carries the point
    point: Vector3  #: (3,) [m] from the body's centre of mass, in its axes
    frame: tuple[Vector3, ...]  #: (3, 3) rows: the plane's normal and the two tangents, world axes


@dataclass(frozen=True)
class Bodies:
    """Rigid bodies; their poses are the columns ``NAME_x`` … ``NAME_z``, ``NAME_qw`` … ``NAME_qz`` of a run."""

    name: str  #: name of the group
    body_names: tuple[str, ...]  #: names in the order of all arrays
    masses: tuple[float, ...]  #: (n,) [kg]
    hulls: tuple[tuple[Hull, ...], ...]  #: (n,) surfaces of each body
    contact_points: tuple[ContactMark, ...] = ()  #: contact points over planes
    floor: bool = False  #: True if a floor is drawn

    #: Attributes of a model that drawings need: no lines between bodies; in side views, x points to the right.
    lines: ClassVar[tuple[Line, ...]] = ()
    facing: ClassVar[Vector3] = (-1.0, 0.0, 0.0)


@dataclass(frozen=True)
class Plot:
    """Columns of one unit in one panel of a figure."""

    title: str  #: title of the panel
    unit: str  #: unit of the axis
    columns: tuple[str, ...]  #: columns of the run
    logarithmic: bool = False  #: True for a logarithmic axis


@dataclass(frozen=True)
class World:
    """A simulated formulation that is not a tree, as its runs describe it."""

    kind: str  #: kind with its article: "a mechanism", "an assembly", "a Lagrangian system"
    name: str  #: name of the formulation
    step: float  #: [s] time step
    plots: tuple[Plot, ...] = ()  #: panels of the overview figure
    bodies: Bodies | None = None  #: bodies to draw, or None

    def save(self, folder: Path) -> None:
        """Write the description into a run's folder.

        Raises:
            OSError: the folder cannot be written.
        """
        with replacing(folder / WORLD) as part:
            part.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> World:
        """Read a description written by ``save``.

        Raises:
            InputError: the file is damaged.
        """
        try:
            world: World = built(cls, json.loads((folder / WORLD).read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"{folder / WORLD}: damaged, or not written by Run.save ({error})") from error
        return world
