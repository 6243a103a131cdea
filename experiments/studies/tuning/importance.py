"""Importance of variables for a tuning: PED-ANOVA (Watanabe, Bansal and Hutter 2023), as Optuna computes it."""

import math
from collections.abc import Sequence

from biped.inputs.extras import need
from experiments.studies.tuning.descents import Start
from experiments.studies.tuning.design_variable import DesignVariable
from experiments.studies.tuning.optimizers import add_known, distributions, new_study
from experiments.studies.tuning.tuner import Evaluation

#: Fraction of the candidates that counts as good.
GOOD = 0.1
#: Least number of candidates.
LEAST = 50


def importances(
    variables: Sequence[DesignVariable], evaluations: Sequence[Evaluation], objective: int = 0
) -> dict[str, float]:
    """Return each variable's share in what distinguishes the best tenth of the candidates; they sum to one.

    The candidates of any optimizer are handed to a study of Optuna. Empty if there are too few, or if all are alike.
    """
    costs = sorted(one.score.costs[objective] for one in evaluations)
    if len(evaluations) < LEAST or costs[math.ceil(GOOD * len(costs)) - 1] == costs[-1]:
        return {}
    need("optuna")
    import optuna

    study = new_study(None, 1)
    ranges = distributions(variables)
    for one in evaluations:
        add_known(study, ranges, Start(one.candidate.point, (one.score.costs[objective],)))
    evaluator = optuna.importance.PedAnovaImportanceEvaluator(target_quantile=GOOD)
    found = optuna.importance.get_param_importances(study, evaluator=evaluator)
    return {name: float(value) for name, value in found.items()}
