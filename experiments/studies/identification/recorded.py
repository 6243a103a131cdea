"""Reader of the table ``[record]`` of an identification: measured trials, and the spectra of their cycles."""

from __future__ import annotations

import glob
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from biped.errors import InputError
from biped.identification import Spectra
from biped.identification.spectra import cycle_spectra
from biped.identification.windows import MOST_OVERLAP, windowed_spectra
from biped.records import Preparation, Record
from biped.records.record import rounded_by
from contact.arrays import Floats
from experiments.studies.config import Config
from experiments.studies.fitting.measured import read_file, reading_from
from experiments.studies.identification.cycles import STIMULUS

#: Name of the stimulus in closed-form models, by the stimulus's unit.
MOVES = {"rad": "tilt", "m": "translation", "N·m": "torque", "N": "push_trunk"}
#: ``frequencies`` of a stimulus that has all multiples of 1 / period, or odd multiples only, such as pseudorandom
#: ternary sequences whose second half is the negative of the first one.
ALL, ODD = "all", "odd"
#: Fields of ``biped.records.Preparation`` for stimulus and responses; filtering both does not change their ratio.
PREPARED = ("gaps", "filter", "resample")
#: Largest deviation of a cycle's length from a whole number of samples, in samples. Sines of other frequencies leak
#: into a coefficient by about this, divided by the number of samples in a cycle.
_TOLERANCE = 0.01


@dataclass(frozen=True)
class Recorded:
    """Records of trials, and their spectra.

    Attributes:
        files: absolute paths of the records.
        spectra: spectra of each record, in SI units, angles in radians.
        stimuli: names of simultaneous stimuli; all but the first are among the spectra's responses.
    """

    files: tuple[str, ...]
    spectra: tuple[Spectra, ...]
    stimuli: tuple[str, ...] = (STIMULUS,)

    def moves(self) -> str:
        """Return the name of the stimulus in closed-form models; raises InputError if no model fits the records."""
        units = self.spectra[0].units
        if len(self.stimuli) > 1:
            raise InputError("[model] needs a single stimulus, but several are named: name one, or leave [model] out")
        if units[STIMULUS] not in MOVES:
            allowed = ", ".join(f"{unit} ({what})" for unit, what in MOVES.items())
            raise InputError(f"the stimulus is in {units[STIMULUS]}, but models need {allowed}; else leave [model] out")
        for name, unit in units.items():
            if name != STIMULUS and unit != "rad":
                raise InputError(f"{name} is in {unit}, but [model] needs angles of sway: name a column in rad or deg")
        return MOVES[units[STIMULUS]]


