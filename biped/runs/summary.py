"""What a run amounts to.

Keys:

- ``outcome``: "stood", "fell", or "completed" where no fall was looked for; "interrupted" or "failed" where the
  run did not get to its end.
- ``events``: impacts and pushes with their impulses [N·s], and when each edge of each foot left the floor and
  came down again.
- ``simulated_time``, ``wall_time`` [s], ``real_time_factor``.
- ``metrics``: the numbers that ``biped.metrics`` defines; None where there is nothing to measure.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


class Summary(dict[str, Any]):
    """A run's summary, in which a metric is found by its name too.

    ``summary["settling_time"]`` is ``summary["metrics"]["settling_time"]``; it is there once.
    """

    def __missing__(self, name: str) -> Any:
        if name == "metrics":
            raise KeyError(name)
        return self["metrics"][name]


@dataclass(frozen=True)
class Counters:
    """What a run counted.

    ``wall_time`` [s] is that of the loops, without set-up and compilation of the arrays.
    """

    steps: int
    newton_iterations: int
    newton_max: int
    retried_steps: int
    wall_time: float

    @property
    def newton_mean(self) -> float:
        """Iterations a step."""
        return self.newton_iterations / self.steps if self.steps else 0.0


@dataclass(frozen=True)
class Ending:
    """How a run ended: its ``outcome``; when the model fell; what had no solution."""

    outcome: str
    fell_at: float | None
    error: str | None = None


def summarize(
    ending: Ending, simulated: float, counters: Counters, events: Mapping[str, Any], metrics: Mapping[str, Any]
) -> Summary:
    """The summary of a run of ``simulated`` seconds."""
    return Summary(
        outcome=ending.outcome,
        events=events,
        simulated_time=simulated,
        wall_time=counters.wall_time,
        real_time_factor=simulated / counters.wall_time if counters.wall_time > 0.0 else None,
        metrics=dict(metrics),
    )
