"""Simulate two arches of stones without mortar: one stands, a thinner one falls.

    python examples/arch.py [FIGURE]

A semicircular arch needs a thickness of 0.1075 of its radius (Heyman 1969); with eleven stones a little less.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from scipy.spatial.transform import Rotation

from formulations.assembly import Motion
from formulations.assembly.examples import arch

STONES, DURATION, STEP = 11, 2.0, 0.005
THICKNESSES = (0.11, 0.09)
#: Times [s] of the outlines.
LOOKS = (0.0, 0.5, 1.0)


def drawn(axes: Axes, motion: Motion, row: int, shade: float) -> None:
    """Draw the stones at one recorded row, seen along y."""
    for body in motion.assembly.bodies:
        turned = Rotation.from_quat(motion.orientation(body.name)[row], scalar_first=True)
        side = next(face for face in body.shape.faces if face.normal[1] < -0.9)
        corners = motion.position(body.name)[row] + turned.apply(body.shape.array[side.corners])
        axes.add_patch(
            plt.Polygon(corners[:, [0, 2]], facecolor=(0.3, 0.45, 0.6, shade), edgecolor=(0.1, 0.1, 0.1, shade))
        )


def main(figure: str | None = None) -> None:
    """Print how far the keystone of each arch sinks, and draw both arches."""
    _, both = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained", sharey=True)
    for axes, thickness in zip(both, THICKNESSES, strict=True):
        assembly, start = arch(STONES, thickness)
        motion = assembly.simulate(DURATION, STEP, start)
        keystone = motion.position(f"stone_{(STONES + 1) // 2}")[:, 2]
        fell = 1e3 * (keystone[0] - keystone)
        print(f"thickness {thickness:.2f} m: the keystone sinks by {np.interp(LOOKS[-1], motion.time, fell):.3g} mm in "
              f"{LOOKS[-1]} s: {'stands' if np.abs(fell).max() < 1e-3 else 'falls'}")  # fmt: skip
        for k, time in enumerate(LOOKS):
            drawn(axes, motion, round(time / STEP), 0.25 + 0.25 * k)
        axes.axhline(0.0, color="black", lw=1)
        axes.set(aspect="equal", xlim=(-1.3, 1.3), ylim=(-0.15, 1.2), xlabel="x [m]", title=f"{thickness:.2f} m thick")
    both[0].set_ylabel("z [m]")
    if figure:
        plt.savefig(figure, dpi=110)


if __name__ == "__main__":
    main(*sys.argv[1:])
