"""Checks of a run's reliability, each with a criterion and a result."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

Passed = Literal["ok", "warning", "failed"]
OK: Passed = "ok"
WARNING: Passed = "warning"
FAILED: Passed = "failed"
#: Largest unexplained energy, as a share of the energy exchanged.
ENERGY = 0.05
#: Largest unexplained energy, as a share of the model's scale of energy, if almost none is exchanged.
LEAST_ENERGY = 1e-3


@dataclass(frozen=True)
class Check:
    """Result of a check of a run."""

    name: str  #: checked quantity
    value: float  #: result in ``unit``
    limit: float  #: largest value that is ok
    unit: str  #: unit of value and limit
    passed: Passed  #: ``failed`` makes the run ``unreliable``, ``warning`` does not
    text: str  #: result in one sentence

    def as_json(self) -> dict[str, Any]:
        """Return the check as an entry of the summary."""
        return asdict(self)
