"""Columns of a file of any format, before their units are converted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from biped.errors import InputError
from biped.records.record import Record, refusal
from biped.records.units import is_unit, unit_of
from contact.arrays import Floats

#: A unit behind a heading: in brackets it has to be one, in parentheses it may be a part of the name.
_BRACKETS = re.compile(r"(?P<name>.*?)\s*\[(?P<unit>[^\[\]]*)\]")
_PARENTHESES = re.compile(r"(?P<name>.*?)\s*\((?P<unit>[^()]*)\)")
#: A unit at the end of a name, such as ``com_ap_mm``; one letter alone is rather a part of the name.
_AT_THE_END = re.compile(r".*_(?P<unit>mm|cm|ms|deg|rad|kN|Nm|Nmm|mV|uV|kg|Hz|sec)")
#: Name of the column of times, unless another one is given.
TIME = "time"
_ALSO_TIME = re.compile(r"(time|t|timestamp|sec|secs|seconds)([_ .](?P<unit>s|sec|ms|us|min))?", re.IGNORECASE)
#: Number of names that a sentence lists.
_MOST = 4


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


def listed(names: Sequence[str]) -> str:
    """Return the first names as a text, and how many more there are."""
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return ", ".join(names[:_MOST]) + more


def _numbered(names: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Return names that differ, ``x#1`` and ``x#2`` of two columns ``x``, and why ``x`` itself is blocked."""
    count, seen = Counter(names), Counter[str]()
    different, blocked = [], {}
    for name in names:
        seen[name] += 1
        different.append(name if count[name] == 1 else f"{name}#{seen[name]}")
        if count[name] > 1:
            many = "two" if count[name] == 2 else str(count[name])
            which = ", ".join(f"{name}#{k + 1}" for k in range(count[name]))
            blocked[name] = f"{many} columns are called {name!r}: ask for one of {which}, in the file's order"
    return different, blocked


def _time_among(names: Sequence[str], headings: Sequence[str], wanted: str) -> int | None:
    """Return the place of the column of times; None if there is none."""
    also = (k for k, name in enumerate(names) if wanted == TIME and _ALSO_TIME.fullmatch(name))
    return next((k for k, pair in enumerate(zip(names, headings, strict=True)) if wanted in pair), next(also, None))


def _grouped(reasons: Iterable[tuple[str, str]], form: str) -> list[str]:
    """Return a sentence for each reason, with the names that have it."""
    names: dict[str, list[str]] = {}
    for name, why in reasons:
        names.setdefault(why, []).append(name)
    return [form.format(names=listed(there), why=why) for why, there in names.items()]


def to_record(
    raw: Raw, source: str, time: str = TIME, rate: float | None = None, units: Mapping[str, str] | None = None
) -> Record:
    """Return the record of what a file holds, in SI units; angles stay in radians or degrees.

    A column in a unit that is not known, or with other rows than the times, is blocked.

    Args:
        raw: columns of the file.
        source: its name, for messages.
        time: the column of times.
        rate: [Hz], of a file without one.
        units: by column, where the file does not say it, or says it wrongly.

    Raises:
        InputError: no time, a time and a rate, a column of ``units`` that is not there, or a unit that is none.
    """
    headings = [heading for heading, _, _ in raw.columns]
    split = [split_heading(heading) for heading in headings]
    names, twice = _numbered([name for name, _ in split])
    at, notes = _time_among(names, headings, time), list(raw.notes)
    blocked = twice | {split_heading(heading)[0]: why for heading, why in raw.blocked.items()}
    for name in units or {}:
        if name not in names:
            remedy = twice.get(name, f"columns are {', '.join(names)}")
            raise InputError(f"{source}: no column {name!r}, of which a unit is given; {remedy}")
    rows = _rows([len(values) for _, values, _ in raw.columns], at, names, source)
    found: dict[str, Floats] = {}
    converted: dict[str, str] = {}
    factors: dict[str, str] = {}
    for k, (_, values, own) in enumerate(raw.columns):
        name, written = names[k], (units or {}).get(names[k]) or split[k][1] or own
        if not written and (said := _by_name(name, k == at)):
            written = said
            notes.append(f"{name}: nothing but its name says its unit: it is taken to be in {written}")
        try:
            unit = unit_of("s" if k == at and not written else written)
        except InputError as error:
            if name in (units or {}) or k == at:
                raise refusal(source, name, str(error)) from None
            blocked[name] = f"{error}; or say it by units"
            continue
        if k == at and unit.name != "s":
            raise refusal(source, name, f"time is in {written}: it must be in s, ms or min")
        if len(values) != rows:
            blocked[name] = f"it has {len(values)} rows, and there are {rows} times"
            continue
        found[name], converted[name] = np.asarray(values, dtype=float) * unit.factor, unit.name
        if not written:
            factors[name] = "no unit is said, and the one that is asked for is assumed"
        elif unit.factor != 1.0:
            factors[name] = f"converted from {written} to {unit.name}"
    times = found.pop(names[at]) if at is not None else None
    if blocked and (rows < 2 or not found):
        raise refusal(source, *next(iter(blocked.items())))
    if rows < 2:
        raise InputError(f"{source}: a record needs two rows or more")
    if times is None:
        if rate is None and time in blocked:
            raise refusal(source, time, blocked[time])
        times = _even_times(rows, [*found, *blocked], source, time, rate, raw.rate, notes)
    else:
        _check_times(times, source, time, rate)
        if names[at or 0].lower() not in (time, TIME):
            notes.append(f"{headings[at or 0]!r} is taken for the time")
        if factors.pop(names[at or 0], "").startswith("no unit") and np.median(np.diff(times)) >= 1.0:
            remedy = f'if they are milliseconds, units = {{ {names[at or 0]} = "ms" }}'
            notes.append(f"no unit of times is said, and seconds are assumed: {remedy}")
    notes += _grouped(factors.items(), "{names}: {why}")
    notes += _grouped(blocked.items(), "not read: {names}: {why}")
    return Record(times, found, {name: converted[name] for name in found}, source, tuple(notes), blocked)


def _by_name(name: str, is_time: bool) -> str:
    """Return the unit at the end of a column's name; nothing if there is none."""
    found = (_ALSO_TIME.fullmatch(name) if is_time else None) or _AT_THE_END.fullmatch(name)
    return (found["unit"] or "") if found else ""


def _rows(lengths: Sequence[int], at: int | None, names: Sequence[str], source: str) -> int:
    """Return the number of rows: of the times if another column has as many, or else of all columns."""
    if at is not None and (lengths.count(lengths[at]) > 1 or len(lengths) == 1):
        return lengths[at]
    if len(set(lengths)) > 1:
        told = ", ".join(f"{name} {length}" for name, length in zip(names, lengths, strict=True))
        raise InputError(f"{source}: rows of several lengths: {told}: save what was sampled together alone")
    return lengths[0] if lengths else 0


def _check_times(times: Floats, source: str, time: str, rate: float | None) -> None:
    if rate is not None:
        raise InputError(f"{source} has a column {time!r}: leave rate out, or name another column of times")
    if not np.isfinite(times).all():
        row = int(np.argmax(~np.isfinite(times))) + 1
        raise InputError(f"{source}: time is missing in row {row} of the numbers: fill it in, or delete the row")


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
