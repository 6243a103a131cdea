"""Interface of a kind of study: the trials that it plans, and its findings from their results."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

from experiments.catalogue.experiment import Experiment
from experiments.studies.trial import Result, Trial

if TYPE_CHECKING:
    from experiments.catalogue.parameters.parameter import Value
    from experiments.studies.store.folder import Study

#: Function that runs trials, or reads stored ones, and returns the results by the trials' numbers.
Evaluate = Callable[[Sequence[Trial]], Mapping[int, Result]]
#: Function that is called with a short text on a study's progress.
Say = Callable[[str], None]


class StudyKind(ABC):
    """Base class of studies. Subclasses are frozen dataclasses: equal studies plan equal trials."""

    kind: str  # name of the kind, as in ``registry.kinds()``
    experiment: Experiment
    seed: int  # seed of all random numbers
    units: Mapping[str, str] = {}  # units of labels, by column
    metrics: tuple[str, ...] | None = None  # stored metrics; None for all
    counts: tuple[str, ...] = ()  # verdicts that count as losses; empty for the usual ones
    reads_more: ClassVar[bool] = False  # True if trials read other data than metrics from their runs

    @property
    @abstractmethod
    def varied(self) -> tuple[str, ...]:
        """Names of the parameters that differ between trials; they are columns of the table of trials."""

    @property
    @abstractmethod
    def configuration(self) -> dict[str, Any]:
        """Data that determines all trials, of types that JSON has."""

    @classmethod
    @abstractmethod
    def from_configuration(cls, configuration: Mapping[str, Any]) -> Self:
        """Make a study from its configuration; raises InputError if it is wrong."""

    @property
    @abstractmethod
    def likely_trials(self) -> int:
        """Number of trials; the usual number if it depends on results."""

    def planned_trials(self, study: "Study") -> int | None:
        """Return the number of trials of the finished study; None if it is unknown."""
        return self.likely_trials

    def as_planned(self, trial: Trial) -> Trial:
        """Return a trial with the additional reads of its run that this kind of study needs."""
        return trial

    @property
    def samples(self) -> "Sequence[Mapping[str, Value]]":
        """Changes of sample trials, one for each integrator and controller."""
        return ({},)

    @abstractmethod
    def find(self, evaluate: Evaluate) -> Any:
        """Return the findings from the results of trials, which ``evaluate`` runs in one or several rounds."""

    def check_first(self, evaluate: Evaluate) -> None:
        """Raise InputError if a few trials before the study show that it makes no sense."""
        return

    def run(self, study: "Study", evaluate: Evaluate, say: Say) -> Any:
        """Return the findings of a study whose folder is open for writing."""
        return self.find(evaluate)

    def recall(self, study: "Study", evaluate: Evaluate) -> Any:
        """Return the findings from stored results; ``evaluate`` raises InputError if one is missing."""
        return self.find(evaluate)

    def failure(self, findings: Any) -> str:
        """Return a sentence on trials that could not be computed, if they spoil the study; otherwise an empty text."""
        return ""
