"""C3D files: positions of points, analog channels, forces and centres of pressure of force plates, by ``ezc3d``."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from biped.errors import InputError
from biped.inputs.extras import need
from biped.records.raw import Raw
from biped.records.units import factor_between, is_unit, unit_of
from contact.arrays import Floats

#: [N] Vertical force from which a plate counts as loaded, as usual in gait analysis: below are noise and offsets.
LOADED = 20.0
#: Kinds of points that are not positions, by their parameters, and labels of Vicon's model outputs.
_KINDS = ("ANGLE", "FORCE", "MOMENT", "POWER", "SCALAR", "REACTION")
_MODELLED = re.compile(r"(?i).*(angle|force|moment|power|grf)s?")
#: [m] Plausible distances of neighbouring corners of a plate; outside, corners are missing or in another unit.
_EDGES = (0.1, 10.0)

Column = tuple[str, Floats, str]


def read_c3d(path: Path) -> Raw:
    """Read the columns of a C3D file at the times of its points' frames, from 0 s at the first frame.

    The columns are ``LABEL_x``, ``_y`` and ``_z`` of each point; the label of each analog channel; ``plate1_fx``,
    ``_fy``, ``_fz``, ``plate1_cop_x`` and ``_cop_y`` of each force plate; ``cop_x`` and ``cop_y`` of all loaded plates
    together. All are in the laboratory's axes, z up. Points that the file lists as angles, forces, moments, powers or
    scalars have their own units. Points that were not seen, and centres of pressure under less than 20 N, are NaN. The
    use of a plate that ``ezc3d`` cannot compute raises an error.

    Channels and forces with a higher sampling rate than the points are low-passed at half the points' rate, without
    shift in time, and sampled at the points' frames, to avoid aliasing. This smooths an impact and makes a raw EMG
    useless. A centre of pressure is computed from the low-passed force and moment. A file without points keeps all
    samples: save fast channels in such a file.

    Raises:
        InputError: the file is not a C3D file, or has no rate.
        MissingExtraError: ``ezc3d`` is not installed.
    """
    need("ezc3d")
    import ezc3d

    try:
        file = ezc3d.c3d(str(path))
    except (RuntimeError, OSError, ValueError) as error:
        raise InputError(f"{path}: ezc3d cannot read this file ({error})") from None
    points, groups, notes = file["data"]["points"], file["parameters"], list[str]()
    rate, analogs = float(groups["POINT"]["RATE"]["value"][0]), file["data"]["analogs"][0]
    each = 1
    if points.shape[1] == 0:
        rate = float(groups["ANALOG"]["RATE"]["value"][0])
    elif analogs.size:
        each = max(round(analogs.shape[1] / points.shape[2]), 1)
    if each > 1:
        notes.append(f"channels and plates are low-passed at {rate / 2.0:g} Hz and sampled at the points' {rate:g} Hz")
    if not (place := next(iter(_texts(groups["POINT"], "UNITS")), "")):
        place = "mm"
        notes.append("POINT:UNITS is missing: positions are assumed to be in mm, as is usual for C3D")
    columns = list(_points(points, file["data"]["meta_points"]["residuals"], groups["POINT"], place))
    channels = _channels(analogs, groups["ANALOG"])
    columns += [(name, _at_frames(values, each), unit) for name, values, unit in channels]
    plates, blocked = _plates(file, [unit for _, _, unit in channels], place, each, notes)
    return Raw([*columns, *plates], rate, notes, blocked)


def _at_frames(values: Floats, each: int) -> Floats:
    """Return every ``each``-th sample (…, n / each) of (…, n) after a low pass at half the new rate (Kaiser window).

    The filter passes 99.8 % up to 0.42 of the points' rate, and 0.2 % from 0.58 of it.
    """
    if each == 1:
        return values
    from scipy.signal import resample_poly

    # SciPy says that any mode of upfirdn works; its types know only some. This one extrapolates straight lines.
    resampled: Floats = resample_poly(values, 1, each, axis=-1, padtype="antireflect")  # type: ignore[call-overload]
    return resampled


def _texts(group: Mapping[str, Any], name: str) -> list[str]:
    """Return the texts of a parameter; from the 256th on, they are in the parameters NAME2, NAME3, …."""
    words = list(group.get(name, {"value": []})["value"])
    k = 2
    while f"{name}{k}" in group:
        words += group[f"{name}{k}"]["value"]
        k += 1
    return [str(word).strip() for word in words]


def _labels(group: Mapping[str, Any], count: int, word: str) -> list[str]:
    labels = (_texts(group, "LABELS") + [""] * count)[:count]
    return [label or f"{word}{k}" for k, label in enumerate(labels, start=1)]


def _points(points: Floats, residuals: Floats, group: Mapping[str, Any], place: str) -> Iterator[Column]:
    kinds = _kinds(group)
    for k, label in enumerate(_labels(group, points.shape[1], "point")):
        plain = label.rpartition(":")[2]  # without the subject's name
        modelled = "that no group of points gives for a model's output" if _MODELLED.fullmatch(plain) else ""
        seen = residuals[0, k] >= 0.0
        for row, axis in enumerate("xyz"):
            yield f"{label}_{axis}", np.where(seen, points[row, k], np.nan), kinds.get(plain, modelled or place)


def _kinds(group: Mapping[str, Any]) -> dict[str, str]:
    """Return the units of points that are not positions, by label without the subject's name."""
    pairs = {f"{kind}S": [f"{kind}_UNITS", f"{kind}S_UNITS", f"{kind}_UNIT"] for kind in _KINDS}
    parameters = _texts(group, "TYPE_GROUPS")  # names of the parameters of labels and of their units
    roles = [name for name in parameters if "UNIT" not in name], [name for name in parameters if "UNIT" in name]
    pairs |= {labels: [unit, *pairs.get(labels, [])] for labels, unit in zip(*roles, strict=False)}
    by_label: dict[str, str] = {}
    for labels, names in pairs.items():
        units = [text for name in names for text in _texts(group, name)[:1] if text]
        unit = next(iter(units), f"that is not given for {labels}")
        by_label |= {label.rpartition(":")[2]: unit for label in _texts(group, labels) if label}
    return by_label


