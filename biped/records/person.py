"""Centre of mass and segment angles of a recorded person, from markers or from OpenSim's coordinates.

`with_person` adds the columns ``com_ap`` (anterior positive), ``com_ml`` (right positive) and ``com_z`` (up) [m] and,
from markers, the inclinations of segments, ``SEGMENT_pitch`` (top forward positive) and ``SEGMENT_roll`` (top to the
right positive) [deg], and the angles of joints between them, ``JOINT_flexion`` [deg].
"""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NotRequired, TypedDict, get_args, get_origin, get_type_hints, is_typeddict

import numpy as np

from biped.errors import InputError
from biped.inputs.extras import need
from biped.model.anthropometry import TABLE, Segment
from biped.records.record import Record
from contact.arrays import Floats
from contact.errors import did_you_mean

COM = ("com_ap", "com_ml", "com_z")
#: Limits of the segments' total share of the body's mass; below WHOLE_MASS a note gives the share.
LEAST_MASS, WHOLE_MASS, MOST_MASS = 0.5, 0.98, 1.001
#: Names of the segments in ``biped.model.anthropometry``.
SEGMENTS = tuple(name for name, kind in TABLE["male"]._asdict().items() if isinstance(kind, Segment))

_AXES = {f"{sign}{axis}": (place, -1.0 if sign == "-" else 1.0) for sign in "+- " for place, axis in enumerate("xyz")}
_AXES |= {axis: _AXES[f"+{axis}"] for axis in "xyz"}
# A key ``from`` is not a valid name in Python.
_Ends = TypedDict(
    "_Ends",
    {
        "from": list[str],
        "to": list[str],
        "like": NotRequired[str],
        "mass": NotRequired[float],
        "com": NotRequired[float],
    },
)


class _Angle(TypedDict):
    upper: str
    lower: str
    sign: NotRequired[float]


class _Body(TypedDict):
    forward: str
    up: str
    people: NotRequired[str]
    segments: dict[str, _Ends]
    joints: NotRequired[dict[str, _Angle]]


def with_person(record: Record, body: str | Path) -> Record:
    """Return a record with added columns for the person's centre of mass, segments and joints.

    Args:
        record: record of markers, or of OpenSim's joint coordinates (inverse kinematics, ``.mot``).
        body: path of the description of the person's body: for markers a table of segments (``.toml``, see
            docs/records-markers.md), for coordinates an OpenSim model (``.osim``, needs ``biped-balance[opensim]``).

    Raises:
        InputError: the file is of another kind, cannot be read or is incomplete, a marker or all coordinates are
            missing in the record, or it already has a column that would be added.
        MissingExtraError: the package opensim, which an ``.osim`` file needs, is missing.
    """
    path = Path(body)
    makers: dict[str, Callable[[Record, Path], _Computed]] = {".toml": _by_markers, ".osim": _by_opensim}
    if path.suffix.lower() not in makers:
        raise InputError(f"body = {str(body)!r}: it must be a table of segments (.toml) or an OpenSim model (.osim)")
    if not path.is_file():
        raise InputError(f"body: there is no file {str(path)!r}")
    columns, units, notes = makers[path.suffix.lower()](record, path)
    twice = [name for name in columns if name in record.columns]
    if twice:
        raise InputError(f"{path}: {record.source} has a column {twice[0]!r} already: rename it, or leave out 'body'")
    all_notes = (*record.notes, f"{', '.join(columns)}: computed with {path.name}", *notes)
    return replace(record, columns={**record.columns, **columns}, units={**record.units, **units}, notes=all_notes)


_Computed = tuple[dict[str, Floats], dict[str, str], list[str]]


