"""Show that runs on ever stiffer spring floors converge to the run on the rigid floor.

    python examples/stiffening_floor.py [FIGURE]

Damping grows with the root of the stiffness, which keeps the damping ratio.
"""

import math
import sys

import matplotlib.pyplot as plt
import numpy as np

from biped import Fall, Push, Run, human, simulate, standing
from contact import RUBBER, Floor
from controllers import WorkspaceController

STIFFER = (1, 4, 16, 64, 256)
LEVELS = ("com_x", "com_z", "body_x")


def springs(times: float) -> Floor:
    """Return a floor ``times`` as stiff as the default one."""
    k, b = RUBBER.k_n * times, RUBBER.b_n * math.sqrt(times)
    return Floor(k_n=k, k_t=k, b_n=b, b_t=b)


def pushed(floor: Floor, integrator: str) -> Run:
    """Simulate a push of 8 N·s under the ``workspace`` controller."""
    push = Push("trunk", direction=(1.0, 0.0, 0.0), impulse=8.0, start=0.5, duration=0.1)
    model, law = human(), WorkspaceController()
    state = standing(model, floor, law.set_point(model).position)
    return simulate(
        model, law, floor=floor, state=state, integrator=integrator, step=1e-4, duration=2.0, record_every=2e-3,
        disturbances=[push], fall=Fall(),
    )  # fmt: skip


def main(figure: str | None = None) -> None:
    """Print the distance of each run from the run on the rigid floor, and draw it."""
    rigid = pushed(springs(1e6), "rigid").frame  # this floor only sets the start, with undeformed contacts
    apart = []
    print("stiffness [kN/m] | greatest distance from the run on the rigid floor [mm]:", ", ".join(LEVELS))
    for times in STIFFER:
        frame = pushed(springs(times), "recursive").frame
        apart.append([1e3 * np.abs(frame[name] - rigid[name]).max() for name in LEVELS])
        print(f"{1e-3 * RUBBER.k_n * times:16g} | " + ", ".join(f"{distance:.4f}" for distance in apart[-1]))
    if figure:
        _, axes = plt.subplots(figsize=(6, 4), layout="constrained")
        axes.loglog(1e-3 * RUBBER.k_n * np.array(STIFFER), apart, "o-", label=LEVELS)
        axes.set_xlabel("stiffness of a point's springs [kN/m]")
        axes.set_ylabel("greatest distance from the rigid floor's run [mm]")
        axes.legend()
        plt.savefig(figure, dpi=120)


if __name__ == "__main__":
    main(*sys.argv[1:])
