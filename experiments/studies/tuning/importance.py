"""Importance of the variables of a tuning: PED-ANOVA (Watanabe, Bansal and Hutter 2023), computed by Optuna."""

import math
from collections.abc import Sequence

from biped.inputs.extras import need
from experiments.studies.tuning.descents import Start
from experiments.studies.tuning.design_variable import DesignVariable
from experiments.studies.tuning.optimizers import add_known, distributions, new_study
from experiments.studies.tuning.tuner import Evaluation

#: Fraction of the candidates that count as good.
GOOD = 0.1
#: Least number of candidates for which importances are computed.
LEAST = 50


def importances(
    variables: Sequence[DesignVariable], evaluations: Sequence[Evaluation], objective: int = 0
) -> dict[str, float]:
    """Return the importance of each variable for belonging to the best tenth of the candidates; the sum is one.

    The result is empty if there are fewer than ``LEAST`` candidates, or if too many have equal costs.
    """
    costs = sorted(evaluation.score.costs[objective] for evaluation in evaluations)
    if len(evaluations) < LEAST or costs[math.ceil(GOOD * len(costs)) - 1] == costs[-1]:
        return {}
    need("optuna")
    import optuna

    study = new_study(None, 1)
    ranges = distributions(variables)
    for evaluation in evaluations:
        add_known(study, ranges, Start(evaluation.candidate.point, (evaluation.score.costs[objective],)))
    evaluator = optuna.importance.PedAnovaImportanceEvaluator(target_quantile=GOOD)
    values = optuna.importance.get_param_importances(study, evaluator=evaluator)
    return {name: float(value) for name, value in values.items()}
