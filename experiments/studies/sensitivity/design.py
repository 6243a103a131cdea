"""Which points of the knobs are run: Morris's trajectories, Saltelli's matrices for Sobol's indices."""

from typing import Any

import numpy as np

from biped.extras import need
from contact.arrays import Floats
from experiments.studies.seeds import seed_of
from experiments.studies.sensitivity.config import MORRIS, Sensitivity
from experiments.studies.tuning.plan import Candidate


def problem_of(sensitivity: Sensitivity) -> dict[str, Any]:
    """The problem as SALib takes it, in shares of each knob's range."""
    names = [knob.name for knob in sensitivity.plan.knobs]
    return {"num_vars": len(names), "names": names, "bounds": [[0.0, 1.0]] * len(names)}


def shares_of(sensitivity: Sensitivity) -> Floats:
    """(points, knobs) shares of the knobs' ranges; the same each time."""
    need("SALib")
    from SALib.sample import morris, sobol

    seed = seed_of(sensitivity.plan.seed, "design") % 2**32
    problem = problem_of(sensitivity)
    if sensitivity.method == MORRIS:
        found = morris.sample(problem, sensitivity.samples, num_levels=sensitivity.levels, seed=seed)
    else:
        found = sobol.sample(problem, sensitivity.samples, calc_second_order=sensitivity.second_order, seed=seed)
    return np.asarray(found, dtype=float)


def block_of(sensitivity: Sensitivity) -> int:
    """Points that belong together: a trajectory, or a row of all matrices."""
    count = len(sensitivity.plan.knobs)
    if sensitivity.method == MORRIS:
        return count + 1
    return 2 * count + 2 if sensitivity.second_order else count + 2


def candidates_of(sensitivity: Sensitivity) -> list[Candidate]:
    """The points, numbered from 1 on as the candidates of a tuning are."""
    plan = sensitivity.plan
    return [
        plan.candidate(
            number, {knob.name: knob.from_unit(float(share)) for knob, share in zip(plan.knobs, row, strict=True)}
        )
        for number, row in enumerate(shares_of(sensitivity), start=1)
    ]
