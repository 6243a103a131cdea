"""Findings of a study of thresholds while it is running: condition by condition, as they come."""

from collections.abc import Mapping

from biped.errors import InputError
from experiments.studies.counting import withstood
from experiments.studies.store.folder import Study
from experiments.studies.threshold.findings import Finding, Findings
from experiments.studies.threshold.search import Query, next_values
from experiments.studies.threshold.threshold import Threshold
from experiments.studies.trial import Result


def findings_so_far(plan: Threshold, study: Study) -> Findings:
    """The findings of those conditions all of whose replicas were tried on the whole grid, as sharp as known by now.

    Of a study that is finished they are what it found.

    Raises:
        InputError: there is no such condition yet.
    """
    results = study.results()
    found = []
    for number, condition in enumerate(plan.conditions):
        ended = [_known(plan, results, number, replica) for replica in range(plan.replicas)]
        if all(ended):
            found.append(Finding(condition, plan, [_told(plan, one) for one in ended], ended))
    if not found:
        raise InputError(f"{study.folder}: no condition has been tried at all values of the grid")
    return Findings(plan, tuple(found))


def _known(plan: Threshold, results: Mapping[int, Result], condition: int, replica: int) -> dict[float, str]:
    """By value, the verdicts of all rounds of the search that are complete."""
    known: dict[float, str] = {}
    while values := next_values(_told(plan, known), plan.grid):
        queries = [Query(condition, replica, len(known) + k, value) for k, value in enumerate(values)]
        numbers = [plan.number(query) for query in queries]
        if any(number not in results for number in numbers):
            break
        known |= {value: str(results[number]["verdict"]) for value, number in zip(values, numbers, strict=True)}
    return known


def _told(plan: Threshold, ended: Mapping[float, str]) -> dict[float, bool | None]:
    return {value: withstood(verdict, plan.losses) for value, verdict in ended.items()}