@dataclass(frozen=True)
class _Cut:
    """Settings for cutting a record into cycles or windows."""

    columns: Mapping[str, str]  # columns by name of stimulus or response; a minus before a column reverses its sign
    period: float  # [s] length of a cycle or window
    frequencies: tuple[float, ...]  # [Hz] frequencies of the stimulus; for windows, the highest frequency
    begin: float | None  # [s] start in the record's time; None for the record's start
    skip: int  # number of first cycles that are dropped
    count: int | None  # number of cycles; None for all
    prepare: Preparation  # preparation of each column
    overlap: float | None = None  # overlap of windows; None for cycles

    def spectra(self, record: Record) -> Spectra:
        try:
            return self._spectra(record) if self.overlap is None else self._of_windows(record, self.overlap)
        except InputError as error:
            text = str(error).replace("begin and end", "begin and cycles")  # cycles determine the end here
            raise InputError(text if text.startswith(record.source) else f"{record.source}: {text}") from None

    def _of_windows(self, record: Record, overlap: float) -> Spectra:
        begin = float(record.time[0]) if self.begin is None else self.begin
        time, columns, units = self._prepared(record, begin, float(record.time[-1]) + 0.5 / record.rate)
        responses = dict(zip(list(self.columns)[1:], columns[1:], strict=True))
        highest = max(self.frequencies)
        return windowed_spectra(time, columns[0], responses, self.period, overlap=overlap, highest=highest, units=units)

    def _spectra(self, record: Record) -> Spectra:
        start = float(record.time[0]) if self.begin is None else self.begin
        first = start + self.skip * self.period
        # A sample stands for the time up to the next one, and may be off by half of that.
        last = record.time[-1] + 1.5 / record.rate
        count = math.floor((last - first) / self.period) if self.count is None else self.count
        end = first + max(count, 1) * self.period
        time, columns, units = self._prepared(record, first, end)
        rows = time < end - 0.5 * float(np.median(np.diff(time)))
        stimulus, *answers = (column[rows] for column in columns)
        responses = dict(zip(list(self.columns)[1:], answers, strict=True))
        spectra = cycle_spectra(
            time[rows], stimulus, responses, self.period, self.frequencies, begin=start, skip=self.skip, units=units
        )
        cycles = len(spectra.trial)
        if self.count is not None and cycles < self.count:
            raise InputError(
                f"cycles = {self.count}, but the record has {cycles} whole cycles of {self.period:g} s after "
                f"skipping {self.skip}: set fewer cycles, or leave cycles out to use all"
            )
        counts = rows & (time >= first) & (time < first + cycles * self.period)
        _check_whole(time[counts], self.period, record.rate)
        return spectra

    def _prepared(self, record: Record, start: float, end: float) -> tuple[Floats, list[Floats], dict[str, str]]:
        """Return times, columns and units without gaps, from the last sample at or before ``start`` [s]."""
        converted = {name: _in_radians(record, column) for name, column in self.columns.items()}
        units = {name: unit for name, (_, unit) in converted.items()}
        if start > record.time[-1]:  # no cycle is complete, which is reported later
            return record.time, [column for column, _ in converted.values()], units
        begin = max(start, float(record.time[0]))
        if not self.prepare.resample:  # samples are used as they are
            begin = float(record.time[max(0, int(np.searchsorted(record.time, start, side="right")) - 1)])
        prepare = replace(self.prepare, begin=begin, end=end)
        named = {self.columns[name]: column for name, (column, _) in converted.items()}
        raw = _with_all_rows(Record(record.time, named, dict.fromkeys(named, ""), record.source))
        done = [prepare(raw, column) for column in self.columns.values()]
        times = done[0][0]
        for column, (of_column, _) in zip(self.columns.values(), done, strict=True):
            if not np.array_equal(of_column, times):
                raise InputError(
                    f"columns {column} and {self.columns[STIMULUS]} do not begin and end at the same times, because "
                    "one has a gap: set begin [s] after the gap, or gaps [s] to at least its length"
                )
        return begin + times, [values for _, values in done], units


def recorded_from(record: Config, identify: Config) -> Recorded:
    """Return the measured trials of the tables ``[record]`` and ``[identify]``; InputErrors name line and file."""
    files = tuple(map(str, paths_of(record)))
    options = reading_from(record)
    prepare = record.within(lambda: Preparation(**{name: record.get(name, float, 0.0) for name in PREPARED}))
    stimuli = _stimuli(identify)
    cut = _cut_from(record, identify, prepare, stimuli)

    def read(file: str) -> Spectra:
        return cut.spectra(read_file(file, **options))

    spectra = tuple(record.within(partial(read, file), "files") for file in files)
    for file, of_file in zip(files, spectra, strict=True):
        for name, unit in of_file.units.items():
            if unit != (first := spectra[0].units[name]):
                raise record.error(f"{name} is in {unit} in {file}, but in {first} in {files[0]}: correct one", "files")
    return Recorded(files, spectra, tuple(stimuli))


def paths_of(table: Config) -> tuple[Path, ...]:
    """Return the absolute paths of a table's ``files`` (a path, a pattern, or a list of these), each once, in order."""
    patterns = table.get("files", str | tuple[str, ...])
    paths: dict[Path, None] = {}
    for pattern in (patterns,) if isinstance(patterns, str) else patterns:
        names = [pattern] if Path(pattern).exists() else sorted(glob.glob(pattern, recursive=True))
        if not names:
            raise table.error(f"{table.name('files')}: there is no file {pattern!r} below {Path.cwd()}", "files")
        paths |= dict.fromkeys(Path(name).resolve() for name in names)
    return tuple(paths)


def _stimuli(identify: Config) -> dict[str, str]:
    """Return the columns of the stimuli by name; a single stimulus is called ``STIMULUS``."""
    if not isinstance(identify.data.get("stimulus"), Mapping):
        return {STIMULUS: identify.word("stimulus")}
    table = identify.table("stimulus")
    return {name: table.word(name) for name in table.data}


