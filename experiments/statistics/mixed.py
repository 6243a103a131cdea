"""Linear mixed-effects models of trials: differences between groups or conditions, with random subject effects."""

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from biped.errors import BipedError, InputError
from biped.inputs.extras import need
from experiments.statistics.table import measured_trials
from experiments.studies.proportion import CONFIDENCE

if TYPE_CHECKING:
    import pandas as pd

#: Optimizers, tried in turn until one converges; the last uses no gradient, which does not exist at the boundary.
METHODS = ("bfgs", "lbfgs", "cg", "powell")
#: Variance between subjects, as a fraction of the residual variance, below which it counts as zero.
BOUNDARY = 1e-6


class NotConvergedError(BipedError, ArithmeticError):
    """A mixed model could not be fitted; the message gives the reason and a remedy."""


def mixed_effects(
    table: "pd.DataFrame", metric: str, factor: str, subject: str, reference: Any = None, within: bool = False
) -> "pd.DataFrame":
    """Estimate differences between levels of a factor by a linear mixed-effects model with random subjects (REML).

    Each subject has a random offset. With ``within`` and several trials of a subject at a level, each level also has a
    random effect, so that trials do not count as subjects. Intervals and p-values use Student's distribution. Its
    degrees of freedom are the number of subjects minus the number of levels, or, with ``within``, minus one. For equal
    numbers of trials, intervals and p-values equal those of Student's test of the subjects' means.

    Args:
        table: table with a row for each trial.
        metric: column of numbers.
        factor: column of the groups, or of the conditions.
        subject: column that names the subject of a trial.
        reference: level with which the others are compared; None: the first in sorted order.
        within: True if the levels are conditions of the same subjects; False if they are groups of subjects.

    Returns:
        A row for each other level: ``level``, ``against``, ``difference``, ``low`` and ``high`` (95 %), ``chance`` (the
        p-value), ``subjects``, and ``at_boundary``: True if a variance between subjects was estimated as zero.

    Raises:
        InputError: a column is missing, there are too few levels or subjects, or each subject has a single trial.
        MissingExtraError: statsmodels is not installed.
        NotConvergedError: the fit did not converge, or is singular.
    """
    import pandas as pd
    from scipy.stats import t as student

    need("statsmodels")
    trials = measured_trials(table, metric, [factor, subject])
    levels = ordered_levels(trials, factor, reference)
    people = trials[subject].nunique()
    freedom = people - 1 if within else people - len(levels)
    cells = len(trials[[subject, factor]].drop_duplicates())
    if freedom < 1 or len(trials) == people:
        raise InputError(
            f"{people} subjects with {len(trials)} trials: a mixed model needs more subjects, or more trials of each"
        )
    spread = trials[metric].std()
    if not spread > 1e-12 * trials[metric].abs().max():
        raise InputError(f"{metric} is the same in all trials: a mixed model needs values that vary")
    design = np.column_stack(
        [np.ones(len(trials)), *((trials[factor] == level).to_numpy(float) for level in levels[1:])]
    )
    random = design if within and len(trials) > cells else design[:, :1]
    scaled = ((trials[metric] - trials[metric].mean()) / spread).to_numpy()
    model = _fitted(scaled, design, trials[subject].to_numpy(), random)
    estimates, errors = model.fe_params[1:] * spread, model.bse_fe[1:] * spread
    reach = student.ppf(0.5 + CONFIDENCE / 2.0, freedom) * errors
    return pd.DataFrame(
        {
            "level": levels[1:],
            "against": levels[0],
            "difference": estimates,
            "low": estimates - reach,
            "high": estimates + reach,
            "chance": 2.0 * student.sf(np.abs(estimates / errors), freedom),
            "subjects": people,
            "at_boundary": bool(np.linalg.eigvalsh(model.cov_re).min() < BOUNDARY * model.scale),
        }
    )


def ordered_levels(trials: "pd.DataFrame", factor: str, reference: Any = None) -> list[Any]:
    """Return the levels of a factor, the reference first; raises InputError unless there are two and it is known."""
    levels = sorted(trials[factor].unique().tolist())
    if len(levels) < 2:
        raise InputError(f"{factor} is {levels[0]!r} in all trials: a comparison needs two or more levels")
    if reference is not None and reference not in levels:
        raise InputError(f"{factor}: no level {reference!r}; levels are {', '.join(map(str, levels))}")
    first = levels[0] if reference is None else reference
    return [first, *(level for level in levels if level != first)]


def _fitted(values: Any, design: Any, subjects: Any, random: Any) -> Any:
    from statsmodels.regression.mixed_linear_model import MixedLM
    from statsmodels.tools.sm_exceptions import ModelWarning

    with warnings.catch_warnings():
        # Convergence and a solution at the boundary are checked below.
        warnings.simplefilter("ignore", ModelWarning)
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            model = MixedLM(values, design, groups=subjects, exog_re=random).fit(reml=True, method=list(METHODS))
        except np.linalg.LinAlgError as error:
            raise NotConvergedError(
                f"the mixed model is singular ({error}): it needs more subjects, or fewer levels"
            ) from error
    if not model.converged:
        raise NotConvergedError("the mixed model did not converge: it needs more subjects or trials, or fewer levels")
    if not (np.isfinite(model.fe_params).all() and (model.bse_fe > 0.0).all()):
        raise NotConvergedError("the mixed model has no standard errors: it needs more subjects or trials")
    return model
