"""Measure the cost of a gradient by twelve gains, in units of a trial: the human is pushed and runs for 2 s.

    python examples/gradient_cost.py

Each value is the least of seven processor times, so that other programs matter little.
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
    """Return the least processor time [ms] of ``work``."""
    found = []
    for _ in range(TIMES):
        begin = time.process_time()
        work()
        found.append(time.process_time() - begin)
    return 1e3 * min(found)


def cost_at(step: float) -> str:
    """Return a row of the table for one step size [s]."""
    push = Push("trunk", (-1.0, -0.3, 0.0), 4.0, start=0.5)
    still = Scene(human(), WorkspaceController(), step=step, duration=2.0, disturbances=[push])
    scene = replace(still, state=still.initial_state)
    first = Differentiator(scene, GAINS)
    trial = least(lambda: measure_recording(Session(scene, log_holds_run=True).run()))
    forwards = least(lambda: Differentiator(scene, first.names, first.effect))
    back = least(lambda: first.of("rms_position_error"))
    return f"{1e3 * step:g} | {trial:.1f} | {forwards:.1f} | {back:.1f} | {(forwards + back) / trial:.2f}"


def main() -> None:
    """Print a row for each step size."""
    print("step [ms] | trial with metrics [ms] | forward pass [ms] | backward pass [ms] | gradient / trial")
    for step in (5e-4, 1e-3, 2e-3):
        print(cost_at(step), flush=True)


if __name__ == "__main__":
    main()
