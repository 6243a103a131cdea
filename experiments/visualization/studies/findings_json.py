"""What a study found, as JSON can hold it: the numbers that are printed, of each kind of study."""

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import pandas as pd

from experiments.studies.counting import shares
from experiments.studies.sensitivity.analysis import Indices
from experiments.studies.sensitivity.sensitivity import Sensitivity
from experiments.studies.study_kind import StudyKind
from experiments.studies.sweep.groups import factors_of, groups, proportion, successes_in
from experiments.studies.sweep.sweep import Sweep
from experiments.studies.threshold.findings import Findings
from experiments.studies.threshold.threshold import Threshold
from experiments.studies.tuning.output import summary
from experiments.studies.tuning.tuning import Outcome, Tuning


@singledispatch
def findings_json(plan: StudyKind, _findings: Any) -> Any:
    """What ``plan.find`` returns, in dictionaries, lists, tables and numbers."""
    raise TypeError(f"no findings are known of a {type(plan).__name__}")


_of_kind = findings_json.register


@_of_kind
def _of_sweep(plan: Sweep, findings: pd.DataFrame) -> list[dict[str, Any]]:
    """For each factor, and each of its values, the proportions of successes, and the trials of each verdict."""
    successes = successes_in(findings, plan.counts)
    return [
        {
            "parameter": factor.column,
            "value": group.value,
            "trials": len(group.trials),
            **{kind: proportion(group.trials["verdict"], losses).value for kind, losses in successes.items()},
            **shares(group.trials["verdict"].tolist()),
        }
        for factor in factors_of(plan)
        for group in groups(findings, factor.column)
    ]


@_of_kind
def _of_threshold(_plan: Threshold, findings: Findings) -> pd.DataFrame:
    return findings.frame()


@_of_kind
def _of_tuning(plan: Tuning, findings: Outcome) -> dict[str, Any]:
    return summary(plan, findings)


@_of_kind
def _of_sensitivity(_plan: Sensitivity, findings: Sequence[Indices]) -> list[dict[str, Any]]:
    return [
        {"metric": one.metric, "indices": one.table, "pairs": one.pairs, "remarks": list(one.remarks)}
        for one in findings
    ]
