"""Context of a run that metrics need in addition to its rows."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from biped.control.controller import SetPoint
from biped.errors import InputError
from biped.runs.summary import Ending, Stepping

Channel = Literal["tilt_x", "tilt_y", "x", "y"]

#: [m] Displacement of a contact point that counts as a step or a slide. A sole is 10 cm wide; sticking soles creep by
#: micrometres, and rocking soles come down where they were.
STEPPED = 0.05


@dataclass(frozen=True)
class Stimulus:
    """A periodic motion of the floor.

    Attributes:
        channel: degree of freedom of the floor: tilt about x or y [rad], or position along x or y [m].
        frequencies: [Hz] frequencies of the motion; all are multiples of the lowest one.
        begin: [s] start of the periodic part, for example after a fade-in; None: ``MeasurementContext.start_time``.
        end: [s] end of the periodic part; None: the end of the run.

    Raises:
        InputError: the channel is unknown, frequencies are missing or not positive, or ``end`` is not after ``begin``.
    """

    channel: Channel
    frequencies: tuple[float, ...]
    begin: float | None = None
    end: float | None = None

    def __post_init__(self) -> None:
        if self.channel not in get_args(Channel):
            raise InputError(f"stimulus.channel = {self.channel!r}: it must be one of {', '.join(get_args(Channel))}")
        if not self.frequencies or not all(math.isfinite(f) and f > 0.0 for f in self.frequencies):
            raise InputError(f"stimulus.frequencies = {self.frequencies!r}: they must be numbers above zero [Hz]")
        if self.begin is not None and self.end is not None and not self.begin < self.end:
            raise InputError(f"stimulus.end = {self.end!r}: it must be after stimulus.begin = {self.begin!r}")


@dataclass(frozen=True)
class Span:
    """Time span in which a disturbance acts."""

    what: str  #: description: "a push"
    begins: float  #: [s]
    ends: float  #: [s]
    period: float = 0.0  #: [s] longest period of a periodic disturbance; 0 if it is not periodic


@dataclass(frozen=True)
class MeasurementContext:
    """Data that metrics need in addition to the rows of a run: ending, disturbances, times and thresholds.

    Attributes:
        ending: how and when the simulation ended.
        disturbance_spans: time spans of the disturbances that may last until the end.
        start_time: [s] time from which balance, forces and torques are measured, for example the start of a push; None:
            the start of the run. Their metrics are None if the run ended before this time.
        set_point: target pose of the root, or None.
        singular_angles: [rad] by joint, the angle at which the controller's torques grow without bounds.
        unheeded_limits: [N·m] by joint, actuator limits that bound only the controller's torque, not the impedance's.
        saturation: [s] by joint, the time for which its actuator is at its limit; None: unknown.
        foot_slip: [m] longest path over which a contact point slid or yielded.
        stimulus: periodic motion of the floor, or None.
        pendulum_length: [m] length of the equivalent inverted pendulum (``l`` of Hof et al. 2005); None: height of the
            centre of mass above the lowest contact point in the home configuration.
        step_threshold: [m] displacement above which a contact point counts as moved.
        steps: number of time steps. ``newton_mean``: mean number of Newton iterations per step; ``newton_max``: largest
            number in one solve; ``retried_steps``: number of time steps that were repeated as smaller ones.
        stepping: integrator or engine of the run, with its properties.

    Raises:
        InputError: a length or a threshold is not above zero, or a time is not finite.
    """

    ending: Ending = field(default_factory=Ending)
    disturbance_spans: tuple[Span, ...] = ()
    start_time: float | None = None
    set_point: SetPoint | None = None
    singular_angles: Mapping[str, float] = field(default_factory=dict)
    unheeded_limits: Mapping[str, float] = field(default_factory=dict)
    saturation: Mapping[str, float] | None = None
    foot_slip: float | None = None
    stimulus: Stimulus | None = None
    pendulum_length: float | None = None
    step_threshold: float = STEPPED
    steps: int | None = None
    newton_mean: float | None = None
    newton_max: int | None = None
    retried_steps: int | None = None
    stepping: Stepping = field(default_factory=Stepping)

    @property
    def fell_at(self) -> float | None:
        """Time [s] at which a limit of ``biped.Fall`` was reached, or None."""
        return self.ending.fell_at

    def __post_init__(self) -> None:
        for name in ("pendulum_length", "step_threshold"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value > 0.0):
                raise InputError(f"{name} = {value!r}: it must be a finite number of metres above zero")
        for name in ("start_time", "fell_at"):
            value = getattr(self, name)
            if value is not None and not math.isfinite(value):
                raise InputError(f"{name} = {value!r}: it must be a finite number of seconds")
