"""Default grids and numbers of replicas of the threshold commands; a module that the help imports quickly."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Budget:
    """Default grid, replicas and directions of a threshold study; ``start`` to ``tolerance`` as in ``Grid``."""

    start: float
    stop: float
    by: float
    replicas: int  # number of replicas
    tolerance: float
    directions: int = 0  # number of directions; 0: the study has no directions


@dataclass(frozen=True)
class Budgets:
    """Usual and quick budget of a command, and the unit of the grid's values."""

    usual: Budget  # default
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
