"""Linear mixed-effects models of trials: what differs between groups or conditions, and what between subjects."""

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from biped.errors import BipedError, InputError
from biped.inputs.extras import need
from experiments.statistics.table import measured_trials
from experiments.studies.proportion import CONFIDENCE

if TYPE_CHECKING:
    import pandas as pd

#: Tried one after the other until one converges; the last needs no gradient, which is none at the boundary.
METHODS = ("bfgs", "lbfgs", "cg", "powell")
#: Of the residual variance: a variance between subjects below is none.
BOUNDARY = 1e-6


class NotConvergedError(BipedError, ArithmeticError):
    """A mixed model that could not be fitted; the message says why, and what would help."""


def mixed_effects(
    table: "pd.DataFrame", metric: str, factor: str, subject: str, reference: Any = None, within: bool = False
) -> "pd.DataFrame":
    """Differences of a factor's levels from one of them, with subjects as random effects, by restricted likelihood.

    Each subject has an offset of its own; with ``within``, where subjects have several trials of a level, also its own
    effect of each level, so that trials are not taken for subjects. Intervals and probabilities are by Student's
    distribution with as many degrees of freedom as subjects allow: subjects less levels between groups, subjects less
    one within. Of as many trials of each subject they are those of Student's test of the subjects' means.

    Args:
        table: a row for each trial.
        metric: a column of numbers.
        factor: the column of the groups, or of the conditions.
        subject: the column that says whose trial it is.
        reference: the level from which the others differ; the first in order, if None.
        within: whether each subject is in several levels.

    Returns:
        A row for each other level: ``level``, ``against``, ``difference``, ``low`` and ``high`` (95 %), ``chance``,
        ``subjects``, and ``at_boundary``: whether a variance between subjects was estimated as none.

    Raises:
        InputError: a column is not there, there are too few levels or subjects, or each subject has one trial only.
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
            f"{people} subjects with {len(trials)} trials: a mixed model needs more subjects, and trials of each"
        )
    spread = trials[metric].std()
    if not spread > 1e-12 * trials[metric].abs().max():
        raise InputError(f"{metric} does not vary")
    design = np.column_stack(
        [np.ones(len(trials)), *((trials[factor] == level).to_numpy(float) for level in levels[1:])]
    )
    random = design if within and len(trials) > cells else design[:, :1]
    scaled = ((trials[metric] - trials[metric].mean()) / spread).to_numpy()
    found = _fitted(scaled, design, trials[subject].to_numpy(), random)
    estimates, errors = found.fe_params[1:] * spread, found.bse_fe[1:] * spread
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
            "at_boundary": bool(np.linalg.eigvalsh(found.cov_re).min() < BOUNDARY * found.scale),
        }
    )


def ordered_levels(trials: "pd.DataFrame", factor: str, reference: Any = None) -> list[Any]:
    """The values of a factor, the reference first; raises InputError for fewer than two, or an unknown reference."""
    levels = sorted(trials[factor].unique().tolist())
    if len(levels) < 2:
        raise InputError(f"{factor} is {levels[0]!r} in all trials: a comparison needs two levels or more")
    if reference is not None and reference not in levels:
        raise InputError(f"{factor}: no level {reference!r}; levels are {', '.join(map(str, levels))}")
    first = levels[0] if reference is None else reference
    return [first, *(level for level in levels if level != first)]


def _fitted(values: Any, design: Any, subjects: Any, random: Any) -> Any:
    from statsmodels.regression.mixed_linear_model import MixedLM
    from statsmodels.tools.sm_exceptions import ModelWarning

    with warnings.catch_warnings():
        # Whether it converged, and lies on the boundary, is asked below, and told.
        warnings.simplefilter("ignore", ModelWarning)
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            found = MixedLM(values, design, groups=subjects, exog_re=random).fit(reml=True, method=list(METHODS))
        except np.linalg.LinAlgError as error:
            raise NotConvergedError(
                f"the mixed model is singular ({error}): it needs more subjects, or fewer levels"
            ) from error
    if not found.converged:
        raise NotConvergedError("the mixed model did not converge: it needs more subjects or trials, or fewer levels")
    if not (np.isfinite(found.fe_params).all() and (found.bse_fe > 0.0).all()):
        raise NotConvergedError("the mixed model has no standard errors: it needs more subjects or trials")
    return found
