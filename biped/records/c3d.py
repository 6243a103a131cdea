"""C3D: places of points, analog channels, and forces and centres of pressure of force plates, by ``ezc3d``."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from biped.errors import InputError
from biped.extras import need
from biped.records.raw import Raw
from biped.records.units import factor_between, is_unit, unit_of
from contact.arrays import Floats

#: [N] Vertical force below which a plate counts as unloaded. Unloaded plates show noise of a few newtons and offsets
#: of some more; 20 N is the usual threshold of gait analysis.
LOADED = 20.0
#: Kinds of points that are no places, as the names of parameters have them, and ends of labels that Vicon's models give.
_KINDS = ("ANGLE", "FORCE", "MOMENT", "POWER", "SCALAR", "REACTION")
_MODELLED = ("Angles", "Force", "Moment", "Power")

Column = tuple[str, Floats, str]


def read_c3d(path: Path) -> Raw:
    """Read the columns of a C3D file at the times of its points' frames, from 0 s on at the first one.

    Of each point ``LABEL_x``, ``_y`` and ``_z``; of each analog channel its label; of each force plate ``plate1_fx``,
    ``_fy``, ``_fz``, ``plate1_cop_x`` and ``_cop_y``; ``cop_x`` and ``cop_y`` of all loaded plates together. All in the
    laboratory's axes, z up. Points that the file lists as angles, forces, moments, powers or scalars are in the units
    that it says of these. Points that were not seen, and the centre of pressure of a plate that bears less than 20 N,
    are NaN. Plates that ``ezc3d`` cannot compute are blocked.

    Channels and forces that are sampled more often than the points are low-passed at half the points' rate, without
    shift in time, and taken at their frames, so that what is faster does not alias: an impact comes smoothed, a raw EMG
    not at all. A centre of pressure is that of the low-passed force and moment. A file without points has all samples:
    save channels without them that are faster.

    Raises:
        InputError: it is no C3D file, or has no rate.
        MissingExtraError: without ``ezc3d``.
    """
    need("ezc3d")
    import ezc3d

    try:
        file = ezc3d.c3d(str(path))
    except (RuntimeError, OSError, ValueError) as error:
        raise InputError(f"{path}: ezc3d cannot read it ({error})") from None
    points, groups = file["data"]["points"], file["parameters"]
    rate, analogs = float(groups["POINT"]["RATE"]["value"][0]), file["data"]["analogs"][0]
    each = 1
    if points.shape[1] == 0:
        rate = float(groups["ANALOG"]["RATE"]["value"][0])
    elif analogs.size:
        each = max(round(analogs.shape[1] / points.shape[2]), 1)
    notes: list[str] = []
    columns = list(_points(points, file["data"]["meta_points"]["residuals"], groups["POINT"], notes))
    channels = _channels(analogs, groups["ANALOG"])
    columns += [(name, _at_frames(values, each), unit) for name, values, unit in channels]
    plates, blocked = _plates(file, channels, each, notes)
    if each > 1:
        notes.append(f"channels and plates are low-passed at {rate / 2.0:g} Hz and taken at the points' {rate:g} Hz")
    return Raw([*columns, *plates], rate, notes, blocked)


def _at_frames(values: Floats, each: int) -> Floats:
    """Return every ``each``-th (…, n / each) of samples (…, n), after a low pass at half their rate by a Kaiser window.

    From 0.42 of the points' rate down it passes all but 0.2 %, from 0.58 up it leaves 0.2 %.
    """
    if each == 1:
        return values
    from scipy.signal import resample_poly

    # Any mode of upfirdn will do, says SciPy; its types know some only. This one continues straight lines.
    resampled: Floats = resample_poly(values, 1, each, axis=-1, padtype="antireflect")  # type: ignore[call-overload]
    return resampled


def _texts(group: Mapping[str, Any], name: str) -> list[str]:
    """Return the words of a parameter, which goes on in NAME2, NAME3, … beyond 255 of them."""
    words = list(group.get(name, {"value": []})["value"])
    k = 2
    while f"{name}{k}" in group:
        words += group[f"{name}{k}"]["value"]
        k += 1
    return [str(word).strip() for word in words]


def _labels(group: Mapping[str, Any], count: int, word: str) -> list[str]:
    labels = (_texts(group, "LABELS") + [""] * count)[:count]
    return [label or f"{word}{k}" for k, label in enumerate(labels, start=1)]


def _points(points: Floats, residuals: Floats, group: Mapping[str, Any], notes: list[str]) -> Iterator[Column]:
    place = next(iter(_texts(group, "UNITS")), "")
    if not place and points.shape[1]:
        place = "mm"
        notes.append("POINT:UNITS is missing: places are taken to be in mm, as is the format's custom")
    kinds = _kinds(group)
    for k, label in enumerate(_labels(group, points.shape[1], "point")):
        plain = label.rpartition(":")[2]  # without the subject's name
        unit = next((kinds[name] for name in (label, plain) if name in kinds), place)
        if plain.endswith(_MODELLED) and plain not in kinds:
            unit = "that no group of points says of a model's output"
        seen = residuals[0, k] >= 0.0
        for row, axis in enumerate("xyz"):
            yield f"{label}_{axis}", np.where(seen, points[row, k], np.nan), unit


def _kinds(group: Mapping[str, Any]) -> dict[str, str]:
    """Return the units of points that are no places, by label, and by label without the subject's name."""
    pairs = {f"{kind}S": [f"{kind}_UNITS", f"{kind}S_UNITS", f"{kind}_UNIT", f"{kind}UNITS"] for kind in _KINDS}
    said = _texts(group, "TYPE_GROUPS")  # names of parameters: of labels, and of their units
    listed_here = [name for name in said if "UNIT" not in name], [name for name in said if "UNIT" in name]
    for labels, unit in zip(*listed_here, strict=False):
        pairs[labels] = [unit, *pairs.get(labels, [])]
    found: dict[str, str] = {}
    for labels, names in pairs.items():
        unit = next((texts[0] for name in names if (texts := _texts(group, name)) and texts[0]), "")
        for label in filter(None, _texts(group, labels)):
            found |= dict.fromkeys((label, label.rpartition(":")[2]), unit or f"that is not said of {labels}")
    return found


