"""Which knobs a tuning's success depended on: PED-ANOVA (Watanabe, Bansal and Hutter 2023), as Optuna computes it."""

import math
from collections.abc import Sequence

from biped.extras import need
from experiments.studies.tuning.design_variable import Knob
from experiments.studies.tuning.optimizers import Start, add_known, distributions, new_study
from experiments.studies.tuning.tuner import Tried

#: The share of candidates that counts as good.
GOOD = 0.1
#: With fewer candidates, nothing can be said.
LEAST = 50


def importances(knobs: Sequence[Knob], tried: Sequence[Tried], objective: int = 0) -> dict[str, float]:
    """The share of each knob in what sets the best tenth of the candidates apart from all of them; they sum to one.

    Whichever optimizer asked for the candidates: they are handed to a study of Optuna as they are. Empty where there
    are too few, or where nothing sets any apart.

    Args:
        knobs: all of them.
        tried: the candidates.
        objective: its place.
    """
    costs = sorted(one.score.costs[objective] for one in tried)
    if len(tried) < LEAST or costs[math.ceil(GOOD * len(costs)) - 1] == costs[-1]:
        return {}
    need("optuna")
    import optuna

    study = new_study(None, 1)
    ranges = distributions(knobs)
    for one in tried:
        add_known(study, ranges, Start(one.candidate.point, (one.score.costs[objective],)))
    evaluator = optuna.importance.PedAnovaImportanceEvaluator(target_quantile=GOOD)
    found = optuna.importance.get_param_importances(study, evaluator=evaluator)
    return {name: float(value) for name, value in found.items()}
