"""Time spans of a run's disturbances, and the periodic motion of its floor, for metrics."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from biped.disturbances import Disturbance, described
from biped.disturbances.disturbance import kind_named
from biped.metrics.context import Channel, Span, Stimulus

#: A disturbance, or its record in a saved run (``biped.disturbances.described``).
Described = Disturbance | Mapping[str, Any]

#: Axes of a floor's motion that cause sway.
_STIMULI: dict[str, Channel] = {"x": "x", "y": "y", "roll": "tilt_x", "pitch": "tilt_y"}


def start_time_of(disturbances: Sequence[Described]) -> float | None:
    """Return the start [s] of the first push, force or motion of the floor; None if there is no such disturbance."""
    starts = [span.begins for span in spans_of(disturbances)]
    return max(min(starts), 0.0) if starts else None


def spans_of(disturbances: Sequence[Described]) -> tuple[Span, ...]:
    """Return the time spans of pushes, forces and motions of the floor; loads, sensor noise etc. have no end.

    A floor that has stopped no longer acts.
    """
    return tuple(span for record in _records(disturbances) for span in _spans(record))


def _spans(record: Mapping[str, Any]) -> Iterator[Span]:
    what = kind_named(record["kind"]).acts_as
    if "start" in record:
        yield Span(what, record["start"], record["start"] + record.get("duration", 0.0))
    for signal in record.values():
        if isinstance(signal, Mapping) and "begins" in signal:
            slowest = min(signal["frequencies"], default=math.inf)
            yield Span(what, signal["begins"], signal["ends"], 1.0 / slowest)


def stimulus_of(disturbances: Sequence[Described]) -> Stimulus | None:
    """Return the first periodic motion of the floor, without its fade-in and fade-out; None if there is none."""
    floors = (record for record in _records(disturbances) if record["kind"] == "platform")
    for motion, channel in ((floor[axis], channel) for floor in floors for axis, channel in _STIMULI.items()):
        if motion and motion["frequencies"] and motion["ends"] - motion["begins"] > 2.0 * motion["fade"]:
            fade = motion["fade"]
            return Stimulus(channel, tuple(motion["frequencies"]), motion["begins"] + fade, motion["ends"] - fade)
    return None


def _records(disturbances: Sequence[Described]) -> Iterator[Mapping[str, Any]]:
    return (item if isinstance(item, Mapping) else described(item) for item in disturbances)