def _channels(analogs: Floats, group: Mapping[str, Any]) -> list[Column]:
    units = _texts(group, "UNITS") + [""] * len(analogs)
    return [(label, analogs[k], units[k]) for k, label in enumerate(_labels(group, len(analogs), "analog"))]


def _plates(
    file: Any, units: list[str], place: str, each: int, notes: list[str]
) -> tuple[list[Column], dict[str, str]]:
    """Return the columns of the force plates, and the reasons why some of them cannot be read, by column."""
    import ezc3d

    group = file["parameters"].get("FORCE_PLATFORM", {})
    used: Any = np.ravel(group["USED"]["value"]) if "USED" in group and units else []
    columns: list[Column] = []
    blocked: dict[str, str] = {}
    pressing, moments = np.zeros(1), np.zeros(1)
    for number in range(1, int(sum(used[:1])) + 1):
        name = f"plate{number}"
        try:
            plate = ezc3d.c3d.PlatForm(ezc3d.ezc3d.ForcePlatform(number - 1, file.c3d_swig))
            _check_corners(plate["corners"], place)
        except (RuntimeError, IndexError, ValueError) as error:
            why = f"ezc3d cannot compute all force plates ({error}): use channels, or other plates"
            blocked |= dict.fromkeys([f"{name}_{end}" for end in ("fx", "fy", "fz", "cop_x", "cop_y")], why)
            blocked |= {"cop_x": why, "cop_y": why}
            continue
        kind = int(np.ravel(group["TYPE"]["value"])[number - 1])
        _, _, of_force, other, *_ = np.atleast_2d(group["CHANNEL"]["value"])[:, number - 1].astype(int) - 1
        newtons, lever = _scales(
            kind, plate["unit_force"], units[of_force], units[other], place, f"plate {number}", notes
        )
        force, centre = newtons * plate["force"], _centre(plate, lever, kind)
        moment = _at_frames(np.where(np.isfinite(centre), force[2] * centre, 0.0), each)
        filtered = _at_frames(force, each)
        loaded = np.minimum(np.abs(force[2, ::each]), np.abs(filtered[2])) >= LOADED
        if not loaded.all():
            notes.append(f"plate {number} carries less than {LOADED:g} N at times, when it has no centre of pressure")
        columns += [(f"{name}_f{axis}", filtered[row], "N") for row, axis in enumerate("xyz")]
        columns += _pressure(f"{name}_cop", np.where(loaded, moment, 0.0), np.where(loaded, filtered[2], 0.0), place)
        pressing = pressing + np.where(loaded, filtered[2], 0.0)
        moments = moments + np.where(loaded, moment, 0.0)
    if columns and not blocked:
        columns += _pressure("cop", moments, pressing, place)
    return columns, blocked


