"""Summary of a run.

Keys:

- ``verdict``: a verdict of ``biped.runs.verdict``; ``reason``: its reason in a few words.
- ``limit``: the limit of a fall that ended the run (``biped.runs.verdict.Limit``) with the final
  ``margin_of_stability`` [m], or None.
- ``trust``: checks of the run's reliability (``biped.metrics.trust``).
- ``integrator``: integrator or engine, with the properties that checks need.
- ``events``: impacts and pushes with their impulses [N·s], and landings and lift-offs of the edges of the feet.
- ``simulated_time``, ``wall_time`` [s], ``real_time_factor``.
- ``metrics``: the metrics of ``biped.metrics``; None where there is nothing to measure.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from biped.errors import UnknownNameError
from biped.runs.verdict import UNDECIDED, Limit
from contact.errors import did_you_mean

#: Decimals of a time [s]; further digits are round-off.
TIME_DIGITS = 9


class Summary(dict[str, Any]):
    """Summary of a run, which also gives access to the metrics by name.

    ``summary["settling_time"]`` is ``summary["metrics"]["settling_time"]``, which is stored once.
    """

    def __missing__(self, name: str) -> Any:
        if name == "metrics":
            raise KeyError(name)
        return Metrics(self)[name]


class Metrics(dict[str, Any]):
    """Metrics of a run by name.

    ``verdict``, ``reason`` and ``limit_hit``, which a summary stores separately, are available by name too.
    """

    def __init__(self, summary: Mapping[str, Any]) -> None:
        super().__init__(summary["metrics"])
        limit = summary.get("limit")
        hit = limit and limit["subject" if limit["name"] == "joint_rate" else "name"]
        self._judged = {"verdict": summary["verdict"], "reason": summary.get("reason", ""), "limit_hit": hit}

    def __missing__(self, name: str) -> Any:
        if name in self._judged:
            return self._judged[name]
        known = (*self._judged, *self)
        raise UnknownNameError(
            f"no metric {name!r}; {did_you_mean(str(name), known)}biped.metrics.METRICS lists all metrics"
        )


@dataclass(frozen=True)
class Counters:
    """Counters of a run.

    ``wall_time`` [s] is the time in the loops, without set-up and compilation of the arrays.
    """

    steps: int
    newton_iterations: int
    newton_max: int
    retried_steps: int
    wall_time: float

    @property
    def newton_mean(self) -> float:
        """Mean number of iterations per time step."""
        return self.newton_iterations / self.steps if self.steps else 0.0


@dataclass(frozen=True)
class Ending:
    """How and when the simulation of a run ended, before metrics are computed.

    Attributes:
        verdict: ``fell``, ``lost control``, ``failed`` or ``interrupted``; ``completed`` if there is nothing to judge;
            ``undecided`` if the run reached its end, so that the metrics give the verdict.
        fell_at: [s] time at which a limit of a fall was reached, or None.
        limit: the limit of a fall that was reached, or None.
        error: description of the time step without a solution, or None.
    """

    verdict: str = UNDECIDED
    fell_at: float | None = None
    limit: Limit | None = None
    error: str | None = None

    @classmethod
    def by(cls, limit: Limit) -> "Ending":
        """Return the ending of a run that reached a limit of a fall."""
        return cls(limit.verdict, limit.time, limit)

    @property
    def reason(self) -> str:
        """Reason of the verdict as text; empty if the verdict needs none."""
        return self.error or ("" if self.limit is None else self.limit.reason)


@dataclass(frozen=True)
class Stepping:
    """Integrator or engine of a run, with the properties that checks of the run need.

    Attributes:
        name: name of the integrator or engine.
        step: [s] time step.
        conserves_momentum: True if momentum is conserved exactly, apart from external impulses.
        is_engine: True for an external engine, which may lose energy that its own contacts do not report.
        stable_step: [s] largest time step with which an explicit method should be stable; None: any time step.
    """

    name: str = ""
    step: float = 0.0
    conserves_momentum: bool = False
    is_engine: bool = False
    stable_step: float | None = None


def summarize(
    ending: Ending,
    simulated: float,
    counters: Counters,
    events: Mapping[str, Any],
    metrics: Mapping[str, Any],
    **judged: Any,
) -> Summary:
    """Return the summary of a run of ``simulated`` [s]; ``judged`` has the verdict and other conclusions."""
    return Summary(
        {"verdict": ending.verdict, "reason": ending.reason} | judged,
        events=events,
        simulated_time=round(simulated, TIME_DIGITS),
        wall_time=counters.wall_time,
        real_time_factor=simulated / counters.wall_time if counters.wall_time > 0.0 else None,
        metrics=dict(metrics),
    )
