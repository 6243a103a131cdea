"""The cost of the human's step by the midpoint rule in generalized coordinates, beside the default integrator's."""

from collections.abc import Callable
from statistics import median

from biped.integrators import integrator_named
from experiments.benchmarks.scenes import FLIGHT, IMPEDANCE, WORKSPACE, Timed, flight, stance, stiff_stance
from experiments.benchmarks.sections import Column, Section
from experiments.benchmarks.timing import Spread, interleaved, ratios

#: The first is what the other is measured against.
INTEGRATORS = ("recursive", "midpoint")
#: [s]
STEPS = (5e-4, 1e-3)
MICROSECONDS = 1e6

#: Scene, step [s], integrator.
Case = tuple[str, float, str]


def cases(duration: float) -> dict[Case, Callable[[], Timed]]:
    scenes = {WORKSPACE: stance, IMPEDANCE: stiff_stance, FLIGHT: flight}
    return {
        (name, step, integrator): scene(step, duration, integrator=integrator_named(integrator))
        for name, scene in scenes.items()
        for step in STEPS
        for integrator in INTEGRATORS
    }


def integrators_section(duration: float, repeats: int) -> Section:
    """The same scenes by both, in turn."""
    usual, other = INTEGRATORS
    section = Section(
        "integrators",
        f"Cost of the human's step: {other} beside {usual}",
        (
            *(Column(usual, "µs"), Column(other, "µs"), Column("ratio"), Column("least"), Column("most")),
            *(Column(f"iterations, {usual}"), Column(f"iterations, {other}")),
        ),
        notes=[f"medians; ratio: {other} over {usual}, the median, least and most of pairs taken in turn"],
    )
    results = interleaved(cases(duration), repeats)
    for name, step, integrator in results:
        if integrator == usual:
            first, second = results[name, step, usual], results[name, step, other]
            times = [run.per_step for run in first], [run.per_step for run in second]
            against = Spread.of(ratios(times[1], times[0]))
            section.rows[f"{name}, {1e3 * step:g} ms"] = (
                *(MICROSECONDS * median(taken) for taken in times),
                *(against.median, against.least, against.most, first[0].newton_mean, second[0].newton_mean),
            )
    return section
