"""Columns of a recorded run: one list of sections determines names, units and indices.

The sections are the fields of ``biped.kernels.loop.log.RowLayout``, which gives the kernels the first index of each.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from biped.errors import InputError
from biped.kernels.loop import log
from biped.model import Model

POSE = log.PoseColumns._fields
#: Prefix of the columns of a state estimator.
ESTIMATE = "estimate"
_XYZ = ("x", "y", "z")
#: Units of a joint's coordinates, velocities and torques, by its kind.
_UNITS = {
    "revolute": (["rad"], ["rad/s"], ["N*m"]),
    "prismatic": (["m"], ["m/s"], ["N"]),
    "helical": (["rad"], ["rad/s"], ["N*m"]),
    "spherical": (["1"] * 4, ["rad/s"] * 3, ["N*m"] * 3),
    "floating": (["m"] * 3 + ["1"] * 4, ["m/s"] * 3 + ["rad/s"] * 3, ["N"] * 3 + ["N*m"] * 3),
}
_COORDINATES, _VELOCITIES, _TORQUES = ({kind: units[k] for kind, units in _UNITS.items()} for k in range(3))
#: Units of a controller's columns, by the beginning of the name.
_BEGINNINGS = {"angle": "rad", "position": "m", "rate": "rad/s", "torque": "N*m", "ledger": "J"}
#: Units by the last part of a name: quaternions, velocities, rates, forces, moments, momenta.
_ENDINGS = {"q": "1", "v": "m/s", "w": "rad/s", "f": "N", "n": "N*m", "p": "N*s", "l": "N*m*s"}
#: Unit by column.
Section = Mapping[str, str]
#: Columns of a controller: unit by column, or names from which the units follow.
Recorded = Section | Iterable[str]


def sections_of(
    model: Model,
    recorded: Recorded = (),
    integrator_columns: Section | None = None,
    platform: bool = False,
    projectile: bool = False,
    apart: bool = False,
    estimate: bool = False,
) -> dict[str, Section]:
    """Return the columns of a run of this model by section, in the order of a row.

    Args:
        model: simulated model.
        recorded: columns of the controller.
        integrator_columns: columns of the integrator.
        platform: True if the floor moves.
        projectile: True if a box is thrown.
        apart: True if passive torques of an impedance are recorded separately from actuator torques.
        estimate: True if a state estimator's configuration and capture point are recorded.
    """
    contacts = [f"contact_{point}_{part}" for point in model.contact_names for part in log.ContactColumns._fields]
    return {
        "time": {"time": "s"},
        "configuration": _of_joints(model, model.coordinate_names, _COORDINATES),
        "velocity": _of_joints(model, model.velocity_names, _VELOCITIES),
        "torque": _of_joints(model, torque_names(model), _TORQUES),
        "contacts": _with_units(contacts),
        "ledger": dict.fromkeys(_prefixed("ledger", log.LedgerColumns._fields), "J"),
        "momentum": _with_units(_prefixed("momentum", log.MomentumColumns._fields)),
        "com": _with_units(_prefixed("com", _XYZ)),
        "defect": _with_units(_prefixed("momentum_defect", log.MomentumColumns._fields)),
        "iterations": {"newton_iterations": "1"},
        "controller": _recorded_section(recorded),
        "integrator": integrator_columns or {},
        "platform": _with_units(pose_names("platform") if platform else ()),
        "projectile": _with_units(pose_names("projectile") if projectile else ()),
        "estimate": _estimate_columns(model) if estimate else {},
        "joints": dict.fromkeys(_prefixed("ledger", log.JointColumns._fields), "J")
        if apart or len(model.tree.passive)
        else {},
    }


def _estimate_columns(model: Model) -> Section:
    coordinates = _of_joints(model, _prefixed(ESTIMATE, model.coordinate_names), _COORDINATES)
    return {**coordinates, **_with_units(_prefixed(ESTIMATE, log.CaptureColumns._fields))}


def _recorded_section(recorded: Recorded) -> Section:
    units = recorded if isinstance(recorded, Mapping) else {name: _unit_by_name(name) for name in recorded}
    for name, unit in units.items():
        if isinstance(recorded, str) or not (isinstance(name, str) and name.isidentifier() and isinstance(unit, str)):
            raise InputError(
                f"controller.recorded = {recorded!r}: it must be names of columns, for example ('zmp_x',), or a "
                "table of units, for example {'zmp_x': 'm'}"
            )
    return units


def _unit_by_name(name: str) -> str:
    return _BEGINNINGS.get(str(name).partition("_")[0]) or _ending_unit(str(name))


def _of_joints(model: Model, names: Iterable[str], units: Mapping[str, list[str]]) -> Section:
    return dict(zip(names, [unit for body in model.bodies for unit in units[body.joint.kind]], strict=True))


def _with_units(names: Iterable[str]) -> Section:
    return {name: _ending_unit(name) for name in names}


def _ending_unit(name: str) -> str:
    last = name.rpartition("_")[2]
    return "m" if last in _XYZ else _ENDINGS.get(last[:1], "1")


def torque_names(model: Model) -> list[str]:
    """Return the columns of the torques, one for each degree of freedom."""
    return ["torque_" + name.removeprefix("rate_") for name in model.velocity_names]


def pose_names(prefix: str) -> list[str]:
    """Return the columns of a position and a quaternion, for example of the root joint."""
    return _prefixed(prefix, POSE)


def _prefixed(prefix: str, parts: Iterable[str]) -> list[str]:
    return [f"{prefix}_{part}" for part in parts]


def places_of(sections: Mapping[str, Section], columns: Sequence[str]) -> log.RowLayout:
    """Return the index of the first column of each section; ABSENT if a section is empty or missing.

    Raises:
        InputError: the columns of a section are not adjacent.
    """
    where = {name: place for place, name in enumerate(columns)}
    return log.RowLayout(**{name: _begin(list(section), where) for name, section in sections.items()})


def _begin(section: list[str], where: Mapping[str, int]) -> int:
    there = [where[name] for name in section if name in where]
    if there and there != list(range(there[0], there[0] + len(there))):
        raise InputError(f"the columns {section[0]} to {section[-1]} must be adjacent")
    return there[0] if there else log.ABSENT


@dataclass(frozen=True)
class Columns:
    """Columns of a row, and the hidden columns among them."""

    sections: Mapping[str, Section]  #: unit by column, by section, in the order of the row
    hidden: frozenset[str]  #: columns not shown to users: torques of a floating root, which nothing drives

    @cached_property
    def units(self) -> dict[str, str]:
        """Unit by column, in the order of the row."""
        return {name: unit for section in self.sections.values() for name, unit in section.items()}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, in the order of the row."""
        return tuple(self.units)

    @cached_property
    def layout(self) -> log.RowLayout:
        """First index of each section, for the kernels."""
        return places_of(self.sections, self.names)

    @property
    def shown(self) -> list[int]:
        """Indices of the shown columns."""
        return [i for i, name in enumerate(self.names) if name not in self.hidden]


def columns_of(
    model: Model,
    recorded: Recorded = (),
    integrator_columns: Section | None = None,
    platform: bool = False,
    projectile: bool = False,
    apart: bool = False,
    estimate: bool = False,
) -> Columns:
    """Return the columns of a run of this model, computed once; the arguments are those of ``sections_of``.

    Raises:
        InputError: a column of the controller has the name of another column, or an invalid name.
    """
    integrator_columns = integrator_columns or {}
    named = tuple(recorded.items() if isinstance(recorded, Mapping) else recorded)
    key = ("columns", named, tuple(integrator_columns.items()), platform, projectile, apart, estimate)
    if key not in model.derived:
        hidden = torque_names(model)[:6] if model.is_floating else ()
        sections = sections_of(model, recorded, integrator_columns, platform, projectile, apart, estimate)
        _check_apart(sections)
        model.derived[key] = Columns(sections, frozenset(hidden))
    return model.derived[key]


def _check_apart(sections: Mapping[str, Section]) -> None:
    taken = {name: section for section, names in sections.items() if section != "controller" for name in names}
    for name in sections["controller"]:
        if name in taken:
            raise InputError(f"controller.recorded has {name!r}, which is a column of every run: choose another name")