def _channels(analogs: Floats, group: Mapping[str, Any]) -> list[Column]:
    labels = _labels(group, len(analogs), "analog")
    units = _texts(group, "UNITS") + [""] * len(labels)
    return [(label, analogs[k], units[k]) for k, label in enumerate(labels)]


def _plates(
    file: Any, channels: list[Column], each: int, notes: list[str]
) -> tuple[list[Column], dict[str, str]]:
    """Return the columns of all plates, and why those of a plate that ezc3d cannot compute are blocked."""
    import ezc3d

    group = file["parameters"].get("FORCE_PLATFORM", {})
    used = int(next(iter(np.ravel(group.get("USED", {"value": [0]})["value"])), 0))
    found: list[Column] = []
    blocked: dict[str, str] = {}
    pressing, moments, units = np.zeros(1), np.zeros(1), []
    for k in range(used):
        name = f"plate{k + 1}"
        try:
            plate = ezc3d.c3d.PlatForm(ezc3d.ezc3d.ForcePlatform(k, file.c3d_swig))
        except (RuntimeError, IndexError, ValueError) as error:
            why = f"ezc3d cannot compute force plate {k + 1} ({error}): use its channels"
            blocked |= dict.fromkeys([f"{name}_{end}" for end in ("fx", "fy", "fz", "cop_x", "cop_y")], why)
            continue
        newtons, lever = _scales(k, group, plate, channels, notes)
        force = plate["force"] * newtons
        arm = _arm(plate, lever)
        filtered = _at_frames(force, each)
        moment = _at_frames(np.where(np.isfinite(arm), force[2] * arm, 0.0), each)
        loaded = np.minimum(np.abs(force[2, ::each]), np.abs(filtered[2])) >= LOADED
        found += [(f"{name}_f{axis}", filtered[row], "N") for row, axis in enumerate("xyz")]
        found += _pressure(f"{name}_cop", moment, filtered[2], loaded, plate["unit_position"])
        pressing = pressing + np.where(loaded, filtered[2], 0.0)
        moments = moments + np.where(loaded, moment, 0.0)
        if not loaded.all():
            notes.append(f"plate {k + 1} bears less than {LOADED:g} N at times: no centre of pressure is there")
        units.append(plate["unit_position"])
    zero = np.ravel(group.get("ZERO", {"value": []})["value"])
    if used and len(zero) == 2 and 0 < zero[0] < zero[1]:
        notes.append(f"FORCE_PLATFORM:ZERO, frames {zero[0]} to {zero[1]}, is not applied: offsets of plates stay")
    if blocked:
        why = "force plates are missing in it: ask for that of each plate"
        blocked |= dict.fromkeys(["cop_x", "cop_y"], next(iter(blocked.values())) if not units else why)
    elif units:
        found += _pressure("cop", moments, pressing, pressing != 0.0, units[0])
    return found, blocked


