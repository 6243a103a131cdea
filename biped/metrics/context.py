"""The context of a run beside its rows that its metrics need."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from biped.control.controller import SetPoint
from biped.errors import InputError
from biped.runs.summary import Ending, Stepping

Channel = Literal["tilt_x", "tilt_y", "x", "y"]

#: [m] A contact point that stands farther from where it first stood than this has been moved: a step, or a slide. A
#: sole is 10 cm wide; sticking soles creep by micrometres, rocking ones come down where they were.
STEPPED = 0.05


@dataclass(frozen=True)
class Stimulus:
    """A periodic motion of the floor.

    Attributes:
        channel: what of the floor moves: its tilt about x or y [rad], or its place along x or y [m].
        frequencies: [Hz] at which it moves; multiples of the lowest.
        begin: [s] from when it is periodic, such as after it has faded in; the context's ``start_time`` if None.
        end: [s] up to when; to the end of the run if None.

    Raises:
        InputError: for another channel, frequencies that are none or not above zero, or an end before the beginning.
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
    """When a disturbance acts."""

    what: str  #: in words: "a push"
    begins: float  #: [s]
    ends: float  #: [s]
    period: float = 0.0  #: [s] of its slowest part, where it is periodic; 0 of others


@dataclass(frozen=True)
class MeasurementContext:
    """All that metrics need of a run beside its rows: its ending, disturbances, times and thresholds.

    Attributes:
        ending: how the loop of the run ended.
        acting: what disturbs it and when, as far as that may be going on at its end.
        start_time: [s] from when on balance, forces and torques are measured, such as the start of a push; the run's
            start if None. Of a run that ended before, they are None.
        set_point: where the root was to be, or None.
        singular_angles: [rad] by joint, where the controller's torques grow without bounds.
        unheeded_limits: [N·m] by joint that an impedance holds, its actuator's limit, which bounds the controller's
            torques only.
        saturation: [s] by joint, how long its actuator was at its limit; None if not known.
        foot_slip: [m] the longest path that a contact point slid or yielded.
        stimulus: how the floor moves, where it does so periodically.
        pendulum_length: [m] of the inverted pendulum that stands for the body (``l`` of Hof et al. 2005); if None the
            height of the centre of mass above the lowest contact point in the home configuration.
        step_threshold: [m] beyond which a contact point has been moved.
        steps: of the integrator; so ``newton_mean`` (iterations a step), ``newton_max`` (of a solve) and
            ``retried_steps``.
        stepping: what took the steps.

    Raises:
        InputError: for a length or a threshold that is not above zero, or times that are not finite.
    """

    ending: Ending = field(default_factory=Ending)
    acting: tuple[Span, ...] = ()
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
        """[s] when a limit of ``biped.Fall`` was hit, or None."""
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
