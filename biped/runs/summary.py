"""What a run amounts to.

Keys:

- ``verdict``: one word of ``biped.runs.verdict``, and ``reason``: why, in a few words.
- ``limit``: the limit of a fall that ended the run (``biped.runs.verdict.Limit``) and the ``margin_of_stability`` [m]
  then, or None.
- ``trust``: the checks that the run was put to (``biped.metrics.trust``).
- ``integrator``: what took the steps, as far as the checks depend on it.
- ``events``: impacts and pushes with their impulses [N·s], and when each edge of each foot left the floor and
  came down again.
- ``simulated_time``, ``wall_time`` [s], ``real_time_factor``.
- ``metrics``: the numbers that ``biped.metrics`` defines; None where there is nothing to measure.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from biped.errors import UnknownNameError
from biped.runs.verdict import UNDECIDED, Limit
from contact.errors import did_you_mean

#: Decimals of a time [s]: what is beyond is the round-off of many steps.
TIME_DIGITS = 9


class Summary(dict[str, Any]):
    """A run's summary, in which a metric is found by its name too.

    ``summary["settling_time"]`` is ``summary["metrics"]["settling_time"]``; it is there once.
    """

    def __missing__(self, name: str) -> Any:
        if name == "metrics":
            raise KeyError(name)
        return Metrics(self)[name]


class Metrics(dict[str, Any]):
    """A run's metrics by name.

    The ``verdict``, its ``reason`` and the ``limit_hit``, which a summary tells by themselves, are found by name too.
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
            f"no metric {name!r}; {did_you_mean(str(name), known)}biped.metrics.METRICS has them all"
        )


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
    """How the loop of a run ended, before anything is measured.

    Attributes:
        verdict: what follows from that: ``fell``, ``lost control``, ``failed``, ``interrupted``; ``completed`` where
            there is nothing to judge; ``undecided`` where the run got to its end, and what was recorded is to tell.
        fell_at: [s] when a limit of a fall was hit, or None.
        limit: which one, or None.
        error: what had no solution.
    """

    verdict: str = UNDECIDED
    fell_at: float | None = None
    limit: Limit | None = None
    error: str | None = None

    @classmethod
    def by(cls, limit: Limit) -> "Ending":
        """By a limit of a fall."""
        return cls(limit.verdict, limit.time, limit)

    @property
    def reason(self) -> str:
        """In words; empty where the verdict says it all."""
        return self.error or ("" if self.limit is None else self.limit.reason)


@dataclass(frozen=True)
class Stepping:
    """What took the steps of a run, as far as checks of the run depend on it.

    Attributes:
        name: of the integrator or engine.
        step: [s].
        conserves_momentum: exactly, but for impulses from outside.
        is_engine: whether it is somebody else's, which may lose energy that its own contacts do not tell of.
        stable_step: [s] up to which an explicit method is expected to be stable on the floor; None of others.
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
    """The summary of a run of ``simulated`` seconds; ``judged`` has what was concluded of it, such as its verdict."""
    return Summary(
        {"verdict": ending.verdict, "reason": ending.reason} | judged,
        events=events,
        simulated_time=round(simulated, TIME_DIGITS),
        wall_time=counters.wall_time,
        real_time_factor=simulated / counters.wall_time if counters.wall_time > 0.0 else None,
        metrics=dict(metrics),
    )
