"""When the disturbances of a run act, and how the floor sways, as its metrics need it."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from biped.disturbances import Disturbance, described
from biped.disturbances.disturbance import kind_named
from biped.metrics.context import Channel, Span, Stimulus

#: A disturbance, or what a saved run says of it (``biped.disturbances.described``).
Described = Disturbance | Mapping[str, Any]

#: The axes of a floor's motion to which a sway answers.
_STIMULI: dict[str, Channel] = {"x": "x", "y": "y", "roll": "tilt_x", "pitch": "tilt_y"}


def start_time_of(disturbances: Sequence[Described]) -> float | None:
    """[s] when the first push, force or motion of the floor begins; None where there is none."""
    starts = [span.begins for span in spans_of(disturbances)]
    return max(min(starts), 0.0) if starts else None


def spans_of(disturbances: Sequence[Described]) -> tuple[Span, ...]:
    """When each push, force and motion of the floor acts; what has no end, such as a load or noise of sensors, is none.

    A floor that has been moved and has stopped does not act any more.
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
    """The first periodic motion of the floor, where its size is steady, or None."""
    floors = (record for record in _records(disturbances) if record["kind"] == "platform")
    for found, channel in ((floor[axis], channel) for floor in floors for axis, channel in _STIMULI.items()):
        if found and found["frequencies"] and found["ends"] - found["begins"] > 2.0 * found["fade"]:
            fade = found["fade"]
            return Stimulus(channel, tuple(found["frequencies"]), found["begins"] + fade, found["ends"] - fade)
    return None


def _records(disturbances: Sequence[Described]) -> Iterator[Mapping[str, Any]]:
    return (one if isinstance(one, Mapping) else described(one) for one in disturbances)
