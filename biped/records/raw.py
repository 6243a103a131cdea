"""What a file of any format holds, before its units are converted."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from biped.errors import InputError
from biped.records.record import Record
from biped.records.units import is_unit, unit_of
from contact.arrays import Floats

#: A unit behind a heading: in brackets it has to be one, in parentheses it may be a part of the name.
_BRACKETS = re.compile(r"(?P<name>.*?)\s*\[(?P<unit>[^\[\]]*)\]")
_PARENTHESES = re.compile(r"(?P<name>.*?)\s*\((?P<unit>[^()]*)\)")
#: How a column of times is called where nobody has said another name.
TIME = "time"
_ALSO_TIME = ("Time", "TIME", "t")


@dataclass
class Raw:
    """Columns as a file has them.

    Attributes:
        columns: (n,) each, by heading, of which a unit may be the end.
        units: by heading, where the file says it elsewhere, as it is written.
        rate: [Hz] if the file says it; for files without a column of times.
    """

    columns: Mapping[str, Floats]
    units: Mapping[str, str] = field(default_factory=dict)
    rate: float | None = None


def split_heading(heading: str) -> tuple[str, str | None]:
    """Name and unit of ``com_ap [mm]`` or ``com_ap (mm)``; the unit is None where there is none."""
    heading = heading.strip()
    if found := _BRACKETS.fullmatch(heading):
        return found["name"], found["unit"]
    if (found := _PARENTHESES.fullmatch(heading)) and is_unit(found["unit"]):
        return found["name"], found["unit"]
    return heading, None


def find_name(names: Sequence[str], wanted: str) -> str | None:
    """The heading of a column, with its unit or without; None if there is none."""
    by_name = {split_heading(name)[0]: name for name in names} | {name: name for name in names}
    also = _ALSO_TIME if wanted == TIME else ()
    return next((by_name[name] for name in (wanted, *also) if name in by_name), None)


def to_record(
    raw: Raw, source: str, time: str = TIME, rate: float | None = None, units: Mapping[str, str] | None = None
) -> Record:
    """The record of what a file holds, in SI units; angles in what they are told in, radians or degrees.

    Args:
        raw: of the file.
        source: for messages.
        time: the column of times.
        rate: [Hz], of a file without one.
        units: by column, where the file does not say it, or says it wrongly.

    Raises:
        InputError: no time, a time and a rate, a column of ``units`` that is not there, or a unit that is none.
    """
    units = dict(units or {})
    at = find_name(list(raw.columns), time)
    names: dict[str, tuple[str, str | None]] = {heading: split_heading(heading) for heading in raw.columns}
    for name in units:
        if name not in (known := [name for name, _ in names.values()]):
            raise InputError(f"{source}: no column {name!r}, of which a unit is given; columns are {', '.join(known)}")
    found: dict[str, Floats] = {}
    converted: dict[str, str] = {}
    for heading, values in raw.columns.items():
        name, written = names[heading]
        written = units.get(name, written if written is not None else raw.units.get(heading, ""))
        try:
            unit = unit_of("s" if heading == at and not written else written)
        except InputError as error:
            raise InputError(f"{source}, column {name}: {error}") from None
        if heading == at and unit.name != "s":
            raise InputError(f"{source}, column {name}: time is in {written}: it must be in s, ms or min")
        if name in found:
            raise InputError(f"{source}: two columns are called {name!r}: rename one")
        found[name] = np.asarray(values, dtype=float) * unit.factor
        converted[name] = unit.name
    if not found or len(next(iter(found.values()))) < 2:
        raise InputError(f"{source}: a record needs two rows or more")
    times = _times(found.pop(names[at][0]) if at else None, found, source, time, rate, raw.rate)
    return Record(times, found, {name: converted[name] for name in found}, source)


def _times(
    told: Floats | None, found: Mapping[str, Floats], source: str, time: str, rate: float | None, own: float | None
) -> Floats:
    if told is not None:
        if rate is not None:
            raise InputError(f"{source} has a column {time!r}: leave rate out, or name another column of times")
        if not np.isfinite(told).all():
            row = int(np.argmax(~np.isfinite(told))) + 1
            raise InputError(f"{source}: time is missing in row {row} of the numbers: fill it in, or delete the row")
        return told
    rate = own if rate is None else rate
    if rate is None:
        remedy = "name the column of times by time=…, or say by rate=… [Hz] how often it was sampled"
        raise InputError(f"{source}: no column {time!r}; columns are {', '.join(found)}; {remedy}")
    if not 0.0 < rate < np.inf:
        raise InputError(f"{source}: rate = {rate:g} Hz: it must be above zero, such as 100")
    return np.arange(len(next(iter(found.values()))), dtype=np.float64) / rate
