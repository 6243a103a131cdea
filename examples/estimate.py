"""Draw what a state estimator knows of a push: true, measured and estimated capture point, lateral and forward.

    python examples/estimate.py [FIGURE]

A person with the sensors of the preset young, 150 ms late, is pushed forward and steps; a few seconds.
"""

import sys

import matplotlib.pyplot as plt

from biped.metrics import series
from experiments import experiment_named

CHANGES = {
    "initial.stance": "upright", "run.step": 2e-3, "run.duration": 3.0, "initial.settle": 3.0, "initial.jitter": 0.0,
    "sensors.preset": "young", "sensors.seed": 1, "push.impulse": 30.0, "push.azimuth": 0.0, "push.start": 0.5,
    "actuators.stiffness": 300.0, "actuators.damping": 30.0,
}  # fmt: skip
DELAY = 0.15  # s, of the preset


def main(figure: str = "estimate.png") -> None:
    """Run the trial and write the figure."""
    run = experiment_named("balance").driven_by("stepping").run(CHANGES)
    print(run.verdict_line)
    frame, truth = run.frame, series(run)
    time = frame["time"]
    _, both = plt.subplots(2, 1, sharex=True, figsize=(7.0, 5.0), layout="constrained")
    for axes, axis, title in zip(both, "xy", ("forward", "to the left"), strict=True):
        sign = -1.0 if axis == "x" else 1.0
        estimate, deviation = sign * frame[f"estimate_xcom_{axis}"], frame[f"estimate_xcom_sd_{axis}"]
        actual = sign * truth[f"xcom_{axis}"].to_numpy()
        axes.plot(time, actual, "k", label="true")
        axes.plot(time + DELAY, actual, "C7:", label=f"true, {1e3 * DELAY:.0f} ms ago")
        axes.plot(time, estimate, "C0", label="estimate")
        axes.fill_between(time, estimate - deviation, estimate + deviation, color="C0", alpha=0.25, label="± SD")
        axes.set_ylabel(f"capture point {title} [m]")
    both[0].legend()
    both[0].set_xlim(0.0, float(time.iloc[-1]))
    both[1].set_xlabel("time [s]")
    plt.savefig(figure, dpi=100)


if __name__ == "__main__":
    main(*sys.argv[1:])
