"""``biped block-speed``: how fast a block may be thrown at the human's back."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

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
    from experiments.studies.threshold.findings import Findings
    from experiments.studies.threshold.plan import Plan

NAME = "block-speed"
EXPERIMENT = "thrown-block"
USUAL = Effort(start=4.0, stop=6.0, by=0.05, replicas=40, tolerance=0.0125)
QUICK = Effort(start=4.0, stop=6.0, by=0.2, replicas=12, tolerance=0.05)
#: [m/s] what the thesis throws it with (Wendlandt 1997, 4.3, experiment 2).
PUBLISHED = 4.5
#: [m] how much farther off a replica's block may start: 0.01 m are 2 ms, a control period, at 5 m/s.
PHASE = 0.01

_DESCRIPTION = """\
The thesis's human stands up to a block of 1.8 kg thrown at its back with 4.5 m/s, and "can not recover if the velocity
of the projectile is too large" (Wendlandt 1997, 4.3). How large is that? Many replicas of the experiment, with
scattered joint angles, floors and times of the hit, are searched for the least speed at which each falls."""

_EXAMPLES = f"""\
examples:
  biped block-speed                                the thesis's gains
  biped block-speed --quick                        in seconds
  biped block-speed --gains my-gains.toml --set block.mass=2.5
  biped block-speed --by 0.02 --replicas 80        a finer look

{STATUS}
"""


def parser() -> argparse.ArgumentParser:
    """The options."""
    own = Parser(prog=f"biped {NAME}", description=_DESCRIPTION, epilog=_EXAMPLES,
                 formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    add_experiment_options(own)
    add_run_options(own)
    add_search_options(own, USUAL, QUICK, "m/s")
    return own


def main(argv: Sequence[str]) -> int:
    """Do what the command line after ``block-speed`` says; the exit status."""
    options = parser().parse_args(argv)
    folder = Path(options.out or Path("results") / NAME / name_of_gains(options))

    def show(findings: "Findings", folder: Path) -> list[Path]:
        from experiments.visualization.studies.threshold_figure import draw_findings
        from experiments.visualization.studies.threshold_output import print_findings, write_tables

        print_findings(findings, "Thrown block")
        files = write_tables(findings, folder, NAME)
        if not options.no_figures:
            title = f"A block thrown at the human's back: {folder.name}"
            marks = {f"published, {PUBLISHED:g} m/s: recovers": PUBLISHED}
            files.append(draw_findings(findings, folder / f"{NAME}.png", title, marks))
        return files

    return carry_out(plan_of(options), NAME, folder, options, show)


def plan_of(options: argparse.Namespace) -> "Plan":
    """The study that the options ask for.

    Raises:
        InputError: they are impossible.
    """
    from experiments.catalogue.registry import experiment_named
    from experiments.studies.threshold.plan import Dial, Plan
    from experiments.studies.threshold.presets import start_and_floor
    from experiments.studies.threshold.replicas import Scatter

    experiment = experiment_named(EXPERIMENT)
    changes, scatters = start_and_floor(changes_throughout(experiment, options))
    ladder, replicas = effort(options, USUAL, QUICK)
    return Plan(
        experiment=EXPERIMENT,
        dial=Dial("block.velocity[0]", -1.0, "speed of the block", "m/s"),
        ladder=ladder,
        changes=changes,
        scatters=(*scatters, Scatter(("block.position[0]",), "uniform", PHASE)),
        replicas=replicas,
        seed=options.seed,
        count_stepping=options.count_stepping,
        confidence=options.confidence,
    )
