"""Verdicts of runs in one word, with a reason: the vocabulary of runs, sessions, studies and pages.

``biped.metrics.definitions.verdict`` has the rules.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

RECOVERED, STEPPED, FELL, LOST_CONTROL = "recovered", "stepped", "fell", "lost control"
UNDECIDED, UNRELIABLE, FAILED, INTERRUPTED = "undecided", "unreliable", "failed", "interrupted"
COMPLETED = "completed"

#: Verdicts and their meanings, the best first.
VERDICTS = {
    RECOVERED: "stands on its feet where it stood",
    STEPPED: "stands on its feet after moving a foot, or continues in a steady gait",
    FELL: "sank or tilted beyond the limits of a fall, or can no longer recover at the end of the run",
    LOST_CONTROL: "a joint turned faster than the limit: the controller flings a limb, whether or not balance was lost",
    UNDECIDED: "the run ends too early for a verdict",
    UNRELIABLE: "the run fails one of its checks, so that nothing can be concluded from it",
    FAILED: "a time step had no solution, or there was nothing that could be simulated",
    INTERRUPTED: "stopped by the user",
    COMPLETED: "the run reached its end, and there is no balance to judge",
}
#: Verdicts on the model's balance; the other verdicts imply nothing about it.
DECIDED = (RECOVERED, STEPPED, FELL, LOST_CONTROL)


@dataclass(frozen=True)
class Limit:
    """A limit of ``biped.Fall`` that ended a run."""

    name: Literal["height", "tilt", "joint_rate"]  #: attribute of ``Fall``
    subject: str  #: name of the root, or of the joint
    value: float  #: [m] above the floor, [rad] from upright, or [rad/s]
    limit: float  #: largest allowed value, or smallest allowed height
    time: float  #: [s] time at which the limit was reached

    @property
    def verdict(self) -> str:
        """Verdict of a run that ends at this limit."""
        return LOST_CONTROL if self.name == "joint_rate" else FELL

    @property
    def reason(self) -> str:
        """Reason of the verdict as text."""
        who, when = self.subject.replace("_", " "), f"at {self.time:.4g} s"
        if self.name == "height":
            return f"{who} below {self.limit:.3g} m {when}"
        if self.name == "tilt":
            return f"{who} tilted beyond {math.degrees(self.limit):.0f}° {when}"
        return f"{who} at {self.value:.0f} rad/s (limit {self.limit:.4g}) {when}"


def verdict_line(summary: Mapping[str, Any]) -> str:
    """Return verdict and reason of a summary or trial in one line: ``fell: trunk below 0.6 m at 1.92 s``."""
    word, reason = summary["verdict"], summary.get("reason") or ""
    if word == RECOVERED:
        return f"{word} {reason}".rstrip()
    if word == STEPPED:
        return ", ".join(part for part in (RECOVERED, reason) if part)
    return f"{word}: {reason}" if reason else str(word)
