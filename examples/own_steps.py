"""How much of what a pendulum withstands by the very steps that a law took, the law withstands: a table, by direction.

    biped push-map --controller stepping --steps 0,1,any --step 0.001 --out results/push-map/steps
    python examples/own_steps.py results/push-map/steps

Each replica's threshold, the largest push below the first that it does not recover from, is run again. Beside the limit
with steps of a brisk person there are two with the steps of that run: with their lengths along the push and their
times, the formula of docs/limits.md; and with their footholds, from which a pendulum that goes from side to side may
withstand more. Some minutes for a map of 24 directions.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from biped.capturability import Footholds, heading
from experiments.studies import Study, own_steps, push_of

LIMITS = ("usual steps", "own lengths and times", "own footholds")


def along_push(steps: Footholds, corners: np.ndarray, direction: np.ndarray) -> Footholds:
    """The same steps as if all went along the push: the support is carried as far as they reach that way."""
    ahead = [(support @ direction).max() - (corners @ direction).max() for support in steps.supports]
    return Footholds(steps.times, tuple(np.concatenate([corners, corners + reach * direction]) for reach in ahead))


def of_replica(study: Study, trial: int) -> tuple[float, ...]:
    """What a replica withstood by steps, and the three limits [N·s]."""
    changes = study.trial(trial).changes
    scene = study.experiment.build(changes)
    push, steps = push_of(scene), own_steps(scene, study.experiment.run(changes))
    straight = along_push(steps, push.stance.corners, heading(push.azimuth))
    own = (push.impulse(push.azimuth, hips=False, steps=each) for each in (straight, steps))
    return changes["push.impulse"], push.limit.own, *own


def main(folder: str | Path) -> None:
    """Print medians over replicas, in Markdown, a line as soon as it is known: limits, and shares of them."""
    replicas = pd.read_csv(Path(folder) / "push-map-replicas.csv").rename(columns={"low": "value"})
    labels = list(replicas.columns[: list(replicas.columns).index("replica")])
    with Study.read(folder) as study:
        tried = study.frame()
        at_threshold = replicas.merge(tried[tried["verdict"] == "stepped"], on=[*labels, "replica", "value"])
        print(f"| {' | '.join([*labels, 'replicas', 'withstood', *LIMITS])} |")
        print("|---" * (len(labels) + 2 + len(LIMITS)) + "|")
        for where, trials in at_threshold.groupby(labels):
            found = np.array([of_replica(study, int(trial)) for trial in trials["trial"]])
            limits, shares = np.median(found, axis=0), 100.0 * np.median(found[:, :1] / found, axis=0)
            cells = [f"{limit:.0f}; {share:.0f} %" for limit, share in zip(limits[1:], shares[1:], strict=True)]
            print(f"| {' | '.join([*map(str, where), str(len(found)), f'{limits[0]:.1f}', *cells])} |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("python examples/own_steps.py FOLDER, that of a push map of a law that steps")
    main(sys.argv[1])
