"""Signals as groups of parameters have them: sines, ternary sequences, and records; the same of floors and forces."""

import math
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np

from biped.errors import InputError
from biped.inputs.checks import above_zero
from biped.records import Preparation, Record
from biped.records.read import Reading
from biped.signals import STAGES, Signal
from experiments.catalogue.parameters.parameter import Value

#: In the place of a file where there is none.
NO_FILE = "none"

#: What is periodic: default, unit and meaning.
PERIODIC: dict[str, tuple[Value | None, str, str]] = {
    "frequency": (0.5, "Hz", "frequency of the sine"),
    "frequencies": ("0.1 0.3 0.7 1.1", "Hz", "of the sum of sines, with spaces between"),
    "stages": (3, "", "ternary: n of the 3ⁿ − 1 intervals of a cycle"),
}
SEEDED = "ternary: of its start; sum of sines: of its phases (0: all zero)"
WHOLE = "ternary: whole cycles"

#: What is done with a record before it acts: the fields of ``biped.records.Preparation``.
_PREPARED: dict[str, tuple[Value | None, str, str]] = {
    "gaps": (0.0, "s", "recorded: gaps up to this length are bridged by straight lines"),
    "filter": (0.0, "Hz", "recorded: low-pass, of fourth order, without delay; 0: none"),
    "resample": (0.0, "Hz", "recorded: the rate; 0: as it is"),
    "baseline": (0.0, "s", "recorded: the mean of so long from its begin on is taken off"),
    "scale": (1.0, "", "recorded: it is multiplied by this; -1 turns its axis round"),
    "offset": (0.0, "{unit}", "recorded: is then added"),
    "begin": (0.0, "s", "recorded: the record's time that comes at {group}.start; what is before is cut off"),
    "end": (math.inf, "s", "recorded: the record's time at which it ends"),
}

_READING: dict[str, tuple[Any, str, str]] = {
    field.name: (field.default, field.metadata.get("unit", ""), field.metadata["title"]) for field in fields(Reading)
}


def of_file(group: str, unit: str) -> dict[str, tuple[Value | None, str, str]]:
    """Default, unit and meaning of what a record does."""
    prepared = {
        name: (value, of.format(unit=unit), meaning.format(group=group))
        for name, (value, of, meaning) in _PREPARED.items()
    }
    file = (NO_FILE, "", f"recorded: CSV with a column time [s], C3D, OpenSim or MATLAB; its {unit} by its own units")
    return {"file": file, "column": ("value", "", "recorded: its column"), **_READING, **prepared}


def sine(group: dict[str, Any]) -> Signal:
    """A sine that fades in and out."""
    return Signal.sine(group["size"], group["frequency"], group["start"], group["duration"], group["rise"])


def sum_of_sines(name: str, group: dict[str, Any]) -> Signal:
    """Sines of one size, with random phases where there is a seed."""
    frequencies = _frequencies(name, group["frequencies"])
    phases = [0.0] * len(frequencies)
    if group["seed"]:
        phases = np.random.default_rng(group["seed"]).uniform(0.0, 2.0 * math.pi, len(frequencies)).tolist()
    sizes = [group["size"]] * len(frequencies)
    when = {"start": group["start"], "duration": group["duration"], "fade": group["rise"]}
    return Signal.sum_of_sines(sizes, frequencies, phases, **when)


def _frequencies(name: str, text: str) -> list[float]:
    try:
        found = [float(part) for part in text.replace(",", " ").split()]
    except ValueError:
        found = []
    if not found:
        raise InputError(f"{name}.frequencies = {text!r}: it must be numbers with spaces between them [Hz]")
    return found


def ternary(name: str, make: Callable[..., Signal], group: dict[str, Any]) -> Signal:
    """Whole cycles of a pseudo-random ternary sequence, or of its integral, as ``make`` does it."""
    if group["stages"] not in STAGES:
        raise InputError(f"{name}.stages = {group['stages']}: it must be one of {', '.join(map(str, STAGES))}")
    above_zero(group["interval"], f"{name}.interval")
    cycle = (3 ** group["stages"] - 1) * group["interval"]
    cycles = max(1, round(group["duration"] / cycle))
    return make(group["size"], group["interval"], group["stages"], group["start"], cycles, group["seed"])


def from_record(name: str, group: dict[str, Any], make: Callable[[Preparation, Record], Signal]) -> Signal:
    """A recorded signal of a group of parameters, which begins at the group's start."""
    try:
        prepared = Preparation(**{field: group[field] for field in _PREPARED})
        record = Reading(**{field: group[field] for field in _READING}).read(group["file"], group["column"])
        return make(prepared, record).shifted(group["start"])
    except InputError as error:
        said = str(error).removeprefix(str(group["file"])).lstrip(":, ")
        raise InputError(f"{name}.file = {group['file']}: {said}") from None
    except OSError as error:
        raise InputError(f"{name}.file = {group['file']}: it cannot be read ({error.strerror})") from None
