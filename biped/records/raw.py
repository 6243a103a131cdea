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

#: A unit after a heading. Text in brackets must be a unit; text in parentheses may be part of the name.
_BRACKETS = re.compile(r"(?P<name>.*?)\s*\[(?P<unit>[^\[\]]*)\]")
_PARENTHESES = re.compile(r"(?P<name>.*?)\s*\((?P<unit>[^()]*)\)")
#: Default name of the column of times.
TIME = "time"
_ALSO_TIME = re.compile(r"(time|t|timestamp|sec|secs|seconds)([_ .](?P<unit>s|sec|ms|us|min))?", re.IGNORECASE)
_UNIT_OF_TIME = re.compile(r"(?i).+[_ .](?P<unit>s|sec|ms|us|min)")
#: Largest number of names that a note lists.
MOST = 4
_UNITLESS = "no unit is given: values are assumed to be in the requested unit"


@dataclass
class Raw:
    """Columns of a file, with its headings and units.

    Attributes:
        columns: for each column: heading, which may end in a unit; values (n,); unit if the file gives it elsewhere.
        rate: [Hz] sampling rate, if the file gives it; for files without a column of times.
        notes: sentences about what was guessed or skipped.
        blocked: reasons why columns cannot be read, by column.
    """

    columns: Sequence[tuple[str, Floats, str]]
    rate: float | None = None
    notes: Sequence[str] = ()
    blocked: Mapping[str, str] = field(default_factory=dict)


def split_heading(heading: str) -> tuple[str, str | None]:
    """Return name and unit from ``com_ap [mm]`` or ``com_ap (mm)``; the unit is None for a heading without a unit."""
    heading = heading.strip()
    if match := _BRACKETS.fullmatch(heading):
        return match["name"], match["unit"]
    if (match := _PARENTHESES.fullmatch(heading)) and is_unit(match["unit"]):
        return match["name"], match["unit"]
    return heading, None


def _numbered(names: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Return distinct names, ``x#1`` and ``x#2`` for two columns ``x``, and the reason why ``x`` itself is blocked."""
    count = Counter(names)
    different = [name if count[name] == 1 else f"{name}#{names[: k + 1].count(name)}" for k, name in enumerate(names)]
    why = "{} columns are named {!r}: use {}#1, {}#2, … in the file's order"
    several = {name: "two" if many == 2 else many for name, many in count.items() if many > 1}
    return different, {name: why.format(many, *[name] * 3) for name, many in several.items()}


def to_record(
    raw: Raw, source: str, time: str = TIME, rate: float | None = None, units: Mapping[str, str] | None = None
) -> Record:
    """Return the record of a file's columns in SI units; angles stay in radians or degrees.

    A column in an unknown unit, and a name that several columns have, raise an error when they are used.

    Args:
        raw: columns of the file.
        source: name of the file, for messages.
        time: name of the column of times.
        rate: [Hz] sampling rate of a file without times.
        units: units by column, which override or add to the units in the file.

    Raises:
        InputError: there is no time, or both a time and a rate; or ``units`` has a missing column or an unknown unit.
    """
    units, notes = units or {}, list(raw.notes)
    split = [split_heading(heading) for heading, _, _ in raw.columns]
    names, twice = _numbered([name for name, _ in split])
    if twice:
        notes.append(f"names of several columns, read as NAME#1, NAME#2, …: {listed(twice, MOST)}")
    blocked = {split_heading(heading)[0]: why for heading, why in raw.blocked.items()}
    also = (name for name in names if time == TIME and raw.rate is None and _ALSO_TIME.fullmatch(name))
    of_time = next((n for n, (h, _, _) in zip(names, raw.columns, strict=True) if time in (n, h)), next(also, None))
    if wrong := [name for name in units if name not in names]:
        remedy = twice.get(wrong[0], f"columns are {', '.join(names)}")
        raise InputError(f"{source}: a unit is given for {wrong[0]!r}, but there is no such column; {remedy}")
    numbers: dict[str, Floats] = {}
    converted: dict[str, str] = {}
    by_note: dict[str, list[str]] = {}
    is_assumed = False
    for name, (_, in_heading), (_, values, elsewhere) in zip(names, split, raw.columns, strict=True):
        written = units.get(name) or in_heading or elsewhere
        if name == of_time and not written:
            match = _ALSO_TIME.fullmatch(name) or _UNIT_OF_TIME.fullmatch(name)
            written = (match["unit"] if match else None) or "s"
            is_assumed = written == "s"
        try:
            unit = unit_of(written)
        except InputError as error:
            if name in units or name == of_time:
                raise refusal(source, name, str(error)) from None
            blocked[name] = f"{error}, or give a unit with 'units'"
            continue
        if name == of_time and unit.name != "s":
            raise refusal(source, name, f"time is in {written}: it must be in s, ms or min")
        numbers[name], converted[name] = np.asarray(values, dtype=float) * unit.factor, unit.name
        if unit.factor != 1.0 or not written:
            what = f"converted from {written} to {unit.name}" if written else _UNITLESS
            by_note.setdefault(what, []).append(name)
    times = numbers.pop(of_time) if of_time else None
    rows = len(next(iter([*numbers.values(), [] if times is None else times])))
    if (twice or blocked) and (rows < 2 or not numbers):
        raise refusal(source, *next(iter((twice | blocked).items())))
    if rows < 2:
        raise InputError(f"{source}: a record must have two rows or more")
    for name, why in blocked.items():
        by_note.setdefault(f"not read, {why}", []).append(name)
    blocked |= twice
    if times is None and rate is None and time in blocked:
        raise refusal(source, time, f"{blocked[time]}, or give the rate")
    if times is None:
        times = _even_times(rows, [*numbers, *blocked], source, time, rate, raw.rate, notes)
    else:
        if rate is not None:
            raise InputError(f"{source} has a column {time!r}: leave out 'rate', or name another column of times")
        if not np.isfinite(times).all():
            row = int(np.argmax(~np.isfinite(times))) + 1
            raise InputError(f"{source}: time is missing in row {row} of the data: fill it in, or delete the row")
        if of_time not in (time, TIME.title()):
            notes.append(f"{of_time} is used as the time")
        if is_assumed and np.median(np.diff(times)) >= 1.0:
            notes.append(f"{of_time}: seconds are assumed; for milliseconds, give units {of_time} = ms")
    notes += [f"{listed(columns, MOST)}: {what}" for what, columns in by_note.items()]
    return Record(times, numbers, {name: converted[name] for name in numbers}, source, tuple(notes), blocked)


def _even_times(
    rows: int, names: Sequence[str], source: str, time: str, rate: float | None, stated: float | None, notes: list[str]
) -> Floats:
    """Return times (rows,) [s] from zero on at ``rate`` [Hz] or, if this is None, at the file's rate."""
    if stated is not None and rate not in (None, stated):
        notes.append(f"the given rate of {rate:g} Hz is used instead of the file's {stated:g} Hz")
    rate = stated if rate is None else rate
    if rate is None or time != TIME:
        remedy = "name the column of times with 'time', or give the sampling rate [Hz] with 'rate'"
        raise InputError(f"{source}: no column {time!r}; columns are {', '.join(names)}; {remedy}")
    if not 0.0 < rate < np.inf:
        raise InputError(f"{source}: rate = {rate:g} Hz: it must be above zero, for example 100")
    return np.arange(rows, dtype=np.float64) / rate
