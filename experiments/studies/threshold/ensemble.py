"""The thresholds of an ensemble: all conditions and replicas are searched side by side, in rounds.

Nothing here knows of simulations: whoever calls gives a function that answers a whole round of questions.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from experiments.studies.threshold.grid import Ladder
from experiments.studies.threshold.search import wanted


class Question(NamedTuple):
    """Whether one replica recovers under one condition at one value.

    Attributes:
        condition: which, from 0.
        replica: which, from 0.
        turn: how many questions were asked about these two before.
        value: of the parameter.
    """

    condition: int
    replica: int
    turn: int
    value: float


#: Answers a round of questions, in their order.
Answer = Callable[[Sequence[Question]], Sequence[bool]]

#: ``outcomes[condition][replica][value]``: whether it recovered.
Ensemble = list[list[dict[float, bool]]]


def search(ladder: Ladder, conditions: int, replicas: int, answer: Answer) -> Ensemble:
    """Ask until every threshold is known to the ladder's tolerance.

    The questions about a replica under a condition depend on the answers to those about them alone, and neither on
    other replicas nor on the order in which a round is answered.
    """
    ensemble: Ensemble = [[{} for _ in range(replicas)] for _ in range(conditions)]
    while questions := _round(ensemble, ladder):
        for question, recovered in zip(questions, answer(questions), strict=True):
            ensemble[question.condition][question.replica][question.value] = recovered
    return ensemble


def _round(ensemble: Ensemble, ladder: Ladder) -> list[Question]:
    return [
        Question(c, r, len(outcomes) + k, value)
        for c, replicas in enumerate(ensemble)
        for r, outcomes in enumerate(replicas)
        for k, value in enumerate(wanted(outcomes, ladder))
    ]
