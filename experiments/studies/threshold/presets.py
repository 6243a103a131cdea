"""How replicas differ in the commands' own studies."""

from collections.abc import Mapping

from experiments.catalogue.parameters.parameter import Value
from experiments.studies.threshold.replicas import Scatter

#: [rad] standard deviation of the initial joint angles, where nothing else is set.
JITTER = 0.005
#: Standard deviation of the logarithm of the floor's friction, and of its stiffness with its damping.
FLOOR = 0.03


def start_and_floor(changes: Mapping[str, Value]) -> tuple[dict[str, Value], list[Scatter]]:
    """The changes with a jitter, if they have none, and the scatter of start and floor.

    Both coefficients of friction share a factor, and stiffnesses and dampings another: the floor stays of a kind.
    """
    jittered = {"initial.jitter": JITTER, **changes}
    scatters = [
        Scatter(("floor.mu_s", "floor.mu_d"), "factor", FLOOR),
        Scatter(("floor.k_n", "floor.b_n", "floor.k_t", "floor.b_t"), "factor", FLOOR),
    ]
    if jittered["initial.jitter"] == 0.0:
        return dict(changes), scatters
    return jittered, [Scatter(("initial.seed",), "seed"), *scatters]
