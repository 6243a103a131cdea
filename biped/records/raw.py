"""Columns of a file of any format, before their units are converted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from biped.errors import InputError
from biped.records.record import Record, refusal
from biped.records.units import is_unit, unit_of
from contact.arrays import Floats
from contact.errors import listed

#: A unit behind a heading: in brackets it has to be one, in parentheses it may be a part of the name.
_BRACKETS = re.compile(r"(?P<name>.*?)\s*\[(?P<unit>[^\[\]]*)\]")
_PARENTHESES = re.compile(r"(?P<name>.*?)\s*\((?P<unit>[^()]*)\)")
#: Name of the column of times, unless another one is given.
TIME = "time"
_ALSO_TIME = re.compile(r"(time|t|timestamp|sec|secs|seconds)([_ .](?P<unit>s|sec|ms|us|min))?", re.IGNORECASE)
_UNIT_OF_TIME = re.compile(r"(?i).+[_ .](?P<unit>s|sec|ms|us|min)")
#: Number of names that a note lists.
MOST = 4
_UNITLESS = "no unit is given: values count as in the unit that is asked for"


@dataclass
class Raw:
    """Columns as a file has them.

    Attributes:
        columns: heading, of which a unit may be the end; values (n,); and the unit where the file says it elsewhere.
        rate: [Hz] if the file says it; for files without a column of times.
        notes: what was guessed or skipped, a sentence each.
        blocked: columns that cannot be read, by name, and the reason.
    """

    columns: Sequence[tuple[str, Floats, str]]
    rate: float | None = None
    notes: Sequence[str] = ()
    blocked: Mapping[str, str] = field(default_factory=dict)


def split_heading(heading: str) -> tuple[str, str | None]:
    """Return name and unit of ``com_ap [mm]`` or ``com_ap (mm)``; the unit is None where there is none."""
    heading = heading.strip()
    if found := _BRACKETS.fullmatch(heading):
        return found["name"], found["unit"]
    if (found := _PARENTHESES.fullmatch(heading)) and is_unit(found["unit"]):
        return found["name"], found["unit"]
    return heading, None


def _numbered(names: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Return names that differ, ``x#1`` and ``x#2`` of two columns ``x``, and why ``x`` itself is blocked."""
    count = Counter(names)
    different = [name if count[name] == 1 else f"{name}#{names[: k + 1].count(name)}" for k, name in enumerate(names)]
    why = "{} columns are called {!r}: ask for {}#1, {}#2, … in the file's order"
    several = {name: "two" if many == 2 else many for name, many in count.items() if many > 1}
    return different, {name: why.format(many, *[name] * 3) for name, many in several.items()}


def to_record(
    raw: Raw, source: str, time: str = TIME, rate: float | None = None, units: Mapping[str, str] | None = None
) -> Record:
    """Return the record of what a file holds, in SI units; angles stay in radians or degrees.

    A column in a unit that is not known is blocked, and so is a name that several columns have.

    Args:
        raw: columns of the file.
        source: its name, for messages.
        time: the column of times.
        rate: [Hz], of a file without one.
        units: by column, where the file does not say it, or says it wrongly.

    Raises:
        InputError: no time, a time and a rate, a column of ``units`` that is not there, or a unit that is none.
    """
    units, notes = units or {}, list(raw.notes)
    split = [split_heading(heading) for heading, _, _ in raw.columns]
    names, twice = _numbered([name for name, _ in split])
    if twice:
        notes.append(f"names of several columns, NAME#1, NAME#2, … here: {listed(twice, MOST)}")
    blocked = {split_heading(heading)[0]: why for heading, why in raw.blocked.items()}
    also = (name for name in names if time == TIME and raw.rate is None and _ALSO_TIME.fullmatch(name))
    of_time = next((n for n, (h, _, _) in zip(names, raw.columns, strict=True) if time in (n, h)), next(also, None))
    if wrong := [name for name in units if name not in names]:
        remedy = twice.get(wrong[0], f"columns are {', '.join(names)}")
        raise InputError(f"{source}: no column {wrong[0]!r}, of which a unit is given; {remedy}")
    found: dict[str, Floats] = {}
    converted: dict[str, str] = {}
    told: dict[str, list[str]] = {}
    is_assumed = False
    for name, (_, in_heading), (_, values, elsewhere) in zip(names, split, raw.columns, strict=True):
        written = units.get(name) or in_heading or elsewhere
        if name == of_time and not written:
            said = _ALSO_TIME.fullmatch(name) or _UNIT_OF_TIME.fullmatch(name)
            written = (said["unit"] if said else None) or "s"
            is_assumed = written == "s"
        try:
            unit = unit_of(written)
        except InputError as error:
            if name in units or name == of_time:
                raise refusal(source, name, str(error)) from None
            blocked[name] = f"{error}; or say it by units"
            continue
        if name == of_time and unit.name != "s":
            raise refusal(source, name, f"time is in {written}: it must be in s, ms or min")
        found[name], converted[name] = np.asarray(values, dtype=float) * unit.factor, unit.name
        if unit.factor != 1.0 or not written:
            what = f"converted from {written} to {unit.name}" if written else _UNITLESS
            told.setdefault(what, []).append(name)
    times = found.pop(of_time) if of_time else None
    rows = len(next(iter([*found.values(), [] if times is None else times])))
    if (twice or blocked) and (rows < 2 or not found):
        raise refusal(source, *next(iter((twice | blocked).items())))
    if rows < 2:
        raise InputError(f"{source}: a record needs two rows or more")
    for name, why in blocked.items():
        told.setdefault(f"not read, {why}", []).append(name)
    blocked |= twice
    if times is None and rate is None and time in blocked:
        raise refusal(source, time, f"{blocked[time]}; or say the rate")
    if times is None:
        times = _even_times(rows, [*found, *blocked], source, time, rate, raw.rate, notes)
    else:
        if rate is not None:
            raise InputError(f"{source} has a column {time!r}: leave rate out, or name another column of times")
        if not np.isfinite(times).all():
            row = int(np.argmax(~np.isfinite(times))) + 1
            raise InputError(f"{source}: time is missing in row {row} of the numbers: fill it in, or delete the row")
        if of_time not in (time, TIME.title()):
            notes.append(f"{of_time} is taken for the time")
        if is_assumed and np.median(np.diff(times)) >= 1.0:
            notes.append(f"{of_time}: seconds are assumed: if they are milliseconds, say units {of_time} = ms")
    notes += [f"{listed(columns, MOST)}: {what}" for what, columns in told.items()]
    return Record(times, found, {name: converted[name] for name in found}, source, tuple(notes), blocked)


def _even_times(
    rows: int, names: Sequence[str], source: str, time: str, rate: float | None, own: float | None, notes: list[str]
) -> Floats:
    """Return times from zero on at a rate [Hz]: the given one, or else the file's own."""
    if own is not None and rate not in (None, own):
        notes.append(f"the given rate of {rate:g} Hz is used, and not that of the file, {own:g} Hz")
    rate = own if rate is None else rate
    if rate is None or time != TIME:
        remedy = "name the column of times by time, or say by rate [Hz] instead how often it was sampled"
        raise InputError(f"{source}: no column {time!r}; columns are {', '.join(names)}; {remedy}")
    if not 0.0 < rate < np.inf:
        raise InputError(f"{source}: rate = {rate:g} Hz: it must be above zero, such as 100")
    return np.arange(rows, dtype=np.float64) / rate