def _cut_from(record: Config, identify: Config, prepare: Preparation, stimuli: Mapping[str, str]) -> _Cut:
    key, is_periodic = ("window", False) if "window" in identify else ("period", True)
    if "period" in identify and not is_periodic:
        raise identify.error("period is for a periodic stimulus, window for any other: leave one of them out", key)
    period, highest = identify.get(key, float), identify.get("highest", float, 3.0)
    if not period > 0.0:
        raise identify.wrong(key, "seconds above zero")
    responses = identify.table("responses")
    named = {name: responses.word(name) for name in responses.data}
    if taken := named.keys() & {STIMULUS, *stimuli}:
        raise responses.error(f"a response cannot be called {min(taken)}, like a stimulus: rename it", min(taken))
    columns = {STIMULUS: next(iter(stimuli.values()))} | dict(list(stimuli.items())[1:]) | named
    begin = record.get("begin", float, None)
    if not is_periodic:
        return _Cut(columns, period, (highest,), begin, 0, None, prepare, identify.get("overlap", float, MOST_OVERLAP))
    count, skip = identify.integer("cycles", 0, least=1) or None, identify.integer("skip", 1)
    frequencies = _frequencies(identify, period, highest)
    if prepare.filter and prepare.filter < max(frequencies):
        remedy = f"set filter above, or [identify] highest = {prepare.filter:g}"
        raise record.error(
            f"filter = {prepare.filter:g} Hz: the stimulus has up to {max(frequencies):g} Hz: {remedy}", "filter"
        )
    return _Cut(columns, period, frequencies, begin, skip, count, prepare)


def _frequencies(identify: Config, period: float, highest: float) -> tuple[float, ...]:
    """Return the frequencies [Hz] of the stimulus, up to ``highest``."""
    given = identify.get("frequencies", str | tuple[float, ...])
    if isinstance(given, str):
        given = identify.word("frequencies", choices=(ALL, ODD))
        numbers: Sequence[float] = range(1, int(highest * period + 1e-9) + 1, 2 if given == ODD else 1)
        frequencies = tuple(number / period for number in numbers)
    else:
        frequencies = tuple(frequency for frequency in given if frequency <= highest)
    if not frequencies:
        raise identify.error(f"highest = {highest:g} Hz: all frequencies of the stimulus are higher", "highest")
    return frequencies


def _in_radians(record: Record, column: str) -> tuple[Floats, str]:
    """Return a column (n,), angles in radians, and its unit; a minus before its name reverses its sign."""
    name = column.removeprefix("-")
    record[name]  # raises an error with the known names if it is missing
    unit = record.units[name]
    if not unit:
        remedy = f'write it in the header, as in {name} [deg], or in [record], units = {{ {name} = "deg" }}'
        raise InputError(f"{record.source}: the unit of the column {name} is unknown: {remedy}")
    in_radians = unit.replace("deg", "rad")
    return (-1.0 if column.startswith("-") else 1.0) * record.converted(name, in_radians), in_radians


def _with_all_rows(record: Record) -> Record:
    """Return the record with rows of NaN where rows are missing, so that they count as gaps."""
    steps = np.diff(record.time)
    missing = np.maximum(np.round(steps * record.rate).astype(int) - 1, 0)
    places = np.concatenate([[0], np.cumsum(1 + missing)])
    numbers = np.arange(places[-1] + 1)
    columns = {name: np.full(len(numbers), np.nan) for name in record.columns}
    for name, values in record.columns.items():
        columns[name][places] = values
    return replace(record, time=np.interp(numbers, places, record.time), columns=columns)


def _check_whole(time: Floats, period: float, recorded: float) -> None:
    """Raise InputError if a cycle is not a whole number of samples.

    The mean interval between samples is used, because times are rounded. ``recorded`` is the record's rate [Hz].
    """
    span = float(time[-1] - time[0])
    rate = (len(time) - 1) / span
    samples = rate * period
    if abs(samples - round(samples)) > _TOLERANCE + samples * rounded_by(time) / span:
        better = round(samples) / period
        slower = f" and filter = {better / 2.0:.6g} or less" if better < recorded else ""
        raise InputError(
            f"at {rate:.6g} Hz a cycle of {period:g} s has {samples:.6g} samples, but it must have a whole number: set "
            f"[record] resample = {better:.6g}{slower}, or correct the period"
        )