def _check_corners(corners: Floats, place: str) -> None:
    """Raise ValueError if the corners (3, 4) of a plate are missing or not in POINT:UNITS."""
    edges = np.linalg.norm(np.diff(corners, axis=1), axis=0) * unit_of(place).factor
    if not np.all((edges > _EDGES[0]) & (edges < _EDGES[1])):
        raise ValueError(f"edges of {edges.min():.3g} to {edges.max():.3g} m: fix FORCE_PLATFORM:CORNERS, POINT:UNITS")


def _scales(
    kind: int, plate_unit: str, force: str, other: str, place: str, name: str, notes: list[str]
) -> tuple[float, float]:
    """Return the factors by which the forces and the lever arms from ``ezc3d`` have to be multiplied for a plate.

    ``ezc3d`` assumes moments in the unit of force times POINT:UNITS, and positions of plates of type 1 in POINT:UNITS.
    The units ``force`` and ``other`` of the channels take precedence.
    """
    force = next((unit for unit in (force, plate_unit) if _measures(unit, "N")), "N")
    newtons, target = factor_between(force, "N"), "m" if kind == 1 else "N·m"
    if kind == 3:  # its channels are forces alone
        return newtons, 1.0
    taken = place if kind == 1 else f"{force}·{place}"
    if not (_measures(other, target) and _measures(taken, target)):
        notes.append(f"{name}: its channels are in {other or 'no unit'}, and assumed to be in {taken}, as by ezc3d")
        return newtons, 1.0
    if not math.isclose(lever := factor_between(other, taken), 1.0):
        notes.append(f"{name}: its channels are converted from {other}; ezc3d assumes {taken}")
    return newtons, lever


def _measures(unit: str, target: str) -> bool:
    return is_unit(unit) and unit_of(unit).powers == unit_of(target).powers


def _centre(plate: Mapping[str, Any], lever: float, kind: int) -> Floats:
    """Return the centre of pressure (3, n) of a plate, with the moments m of its channels multiplied by ``lever``.

    ``ezc3d`` computes M = m + F × o, with the origin o of the channels, and the centre at n × M / (n · F) from the mean
    of the corners, n the plate's normal. Only the part of m is scaled. Plates of type 1 measure the centre itself.
    """
    place: Floats = plate["center_of_pressure"]
    if math.isclose(lever, 1.0):
        return place
    corners, force, middle = plate["corners"], plate["force"], plate["corners"].mean(axis=1)[:, None]
    axes = np.array([corners[:, 0] - corners[:, 1], corners[:, 0] - corners[:, 3]])
    axes /= np.linalg.norm(axes, axis=1)[:, None]
    normal = np.cross(*axes)
    origin = plate["origin"] @ np.vstack([axes, normal]) * (kind != 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        of_force = (np.cross(normal, np.cross(force.T, origin)) / (force.T @ normal)[:, None]).T
        return np.asarray(middle + lever * (place - middle - of_force) + of_force)


def _pressure(name: str, moment: Floats, force: Floats, unit: str) -> list[Column]:
    place = np.full(moment.shape, np.nan)
    np.divide(moment, force, out=place, where=force != 0.0)
    return [(f"{name}_{axis}", place[k], unit) for k, axis in enumerate("xy")]