def _scales(
    k: int, group: Mapping[str, Any], plate: Mapping[str, Any], channels: list[Column], notes: list[str]
) -> tuple[float, float]:
    """Return the number of newtons in a plate's unit of force, and that of its levers in the unit of places.

    ``ezc3d`` takes moments to be in the unit of force times POINT:UNITS, and the places that plates of type 1 have in
    POINT:UNITS; the channels' own units go before.
    """
    kind, place = int(np.ravel(group["TYPE"]["value"])[k]), plate["unit_position"]
    numbers = np.atleast_2d(group["CHANNEL"]["value"])[:, k].astype(int) - 1
    force, other = (channels[number][2] for number in numbers[[2, 3]])
    if not _measures(force, "N"):
        force = plate["unit_force"] if _measures(plate["unit_force"], "N") else "N"
    newtons = factor_between(force, "N")
    if kind == 3:  # its channels are forces alone
        return newtons, 1.0
    wanted = "m" if kind == 1 else "N·m"
    if not _measures(other, wanted):
        how = f"{force}·{place}" if wanted == "N·m" else place
        notes.append(f"plate {k + 1}: its channels do not say the unit of {wanted}: it is taken to be {how}, as by ezc3d")
        return newtons, 1.0
    taken = factor_between(place, "m") * (newtons if wanted == "N·m" else 1.0)
    lever = factor_between(other, wanted) / taken
    if not math.isclose(lever, 1.0):
        notes.append(f"plate {k + 1}: channels in {other}, where ezc3d takes {force}·{place}: levers are times {lever:g}")
        return newtons, lever
    return newtons, 1.0


def _measures(unit: str, wanted: str) -> bool:
    return is_unit(unit) and unit_of(unit).powers == unit_of(wanted).powers


def _arm(plate: Mapping[str, Any], scale: float) -> Floats:
    """Return the centre of pressure (2, n), with the moments of the channels, not those of the forces, scaled.

    With the origin o of the channels in the plate's axes R and m of them, the centre is at R (−M_y, M_x, 0) / F_z from
    the corners' mean, M = m + F × o.
    """
    if scale == 1.0:
        place: Floats = plate["center_of_pressure"][:2]
        return place
    corners, force = plate["corners"], plate["force"]
    x, y = corners[:, 0] - corners[:, 1], corners[:, 0] - corners[:, 3]
    z = np.cross(x, y)
    axes = np.column_stack([part / np.linalg.norm(part) for part in (x, np.cross(z, x), z)])
    origin, centre = plate["origin"], corners.mean(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        of_forces = origin[2] * force / (axes[:, 2] @ force) - (axes @ origin)[:, None]
        arm = plate["center_of_pressure"] - centre[:, None]
        return np.asarray((centre[:, None] + scale * (arm - of_forces) + of_forces)[:2])


def _pressure(name: str, moment: Floats, force: Floats, loaded: Any, unit: str) -> list[Column]:
    place = np.full(moment.shape, np.nan)
    np.divide(moment, force, out=place, where=loaded)
    return [(f"{name}_{axis}", place[k], unit) for k, axis in enumerate("xy")]
