"""Compare push thresholds at short sensory delays with and without prediction, without steps.

    python examples/short_delays.py [CONTROLLER [DELAY]]

Prints the push threshold [N·s] forward, left and backward, by controller and delay; four minutes.
"""

import math
import sys
from dataclasses import replace

from controllers import ForwardModel, Predicted, WholeBodyController
from experiments import experiment_named

LAWS = ("whole-body", "cone-workspace", "lqr", "workspace")
DELAYS = (0.02, 0.03, 0.04, 0.05, 0.06)  # s
AZIMUTHS = (0.0, math.pi / 2.0, math.pi)
MOST, FINE = 64.0, 0.5  # N·s


def recovers(name: str, delay: float, ahead: bool, push: dict[str, float]) -> bool:
    """Return whether the human recovers from a push, with prediction if ``ahead``."""
    late = {"sensors.delay": delay, "sensors.predict": 0}
    scene = experiment_named("balance").build({"controller.name": name, **late, **push})
    if ahead and scene.controller is not None:
        law, muscles = scene.controller, {"stiffness": 300.0, "damping": 30.0}
        if isinstance(law, WholeBodyController):
            scene = replace(scene, controller=ForwardModel(law, delay, scene.floor, **muscles))
        else:
            scene = replace(scene, controller=Predicted(law, delay, scene.floor, step=scene.step, **muscles))
    return bool(scene.run().summary["verdict"] == "recovered")


def largest(name: str, delay: float, ahead: bool, azimuth: float) -> float:
    """Return the push threshold [N·s], by bisection."""
    low, high = 0.0, MOST
    while high - low > FINE:
        middle = 0.5 * (low + high)
        stood = recovers(name, delay, ahead, {"push.impulse": middle, "push.azimuth": azimuth})
        low, high = (middle, high) if stood else (low, middle)
    return low


def main() -> None:
    """Print the table."""
    laws, delays = sys.argv[1:2] or LAWS, [float(word) for word in sys.argv[2:]] or DELAYS
    for name in laws:
        print(name, "no delay", [largest(name, 0.0, False, azimuth) for azimuth in AZIMUTHS], flush=True)
        for delay in delays:
            for ahead in (True, False):
                found = [largest(name, delay, ahead, azimuth) for azimuth in AZIMUTHS]
                print(f"{name} {1e3 * delay:.0f} ms", "with prediction" if ahead else "without", found, flush=True)


if __name__ == "__main__":
    main()
