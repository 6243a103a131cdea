"""How much of what a pendulum withstands by the very steps that a law took, the law withstands: a table, by direction.

    biped push-map --controller stepping --steps 0,1,any --step 0.001 --out results/push-map/steps
    python examples/own_steps.py results/push-map/steps

Of each replica the largest push that it recovers from is run again, and the pendulum's limit is computed with the
footholds and the landing times of that run (``own_steps``), beside the one with steps of a brisk person. Some minutes
for a map of 24 directions.
"""

import sys
from pathlib import Path

import pandas as pd

from experiments.studies import Study, own_steps, push_of

LOST = ("fell", "lost control")


def of_replica(study: Study, tried: pd.DataFrame) -> tuple[float, float, float] | None:
    """What a replica withstood by steps, and the two limits [N·s]; None if it withstood nothing so."""
    lost = tried.loc[tried["verdict"].isin(LOST), "push.impulse"].min()
    below = tried[(tried["verdict"] == "stepped") & ~(tried["push.impulse"] >= lost)]
    if not len(below):
        return None
    withstood = below.loc[below["push.impulse"].idxmax()]
    changes = study.trial(int(withstood["trial"])).changes
    scene = study.experiment.build(changes)
    push, steps = push_of(scene), own_steps(scene, study.experiment.run(changes))
    return withstood["push.impulse"], push.impulse(push.azimuth, hips=False, steps=steps), push.limit.steps


def main(folder: str | Path) -> None:
    """Print medians over replicas, in Markdown, a line as soon as it is known."""
    print("| map | direction | replicas | withstood | limit, own steps | share | limit, usual steps | share |")
    print("|---|---|---|---|---|---|---|---|")
    with Study.read(folder) as study:
        trials = study.frame()
        maps = trials.get("feet", pd.Series("", trials.index, name="feet"))
        for (feet, direction), condition in trials.groupby([maps, "direction"]):
            found = [of_replica(study, tried) for _, tried in condition.groupby("replica")]
            rows = pd.DataFrame([one for one in found if one], columns=["withstood", "own", "usual"])
            if not len(rows):
                continue
            of_own, of_usual = (100 * (rows["withstood"] / rows[name]).median() for name in ("own", "usual"))
            withstood, own, usual = rows.median()
            limits = f"{own:.0f} | {of_own:.0f} % | {usual:.0f} | {of_usual:.0f} %"
            print(f"| {feet} | {direction:g}° | {len(rows)} | {withstood:.1f} | {limits} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
