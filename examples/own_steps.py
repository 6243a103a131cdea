"""How much of what a pendulum withstands by the very steps that a law took, the law withstands: a table, by direction.

    biped push-map --controller stepping --steps 0,1,any --step 0.001 --out results/push-map/steps
    python examples/own_steps.py results/push-map/steps

Of each replica the largest push that it recovers from is run again, and the pendulum's limit is computed with the
footholds and the landing times of that run (``own_steps``), beside the one with steps of a brisk person.
"""

import sys
from pathlib import Path

import pandas as pd

from experiments.cli.progress import ProgressBar
from experiments.studies import Study
from experiments.studies.limits import own_steps, push_of
from experiments.studies.threshold.presets import FEET


def of_replicas(folder: str | Path) -> pd.DataFrame:
    """A row for each replica that recovers by steps: what it withstood, and the two limits [N·s]; its steps [m, s]."""
    found = []
    with Study.read(folder) as study:
        trials = study.frame()
        maps = trials.get(FEET, pd.Series("", trials.index))
        replicas = trials.groupby([maps, "direction", "replica"])
        with ProgressBar(len(replicas), "own steps", "replicas", counts=True) as bar:
            for done, ((feet, direction, _), tried) in enumerate(replicas, 1):
                lost = tried.loc[tried["verdict"].isin(["fell", "lost control"]), "push.impulse"].min()
                below = tried[(tried["verdict"] == "stepped") & ~(tried["push.impulse"] >= lost)]
                if len(below):
                    withstood = below.loc[below["push.impulse"].idxmax()]
                    changes = study.trial(int(withstood["trial"])).changes
                    scene = study.experiment.build(changes)
                    push, steps = push_of(scene), own_steps(scene, study.experiment.run(changes))
                    own = push.impulse(push.azimuth, hips=False, steps=steps)
                    found.append((feet, direction, withstood["push.impulse"], own, push.limit.steps, steps))
                bar(done)
    return pd.DataFrame(found, columns=["feet", "direction", "withstood", "own", "usual", "steps"])


def main(folder: str) -> None:
    """Print medians over replicas, in Markdown."""
    print("| map | direction | replicas | withstood | limit, own steps | share | limit, usual steps | share |")
    print("|---|---|---|---|---|---|---|---|")
    for (feet, direction), rows in of_replicas(folder).groupby(["feet", "direction"]):
        of_own, of_usual = (rows["withstood"] / rows[name] for name in ("own", "usual"))
        withstood, own, usual = rows[["withstood", "own", "usual"]].median()
        shares = f"{own:.0f} | {100 * of_own.median():.0f} % | {usual:.0f} | {100 * of_usual.median():.0f} %"
        print(f"| {feet} | {direction:g}° | {len(rows)} | {withstood:.1f} | {shares} |")


if __name__ == "__main__":
    main(*sys.argv[1:])
