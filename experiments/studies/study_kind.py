"""The interface of a kind of study: which trials it plans, and its findings from their results."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

from experiments.catalogue.experiment import Experiment
from experiments.studies.trial import Result, Trial

if TYPE_CHECKING:
    from experiments.catalogue.parameters.parameter import Value
    from experiments.studies.store.folder import Study

#: Runs trials, or recalls them: the results by number.
Evaluate = Callable[[Sequence[Trial]], Mapping[int, Result]]
#: Called with a few words on how far a study is.
Say = Callable[[str], None]


class StudyKind(ABC):
    """One study of a kind, checked: the same one plans the same trials. To be made a frozen dataclass."""

    kind: str  # the name of the kind, as in ``registry.kinds()``
    experiment: Experiment
    seed: int  # of all that is random
    units: Mapping[str, str] = {}  # of labels, by column
    metrics: tuple[str, ...] | None = None  # those that are stored; None for all
    counts: tuple[str, ...] = ()  # verdicts that count as losses, if they are named
    reads_more: ClassVar[bool] = False  # whether its trials read more of their runs than metrics

    @property
    @abstractmethod
    def varied(self) -> tuple[str, ...]:
        """The parameters that differ between trials: columns of the table."""

    @property
    @abstractmethod
    def configuration(self) -> dict[str, Any]:
        """All that decides which trials there are, as JSON can hold it."""

    @classmethod
    @abstractmethod
    def from_configuration(cls, configuration: Mapping[str, Any]) -> Self:
        """The study of a configuration; raises InputError if it makes no sense."""

    @property
    @abstractmethod
    def likely_trials(self) -> int:
        """How many trials there are; where results decide, how many it usually takes."""

    def planned_trials(self, study: "Study") -> int | None:
        """How many trials there are when the study is done, where that is known."""
        return self.likely_trials

    def as_planned(self, trial: Trial) -> Trial:
        """A trial of given changes and labels with what else this kind of study reads of its run."""
        return trial

    @property
    def samples(self) -> "Sequence[Mapping[str, Value]]":
        """Changes of some trials, one for each integrator and each controller that there is."""
        return ({},)

    @abstractmethod
    def find(self, evaluate: Evaluate) -> Any:
        """The study's findings, from results of the trials that it asks for, in one round or several."""

    def check_first(self, evaluate: Evaluate) -> None:
        """Raise InputError if trials that are not stored say, before the study begins, that it makes no sense."""
        return

    def run(self, study: "Study", evaluate: Evaluate, say: Say) -> Any:
        """The findings of a study whose folder is open to be written."""
        return self.find(evaluate)

    def recall(self, study: "Study", evaluate: Evaluate) -> Any:
        """The findings from results that are there; ``evaluate`` raises InputError where one is missing."""
        return self.find(evaluate)

    def failure(self, findings: Any) -> str:
        """Return a sentence about trials that could not be computed, if that is an error of the study; else nothing."""
        return ""
