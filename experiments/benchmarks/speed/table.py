"""The one measuring loop of the benchmark: rows of works, timed in turn, and the numbers that come of their times."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from experiments.benchmarks.sections import Column, Section
from experiments.benchmarks.timing import Spread, interleaved, ratios

MICROSECONDS = 1e6
#: By label, what a row times: its own case, and what that is compared with. Rows may share what they compare with.
Rows = Mapping[str, Sequence[Callable[[], Any]]]
#: Makes a row's numbers of the repeated results of all its works, in their order.
Numbers = Callable[..., tuple[float, ...]]


@dataclass(frozen=True)
class Budget:
    """How much is measured."""

    repeats: int  # of everything that is timed, in turn
    duration: float  # [s] simulated in a closed loop
    chain_steps: int  # steps of a short chain; long ones take fewer
    race_steps: int  # steps of either engine before the other's turn
    quick: bool  # leave out the first compile and MuJoCo's settings that are slow

    @property
    def few(self) -> int:
        """Repeats of what takes seconds."""
        return min(self.repeats, 5)

    def of(self, quick: int, whole: int) -> int:
        """Return how much of something is measured."""
        return quick if self.quick else whole


def numbers_of(rows: Rows, numbers: Numbers, repeats: int) -> dict[str, tuple[float, ...]]:
    """Run the works of all rows in turn, each once to warm up, and return the rows' numbers."""
    results = interleaved({work: work for works in rows.values() for work in works}, repeats)
    return {label: numbers(*(results[work] for work in works)) for label, works in rows.items()}


def measured(
    name: str,
    title: str,
    columns: Sequence[Column],
    rows: Rows,
    numbers: Numbers,
    repeats: int,
    notes: Sequence[str] = (),
) -> Section:
    """Return a section whose rows have been measured."""
    return Section(name, title, tuple(columns), numbers_of(rows, numbers, repeats), list(notes))


def columns(*names: str, unit: str = "", form: str = ".2f") -> tuple[Column, ...]:
    """Return columns of the same unit and form."""
    return tuple(Column(name, unit, form) for name in names)


def spread_columns(unit: str = "µs", form: str = ".2f") -> tuple[Column, ...]:
    return columns("least", "median", "most", unit=unit, form=form)


def spread(values: Sequence[float], factor: float = 1.0) -> tuple[float, float, float]:
    """Return the least, the median and the most of values, times a factor."""
    scaled = Spread.of(values).scaled(factor)
    return scaled.least, scaled.median, scaled.most


def microseconds(times: Sequence[float]) -> tuple[float, float, float]:
    """Return the spread of times [s] in microseconds."""
    return spread(times, MICROSECONDS)


def compared(times: Sequence[float], others: Sequence[float]) -> tuple[float, float, float]:
    """Return the median, least and most of the ratios of times to others, of pairs taken in turn."""
    least, middle, most = spread(ratios(times, others))
    return middle, least, most


def in_microseconds(*times: Sequence[float]) -> tuple[float, ...]:
    """Return the medians of several lists of times [s] in microseconds."""
    return tuple(MICROSECONDS * median(taken) for taken in times)


def milliseconds(step: float) -> str:
    return f"{1e3 * step:g} ms"
