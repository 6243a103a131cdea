"""Compare push thresholds with steps to the limits of a pendulum that takes the same steps: a table by direction.

    biped push-map --controller stepping --steps 0,1,any --step 0.001 --out results/push-map/steps
    python examples/actual_steps.py results/push-map/steps

Each replica is run again at its threshold. The table has three limits of the inverted pendulum (docs/limits.md): with
the steps of a brisk person; with the lengths along the push and the times of the steps in that run; and with the
footholds of that run, which may allow more because the pendulum can move sideways. A map of 24 directions takes some
minutes.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from biped.capturability import Footholds, heading
from experiments.studies import Study, footholds_of, push_of

LIMITS = ("usual steps", "own lengths and times", "own footholds")


def along_push(steps: Footholds, corners: np.ndarray, direction: np.ndarray) -> Footholds:
    """Return the steps projected on the push: each moves the support by its reach in that direction."""
    ahead = [(support @ direction).max() - (corners @ direction).max() for support in steps.supports]
    return Footholds(steps.times, tuple(np.concatenate([corners, corners + reach * direction]) for reach in ahead))


def of_replica(study: Study, trial: int) -> tuple[float, ...]:
    """Return a replica's threshold and its three limits [N·s]."""
    changes = study.trial(trial).changes
    scene = study.experiment.build(changes)
    push, steps = push_of(scene), footholds_of(scene, study.experiment.run(changes))
    straight = along_push(steps, push.stance.corners, heading(push.azimuth))
    own = (push.impulse(push.azimuth, hips=False, steps=each) for each in (straight, steps))
    return changes["push.impulse"], push.limit.applicable, *own


def main(folder: str | Path) -> None:
    """Print a Markdown table of medians over replicas: thresholds, limits and shares, row by row."""
    replicas = pd.read_csv(Path(folder) / "push-map-replicas.csv").rename(columns={"low": "value"})
    labels = list(replicas.columns[: list(replicas.columns).index("replica")])
    with Study.read(folder) as study:
        tried = study.frame()
        at_threshold = replicas.merge(tried[tried["verdict"] == "stepped"], on=[*labels, "replica", "value"])
        print(f"| {' | '.join([*labels, 'replicas', 'threshold', *LIMITS])} |")
        print("|---" * (len(labels) + 2 + len(LIMITS)) + "|")
        for where, trials in at_threshold.groupby(labels):
            found = np.array([of_replica(study, int(trial)) for trial in trials["trial"]])
            limits, shares = np.median(found, axis=0), 100.0 * np.median(found[:, :1] / found, axis=0)
            cells = [f"{limit:.0f}; {share:.0f} %" for limit, share in zip(limits[1:], shares[1:], strict=True)]
            print(f"| {' | '.join([*map(str, where), str(len(found)), f'{limits[0]:.1f}', *cells])} |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python examples/actual_steps.py FOLDER (of a push map with --controller stepping)")
    main(sys.argv[1])