def _by_markers(record: Record, path: Path) -> _Computed:
    """Return columns, units and notes computed from segments between means of markers."""
    table = _table(path)
    turned = [_axis(path, key, str(table[key])) for key in ("forward", "up")]
    if turned[0][0] == turned[1][0]:
        raise InputError(f"{path}: forward = {table['forward']!r}, up = {table['up']!r}: they must be different axes")
    directions = np.zeros((3, 3))  # rows: forward, right, up
    for row, (place, sign) in zip((0, 2), turned, strict=True):
        directions[row, place] = sign
    directions[1] = np.cross(directions[0], directions[2])
    shares, ends = {}, {}
    if table.get("people", "male") not in TABLE:
        raise InputError(f"{path}: people = {table['people']!r}: it must be one of {', '.join(TABLE)} (de Leva 1996)")
    for name, segment in table["segments"].items():
        if sorted(segment["from"]) == sorted(segment["to"]):
            raise InputError(f"{path}: segment {name}: 'from' and 'to' have the same markers: give different ones")
        shares[name] = _share(path, name, segment, table.get("people"))
        ends[name] = [_middle(record, path, segment[key]) @ directions.T for key in ("from", "to")]
    mass = sum(share for share, _ in shares.values())
    if not LEAST_MASS <= mass <= MOST_MASS:
        raise InputError(
            f"{path}: the segments' masses add up to {mass:.3g} of the body's: the sum must be from {LEAST_MASS} to 1"
        )
    com = sum(share * (a + at * (b - a)) for (share, at), (a, b) in zip(shares.values(), ends.values(), strict=True))
    columns = dict(zip(COM, (np.asarray(com) / mass).T, strict=True))
    for name, (a, b) in ends.items():
        columns |= _inclination(name, b - a)
    for name, joint in table.get("joints", {}).items():
        columns[f"{name}_flexion"] = _flexion(path, name, joint, columns)
    units = {name: "m" if name in COM else "deg" for name in columns}
    part = f"the segments of {path.name} have {mass:.1%} of the body's mass: the centre of mass is that of these only"
    return columns, units, [part] if mass < WHOLE_MASS else []


def _table(path: Path) -> _Body:
    """Return the table of segments; raise InputError if the file is invalid."""
    try:
        table: Any = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: it cannot be read as TOML: {error}") from None
    if not (_fits(path, table, _Body, "") and table["segments"]):
        raise InputError(
            f"{path}: it needs 'forward' and 'up' (axes such as 'x' and '-y'), and tables [segments.NAME] with 'from', "
            f"'to' (lists of markers), and either 'like' (one of {', '.join(SEGMENTS)}) or both 'mass' and 'com'"
        )
    return table


def _fits(path: Path, value: Any, kind: Any, where: str) -> bool:
    """Return True if a value is of a type; raise InputError for an unknown key."""
    origin, of = get_origin(kind), get_args(kind)
    if origin is list:
        return isinstance(value, list) and all(_fits(path, item, of[0], where) for item in value)
    if not (is_typeddict(kind) or origin is dict):
        return isinstance(value, int | float if kind is float else kind)
    if not isinstance(value, dict):
        return False
    kinds = dict.fromkeys(value, of[1]) if origin is dict else get_type_hints(kind)
    for key in value:
        if key not in kinds:
            close = did_you_mean(key, kinds)
            raise InputError(f"{path}: unknown key {where}{key}; {close}keys are {', '.join(kinds)}")
    is_whole = origin is dict or kind.__required_keys__ <= value.keys()
    return is_whole and all(_fits(path, item, kinds[key], f"{where}{key}.") for key, item in value.items())


def _axis(path: Path, key: str, name: str) -> tuple[int, float]:
    if name not in _AXES:
        raise InputError(f"{path}: {key} = {name!r}: it must be one of x, y, z, -x, -y, -z")
    return _AXES[name]


def _share(path: Path, name: str, segment: _Ends, people: str | None) -> tuple[float, float]:
    """Return a segment's share of the mass, and the location of its centre of mass from 0 (``from``) to 1 (``to``)."""
    if "like" in segment:
        if people not in TABLE:
            raise InputError(f"{path}: people = {people!r}: it must be one of {', '.join(TABLE)} (de Leva 1996)")
        if segment["like"] not in SEGMENTS:
            raise InputError(f"{path}: {name}.like = {segment['like']!r}: it must be one of {', '.join(SEGMENTS)}")
        reference: Segment = getattr(TABLE[people], segment["like"])
        return segment.get("mass", reference.mass), segment.get("com", reference.com)
    if "mass" not in segment or "com" not in segment:
        raise InputError(
            f"{path}: segment {name} needs 'like', or 'mass' (share of the body's) and 'com' (share of its length)"
        )
    mass, com = segment["mass"], segment["com"]
    if not (0.0 < mass <= 1.0 and 0.0 <= com <= 1.0):
        raise InputError(f"{path}: {name}: mass = {mass:g}, com = {com:g}: they must be shares, from 0 to 1")
    return mass, com


