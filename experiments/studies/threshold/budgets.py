"""Default grids and ensembles of the threshold commands, importable quickly for their help."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Budget:
    """Default grid, replicas and number of directions of a threshold study."""

    start: float
    stop: float
    by: float
    replicas: int
    tolerance: float
    directions: int = 0


@dataclass(frozen=True)
class Budgets:
    """Usual and quick budget of a command, and the unit of the values."""

    usual: Budget
    quick: Budget  # for ``--quick``
    unit: str  # unit of the values


#: Budgets by the name of the command.
BUDGETS = {
    "push-map": Budgets(
        usual=Budget(start=0.0, stop=18.0, by=1.0, replicas=21, tolerance=0.125, directions=24),
        quick=Budget(start=0.0, stop=18.0, by=2.0, replicas=9, tolerance=0.25, directions=12),
        unit="N·s",
    ),
    "block-speed": Budgets(
        usual=Budget(start=4.0, stop=6.0, by=0.05, replicas=40, tolerance=0.0125),
        quick=Budget(start=4.0, stop=6.0, by=0.2, replicas=12, tolerance=0.05),
        unit="m/s",
    ),
}
