"""C3D: places of points, analog channels, and forces and centres of pressure of force plates, by ``ezc3d``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from biped.errors import InputError
from biped.extras import need
from biped.records.raw import Raw
from contact.arrays import Floats

if TYPE_CHECKING:
    from numpy.typing import NDArray


def read_c3d(path: Path) -> Raw:
    """The columns of a C3D file at the times of its points' frames, from 0 s on at the first one.

    Of each point ``LABEL_x``, ``_y`` and ``_z``; of each analog channel its label; of each force plate ``plate1_fx``,
    ``_fy``, ``_fz``, ``plate1_cop_x`` and ``_cop_y``; ``cop_x`` and ``cop_y`` of all plates together. All in the
    laboratory's axes, z up. Points that were not seen, and the centre of pressure where nothing presses, are NaN.

    Channels and forces that are sampled more often than the points are low-passed at half the points' rate, without
    shift in time, and taken at their frames, so that what is faster does not alias: an impact comes smoothed, a raw EMG
    not at all. A centre of pressure is that of the low-passed force and moment. A file without points has all samples:
    save channels without them that are faster.

    Raises:
        InputError: it is no C3D file, has no rate, or a force plate is of a type that ``ezc3d`` does not know.
        MissingExtraError: without ``ezc3d``.
    """
    need("ezc3d")
    import ezc3d

    try:
        file = ezc3d.c3d(str(path), extract_forceplat_data=True)
    except (RuntimeError, OSError, ValueError) as error:
        raise InputError(f"{path}: ezc3d cannot read it ({error})") from None
    points, groups = file["data"]["points"], file["parameters"]
    rate, analogs = float(groups["POINT"]["RATE"]["value"][0]), file["data"]["analogs"][0]
    each = 1
    if points.shape[1] == 0:
        rate = float(groups["ANALOG"]["RATE"]["value"][0])
    elif analogs.size:
        each = max(round(analogs.shape[1] / points.shape[2]), 1)
    columns, units = _points(points, file["data"]["meta_points"]["residuals"], groups["POINT"])
    for name, values, unit in _channels(analogs, groups["ANALOG"]):
        columns[name], units[name] = _at_frames(values, each), unit
    for name, values, unit in _plates(file["data"]["platform"], each):
        columns[name], units[name] = values, unit
    return Raw(columns, units, rate)


def _at_frames(values: Floats, each: int) -> Floats:
    """(…, n / each) of samples (…, n): every ``each``-th, after a low pass at half their rate, here by a Kaiser window.

    From 0.42 of the points' rate down it passes all but 0.2 %, from 0.58 up it leaves 0.2 %.
    """
    if each == 1:
        return values
    from scipy.signal import resample_poly

    # Any mode of upfirdn will do, says SciPy; its types know some only. This one continues straight lines.
    resampled: Floats = resample_poly(values, 1, each, axis=-1, padtype="antireflect")  # type: ignore[call-overload]
    return resampled


def _texts(group: Mapping[str, Any], name: str) -> list[str]:
    """The words of a parameter, which goes on in NAME2, NAME3, … beyond 255 of them."""
    words = list(group.get(name, {"value": []})["value"])
    k = 2
    while f"{name}{k}" in group:
        words += group[f"{name}{k}"]["value"]
        k += 1
    return [str(word).strip() for word in words]


def _points(points: Floats, residuals: Floats, group: Mapping[str, Any]) -> tuple[dict[str, Floats], dict[str, str]]:
    unit = next(iter(_texts(group, "UNITS")), "") or "mm"  # the format's custom, where nothing is said
    columns: dict[str, Floats] = {}
    for k, label in enumerate(_texts(group, "LABELS")[: points.shape[1]]):
        seen = residuals[0, k] >= 0.0
        columns |= {f"{label}_{axis}": np.where(seen, points[row, k], np.nan) for row, axis in enumerate("xyz")}
    return columns, dict.fromkeys(columns, unit)


def _channels(analogs: Floats, group: Mapping[str, Any]) -> list[tuple[str, Floats, str]]:
    labels, units = _texts(group, "LABELS"), _texts(group, "UNITS")
    units += [""] * (len(labels) - len(units))
    return [(label, analogs[k], units[k]) for k, label in enumerate(labels[: len(analogs)])]


def _plates(plates: list[Mapping[str, Any]], each: int) -> list[tuple[str, Floats, str]]:
    found: list[tuple[str, Floats, str]] = []
    pressed, pressing, moments = np.asarray(False), np.asarray(0.0), np.asarray(0.0)
    for number, plate in enumerate(plates, start=1):
        place = np.where(np.isfinite(plate["center_of_pressure"]), plate["center_of_pressure"], 0.0)[:2]
        loaded = plate["force"][2, ::each] != 0.0
        force, moment = _at_frames(plate["force"], each), _at_frames(plate["force"][2] * place, each)
        found += [(f"plate{number}_f{axis}", force[k], plate["unit_force"]) for k, axis in enumerate("xyz")]
        found += _pressure(f"plate{number}_cop", moment, force[2], loaded, plate["unit_position"])
        pressed, pressing, moments = pressed | loaded, pressing + force[2], moments + moment
    if plates:
        found += _pressure("cop", moments, pressing, pressed, plates[0]["unit_position"])
    return found


def _pressure(
    name: str, moment: Floats, force: Floats, loaded: NDArray[np.bool_], unit: str
) -> list[tuple[str, Floats, str]]:
    place = np.full(moment.shape, np.nan)
    np.divide(moment, force, out=place, where=loaded)
    return [(f"{name}_{axis}", place[k], unit) for k, axis in enumerate("xy")]
