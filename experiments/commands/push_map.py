"""``biped push-map``: how hard a push may be, over its direction."""

import argparse
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.cli.file_names import PUSH_MAP
from experiments.cli.main import Parser
from experiments.commands.threshold_options import (
    STATUS,
    Effort,
    add_experiment_options,
    add_run_options,
    add_search_options,
    carry_out,
    changes_throughout,
    effort,
    name_of_gains,
)

if TYPE_CHECKING:
    from experiments.catalogue.parameters.parameter import Values
    from experiments.studies.threshold.findings import Findings
    from experiments.studies.threshold.plan import Condition, Plan

EXPERIMENT = "balance"
DIRECTIONS, QUICK_DIRECTIONS = 24, 12
USUAL = Effort(start=0.0, stop=18.0, by=1.0, replicas=21, tolerance=0.125)
QUICK = Effort(start=0.0, stop=18.0, by=2.0, replicas=9, tolerance=0.25)
#: [s] how much later a replica's push may begin: many control periods.
PHASE = 0.05

_DESCRIPTION = """\
How hard can the human be pushed before it falls, and from where? For each direction, an ensemble of replicas - with
scattered joint angles, floors and times of the push - is searched for the impulse at which each first falls: a ladder
of impulses for all, then a bisection for each. The map is the median over replicas, with an interval that no single
trajectory can move it out of. Replicas are the same for all directions, and for all maps with the same seed."""

_EXAMPLES = f"""\
examples:
  biped push-map                                   the thesis's gains
  biped push-map --quick                           fewer directions and replicas
  biped push-map --gains tuned.toml --compare results/push-map/published
                                                   another map, over the first, and what changed
  biped push-map --heights 0.95 1.1 1.25           [m] where it is pushed; the trunk's centre of mass is at 1.1
  biped push-map --set push.duration=0.02 --set floor.mu_s=0.3 --set floor.mu_d=0.25

The folder gets trials.parquet, push-map.csv (a row for each direction), push-map-curves.csv (the share that recovers
at each impulse), push-map-replicas.csv (each replica's threshold) and push-map.png.
{STATUS}
"""


def parser() -> argparse.ArgumentParser:
    """The options."""
    own = Parser(prog=f"biped {PUSH_MAP}", description=_DESCRIPTION, epilog=_EXAMPLES,
                 formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    own.add_argument("--directions", metavar="N", type=int,
                     help=f"evenly around the human ({DIRECTIONS}; --quick {QUICK_DIRECTIONS})")  # fmt: skip
    own.add_argument("--heights", metavar="M", type=float, nargs="+", help="a map for each height of the push [m]")
    own.add_argument("--compare", metavar="STUDY", nargs="+", default=[],
                     help="folders of maps to draw this one over; changes are told against the first")  # fmt: skip
    add_experiment_options(own)
    add_run_options(own)
    add_search_options(own, USUAL, QUICK, "N·s")
    return own


def main(argv: Sequence[str]) -> int:
    """Do what the command line after ``push-map`` says; the exit status."""
    options = parser().parse_args(argv)
    folder = Path(options.out or Path("results") / PUSH_MAP / name_of_gains(options))
    plan = plan_of(options)
    others = _others(options.compare, plan)

    def show(findings: "Findings", folder: Path) -> list[Path]:
        from experiments.visualization.studies.push_map_output import show_map

        return show_map(findings, folder, others, draw=not options.no_figures)

    return carry_out(plan, PUSH_MAP, folder, options, show)


def plan_of(options: argparse.Namespace) -> "Plan":
    """The study that the options ask for.

    Raises:
        InputError: they are impossible.
    """
    from biped.errors import InputError
    from experiments.catalogue.registry import experiment_named
    from experiments.studies.threshold.plan import Dial, Plan
    from experiments.studies.threshold.presets import start_and_floor
    from experiments.studies.threshold.replicas import Scatter

    experiment = experiment_named(EXPERIMENT)
    given = changes_throughout(experiment, options)
    for name in ("push.azimuth", "push.impulse"):
        if name in given:
            raise InputError(f"--set {name}: a push map turns it itself; leave it out")
    changes, scatters = start_and_floor(given)
    ladder, replicas = effort(options, USUAL, QUICK)
    directions = options.directions
    if directions is None:
        directions = QUICK_DIRECTIONS if options.quick else DIRECTIONS
    return Plan(
        experiment=EXPERIMENT,
        dial=Dial("push.impulse", label="impulse"),
        ladder=ladder,
        conditions=conditions_of(directions, options.heights, experiment.values(changes)),
        changes=changes,
        scatters=(*scatters, Scatter(("push.start",), "uniform", PHASE)),
        replicas=replicas,
        seed=options.seed,
        count_stepping=options.count_stepping,
        confidence=options.confidence,
    )


def conditions_of(directions: int, heights: Sequence[float] | None, values: "Values") -> "tuple[Condition, ...]":
    """All directions, at each of the heights.

    Args:
        directions: how many.
        heights: [m] above the floor; None for where ``push.point`` says.
        values: of the experiment.

    Raises:
        InputError: fewer than three directions, a height that is there twice, or heights on another body.
    """
    from biped.errors import InputError
    from experiments.studies.threshold.directions import evenly
    from experiments.studies.threshold.plan import Condition

    if directions < 3:
        raise InputError(f"--directions {directions}: it must be at least 3")
    if heights is None:
        return tuple(Condition({"push.azimuth": math.radians(a)}, {"direction": a}) for a in evenly(directions))
    if len(set(heights)) != len(heights):
        raise InputError("--heights: each of them once")
    if values.word("push.body") != "trunk":
        raise InputError("--heights are places on the trunk: on another body, set push.point instead")
    return tuple(
        Condition(
            {"push.azimuth": math.radians(azimuth), "push.point[2]": height - values.number("initial.body_z")},
            {"height": height, "direction": azimuth},
        )
        for height in heights
        for azimuth in evenly(directions)
    )


def _others(folders: Sequence[str], plan: "Plan") -> "dict[str, Findings]":
    """The maps to compare with, by the names of their folders; read before anything is run.

    Raises:
        InputError: one is not there, not finished, or has other replicas.
    """
    from experiments.studies.threshold.findings import check_pairs, read_findings

    found = {}
    for folder in folders:
        findings = read_findings(folder)
        check_pairs(findings.plan, plan)
        found[Path(folder).name] = findings
    return found
