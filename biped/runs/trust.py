"""What a run says of its own reliability: checks with a criterion, each passed or not."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

Passed = Literal["ok", "warning", "failed"]
OK: Passed = "ok"
WARNING: Passed = "warning"
FAILED: Passed = "failed"
#: The part of the energy exchanged that no work may account for.
ENERGY = 0.05
#: Of the energy that is a lot for what moves, the same where next to nothing is exchanged.
LEAST_ENERGY = 1e-3


@dataclass(frozen=True)
class Check:
    """One check."""

    name: str  #: what was looked at
    value: float  #: in ``unit``
    limit: float  #: up to which it is ok
    unit: str  #: of both
    passed: Passed  #: ``failed`` makes the run ``unreliable``, ``warning`` does not
    text: str  #: the finding in one sentence

    def as_json(self) -> dict[str, Any]:
        """As a summary has it."""
        return asdict(self)
