"""Swing the legs of a floating human into each other: they pass through, or collide if ``touching="body"``.

python examples/crossing_legs.py [FIGURE]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from biped import Rigid, Run, State, body_gaps, human, simulate

RATES = {"left_hip_roll": 3.0, "left_hip_pitch": 0.5, "right_hip_roll": -3.0}


def flight(touching: str) -> Run:
    """Simulate the human without gravity and without a controller."""
    model = human().without_contacts().with_gravity((0.0, 0.0, 0.0))
    v = np.zeros(model.nv)
    for joint, rate in RATES.items():
        v[model.dof(joint)] = rate  # [rad/s]
    start = State.at(model, None, v)
    integrator = Rigid(touching=touching)
    return simulate(model, state=start, integrator=integrator, step=1e-3, duration=0.3, record_every=1e-3)


def distances(run: Run) -> np.ndarray:
    """Return the distance (rows,) [m] of the two nearest bodies; negative if they overlap."""
    model = run.state.model
    rows = run.frame[list(model.coordinate_names)].to_numpy()
    return np.array([min(body_gaps(model, q).values()) for q in rows])


def main(figure: str | None = None) -> None:
    """Print the least distance of the legs, and draw it over time."""
    _, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
    for touching, label in (("points", "contact points on the floor only"), ("body", "all bodies")):
        run = flight(touching)
        gap = distances(run)
        result = "pass through one another" if gap.min() < -1e-9 else "touch"
        print(f"touching = {touching}: the legs {result}, least distance {1e3 * gap.min():.3g} mm")
        axes.plot(run.frame["time"], 1e3 * gap, label=label)
    axes.set_xlabel("time [s]")
    axes.set_ylabel("distance of the legs [mm]")
    axes.axhline(0.0, color="0.5", linewidth=0.8)
    axes.legend(title="what touches")
    if figure:
        plt.savefig(figure, dpi=120)


if __name__ == "__main__":
    main(*sys.argv[1:])
