"""External wrenches on bodies of an assembly: pushes, forces and torques."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from biped.disturbances import Force, Push
from biped.disturbances.push import Torque
from biped.signals import compile_signals
from formulations.assembly.errors import AssemblyError
from formulations.assembly.kernels.wrenches import LEDGER, Wrenches

if TYPE_CHECKING:
    from formulations.assembly.assembly import Assembly

#: Columns of a motion with disturbances, and units: work, impulse, and moment about the common centre of mass.
COLUMNS = (
    {"external_work": "J"}
    | {f"external_impulse_{axis}": "N*s" for axis in "xyz"}
    | {f"external_moment_{axis}": "N*m*s" for axis in "xyz"}
)

Wrench = Push | Force | Torque


def compiled(assembly: Assembly, given: Sequence[Wrench], rows: int) -> Wrenches:
    """Return the disturbances for the kernels, with a table of ``rows`` rows for their totals.

    Raises:
        AssemblyError: a disturbance is of another kind, or acts on no body of the assembly.
    """
    for load in given:
        kind: Any = type(load)
        if kind not in (Push, Force, Torque):
            raise AssemblyError(f"disturbances: {load!r}: it must be a Push, a Force or a Torque")
    count, none = len(given), (0.0, 0.0, 0.0)

    def vectors(values: Iterator[Any]) -> Any:
        return np.array(list(values), dtype=np.float64).reshape(-1, 3)

    return Wrenches(
        body=np.array([assembly.body_index(load.body, f"{type(load).__name__}") for load in given], dtype=np.int64),
        point=vectors(none if isinstance(load, Torque) else load.point for load in given),
        force=vectors(none if isinstance(load, Torque) else load.unit for load in given),
        torque=vectors(load.unit if isinstance(load, Torque) else none for load in given),
        given=compile_signals([load.given for load in given]),
        impulse=np.zeros(count), node=np.zeros(LEDGER), total=np.zeros(LEDGER),
        table=np.full((rows if count else 0, LEDGER), np.nan),
    )  # fmt: skip
