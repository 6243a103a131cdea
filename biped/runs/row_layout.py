"""The columns of a recorded run: their names in the order of the kernels' rows, and their units."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from biped.model import Model

LEDGER = (
    "kinetic",
    "potential",
    "contact_stored",
    "actuators",
    "contacts",
    "dissipated",
    "pushes",
    "impacts",
    "platform",
    "residual",
)
MOMENTUM = ("px", "py", "pz", "lx", "ly", "lz")
POSE = ("x", "y", "z", "qw", "qx", "qy", "qz")

_UNITS = {"q": "1", "v": "m/s", "w": "rad/s", "f": "N", "n": "N*m", "p": "N*s", "l": "N*m*s"}


@dataclass(frozen=True)
class Columns:
    """Names and units of all columns of a row, and which of them a person sees.

    Attributes:
        names: in the order of the row.
        hidden: those that a person does not see.
        prismatic: names of the joints whose coordinates are lengths.
        own: units of the columns that an integrator brings.
    """

    names: tuple[str, ...]
    hidden: frozenset[str]
    prismatic: frozenset[str]
    own: Mapping[str, str]

    @cached_property
    def units(self) -> dict[str, str]:
        """Of every column."""
        return {name: self.own.get(name) or _unit(name, self.prismatic) for name in self.names}

    @property
    def shown(self) -> list[int]:
        """Where in a row the shown columns stand."""
        return [i for i, name in enumerate(self.names) if name not in self.hidden]


def columns_of(
    model: Model,
    recorded: tuple[str, ...] = (),
    own: Mapping[str, str] | None = None,
    platform: bool = False,
    thrown: bool = False,
) -> Columns:
    """The columns of a run of this model; ``recorded`` are the controller's, ``own`` the integrator's, with units."""
    own = own or {}
    key = ("columns", recorded, tuple(own.items()), platform, thrown)
    if key not in model.derived:
        model.derived[key] = _new_columns(model, recorded, own, platform, thrown)
    found: Columns = model.derived[key]
    return found


def _new_columns(
    model: Model, recorded: tuple[str, ...], own: Mapping[str, str], platform: bool, thrown: bool
) -> Columns:
    names = ["time", *model.coordinate_names, *model.velocity_names]
    torques = [_torque_name(name) for name in model.velocity_names]
    names += torques
    for point in model.contact_names:
        names += [f"contact_{point}_{part}" for part in ("mode", "fx", "fy", "fz", "x", "y", "z")]
    names += [f"ledger_{name}" for name in LEDGER]
    names += [f"momentum_{name}" for name in MOMENTUM]
    names += ["com_x", "com_y", "com_z"]
    names += [f"momentum_defect_{name}" for name in MOMENTUM]
    names += ["newton_iterations", *recorded, *own]
    if platform:
        names += [f"platform_{part}" for part in POSE]
    if thrown:
        names += [f"thrown_{part}" for part in POSE]
    prismatic = frozenset(body.joint.name for body in model.bodies if body.joint.kind == "prismatic")
    root = model.root.joint.name
    hidden = frozenset(name for name in torques if model.is_floating and name.startswith(f"torque_{root}_"))
    return Columns(tuple(names), hidden, prismatic, own)


def _torque_name(velocity: str) -> str:
    return "torque_" + velocity.removeprefix("rate_")


def _unit(name: str, prismatic: frozenset[str]) -> str:
    kind, _, rest = name.partition("_")
    if name == "time":
        return "s"
    if kind == "angle":
        return "rad"
    if kind == "position":
        return "m"
    if kind == "rate":
        return "m/s" if rest in prismatic else "rad/s"
    if kind == "torque":
        return "N" if rest in prismatic else "N*m"
    if kind == "ledger":
        return "J"
    if name.endswith("_mode") or name == "newton_iterations":
        return "1"
    last = name.rpartition("_")[2]
    if last in ("x", "y", "z"):
        return "m"
    return _UNITS.get(last[:1], "1")