def _middle(record: Record, path: Path, markers: list[str]) -> Floats:
    """Return the mean position (n, 3) [m] of markers in the record's axes."""
    if not markers:
        raise InputError(f"{path}: 'from' and 'to' of a segment need at least one marker each")
    for marker in markers:
        if f"{marker}_x" not in record.columns:
            known = [name.removesuffix("_x") for name in record.columns if name.endswith("_x")]
            close = did_you_mean(marker, known)
            raise InputError(f"{path}: {record.source} has no marker {marker!r}; {close}markers are {', '.join(known)}")
    places = [[record.converted(f"{marker}_{axis}", "m") for axis in "xyz"] for marker in markers]
    middle: Floats = np.mean(places, axis=0).T
    return middle


def _inclination(name: str, along: Floats) -> dict[str, Floats]:
    """Return the inclinations [deg] of a segment's vector (n, 3) (forward, right, up), which is taken upward."""
    upright = along if np.nanmedian(along[:, 2]) >= 0.0 else -along
    forward, right, up = upright.T
    turns = {"pitch": np.arctan2(forward, up), "roll": np.arctan2(right, up)}
    return {f"{name}_{turn}": np.degrees(angle) for turn, angle in turns.items()}


def _flexion(path: Path, name: str, joint: _Angle, columns: Mapping[str, Floats]) -> Floats:
    """Return the angle [deg] in the sagittal plane from the lower to the upper segment, times ``joint["sign"]``."""
    sign = joint.get("sign", 1.0)
    if abs(sign) != 1.0 or joint["upper"] == joint["lower"]:
        raise InputError(f"{path}: joint {name}: 'upper' and 'lower' must differ; sign = {sign:g} must be 1 or -1")
    for end in (joint["upper"], joint["lower"]):
        if f"{end}_pitch" not in columns:
            raise InputError(f"{path}: joint {name}: there is no segment {end!r} in this file")
    return sign * (columns[f"{joint['upper']}_pitch"] - columns[f"{joint['lower']}_pitch"])


def _by_opensim(record: Record, path: Path) -> _Computed:
    """Return columns, units and notes, computed with an OpenSim model (x forward, y up, z to the right)."""
    need("opensim")
    import opensim

    opensim.Logger.setLevelString("error")
    opensim.Logger.removeFileSink()  # it would write a file opensim.log into the working folder
    try:
        model = opensim.Model(str(path))
        state = model.initSystem()
    except RuntimeError as error:
        raise InputError(f"{path}: OpenSim cannot read the model: {str(error).split(chr(10))[0].strip()}") from None
    driven, absent = [], []
    for coordinate in model.getCoordinateSet():
        names = (coordinate.getName(), f"{coordinate.getAbsolutePathString()}/value")
        column = next((name for name in names if name in record.columns), None)
        if column is None:
            absent.append(coordinate.getName())
        else:
            unit = "m" if coordinate.getMotionType() == opensim.Coordinate.Translational else "rad"
            driven.append((coordinate, record.converted(column, unit)))
    if not driven:
        raise InputError(f"{path}: {record.source} has no coordinate of the model ({', '.join(absent[:6])}, …)")
    com = np.full((len(record.time), 3), np.nan)
    for row in range(len(com)):
        values = [column[row] for _, column in driven]
        if np.isfinite(values).all():
            for (coordinate, _), value in zip(driven, values, strict=True):
                coordinate.setValue(state, float(value), False)
            model.assemble(state)
            model.realizePosition(state)
            com[row] = model.calcMassCenterPosition(state).to_numpy()
    x, y, z = com.T
    notes = [f"not recorded, and kept at the defaults of {path.name}: {', '.join(absent)}"] if absent else []
    return {"com_ap": x, "com_ml": z, "com_z": y}, dict.fromkeys(COM, "m"), notes
