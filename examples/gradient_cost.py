"""What a gradient by all twelve gains costs, in trials: the human, pushed, for two seconds.

    python examples/gradient_cost.py

Each is the least of several, in the processor's time, so that other programs matter little.
"""

import time
from collections.abc import Callable
from dataclasses import replace

from biped import Push, Scene, Session, human
from biped.derivatives.gradients import Differentiator
from biped.metrics import measure_recording
from controllers import WorkspaceController

GAINS = [
    f"controller.gains.{gain}[{axis}]"
    for gain in ("kp_position", "kd_position", "kp_orientation", "kd_orientation")
    for axis in range(3)
]
TIMES = 7


def least(work: Callable[[], object]) -> float:
    """[ms] of the processor."""
    found = []
    for _ in range(TIMES):
        begin = time.process_time()
        work()
        found.append(time.process_time() - begin)
    return 1e3 * min(found)


def cost_at(step: float) -> str:
    """A line for one step of the integrator [s]."""
    push = Push("trunk", (-1.0, -0.3, 0.0), 4.0, start=0.5)
    still = Scene(human(), WorkspaceController(), step=step, duration=2.0, disturbances=[push])
    scene = replace(still, state=still.initial_state)
    first = Differentiator(scene, GAINS)
    trial = least(lambda: measure_recording(Session(scene, in_one_go=True).run()))
    forwards = least(lambda: Differentiator(scene, first.names, first.effect))
    back = least(lambda: first.of("rms_position_error"))
    return f"{1e3 * step:g} | {trial:.1f} | {forwards:.1f} | {back:.1f} | {(forwards + back) / trial:.2f}"


def main() -> None:
    """Print a line for each step of the integrator."""
    print("step [ms] | trial, measured [ms] | noted forwards [ms] | back [ms] | derivatives, in trials")
    for step in (5e-4, 1e-3, 2e-3):
        print(cost_at(step), flush=True)


if __name__ == "__main__":
    main()
