"""The person of all rows: one set of parameters, which none of the published numbers has chosen.

A row adds what disturbs the person, and the law by which the person answers, with that law's own defaults.
"""

from collections.abc import Mapping
from types import MappingProxyType

from experiments.catalogue.parameters.parameter import Value

#: [s] by which the senses are late: muscles answer a floor that moves after about so long (Nashner 1976).
LATE = 0.1
#: Of the experiment ``balance``: upright, with the senses of closed eyes.
PERSON: Mapping[str, Value] = MappingProxyType({
    "initial.stance": "upright",
    "initial.jitter": 0.0,  # replicas differ by their noise alone
    "initial.settle": 10.0,
    "run.step": 2e-3,
    "sensors.preset": "eyes-closed",
    "sensors.delay": LATE,
    "sensors.force.delay": LATE,
})  # fmt: skip
#: The person's senses, as late, without noise and thresholds, where a law cannot answer with these.
EXACT: Mapping[str, Value] = MappingProxyType({"sensors.preset": "none"})
#: In place of the person's senses, where a law decides more seldom than they are late.
AT_ONCE: Mapping[str, Value] = MappingProxyType({**EXACT, "sensors.delay": 0.0, "sensors.force.delay": 0.0})
#: The law of who stands by the ankles, and its one parameter that is not its default: with it all but those without a
#: vestibular sense stand in the studies of quiet stance (``examples/quiet-stance.toml``).
ANKLES, WEIGHT = "postural", 0.2
BY_ANKLES: Mapping[str, Value] = MappingProxyType({"controller.weight": WEIGHT})
#: For the page.
TOLD = (
    "one person for all rows that are simulated: the human, upright, with the senses of closed eyes, 100 ms late; it "
    "stands by the law postural, with its defaults but for a weight of the joints of 0.2, as in the project's studies "
    "of quiet stance; no row has chosen any of it"
)
