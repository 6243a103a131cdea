"""``biped threshold``: how large any parameter of any experiment may be, from a file."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.cli.main import Parser
from experiments.commands.threshold_options import STATUS, add_run_options, carry_out

if TYPE_CHECKING:
    from experiments.studies.threshold.findings import Findings

NAME = "threshold"

_DESCRIPTION = """\
How large may a parameter be for the human to recover? A file says which parameter of which experiment, between which
values, under which conditions, and how replicas differ. The threshold of a replica is the least value tried at which
it does not recover, found by a ladder of values and a bisection; the threshold of a condition is the median over
replicas, with an interval that no single trajectory can move it out of."""

_EXAMPLES = f"""\
a file:
  experiment = "thrown-block"
  replicas = 21                                    # seed = 0, confidence = 0.95, count_stepping = false

  [dial]
  parameter = "block.mass"                         # harder as it grows; factor = -1 where it is the other way
  label = "mass of the block"

  [ladder]
  from = 0.5
  to = 5.0
  by = 0.5                                         # tolerance = by / 16, limit = 16 × (to − from)

  [set]
  initial.jitter = 0.005

  [[scatter]]
  parameters = ["initial.seed"]
  kind = "seed"                                    # or factor, normal, uniform, with a width

  [[condition]]
  labels.friction = "as published"
  [[condition]]
  labels.friction = "low"
  set."floor.mu_s" = 0.4
  set."floor.mu_d" = 0.35

examples:
  biped threshold block-mass.toml
  biped threshold block-mass.toml --out results/mass --workers 2

{STATUS}
"""


def parser() -> argparse.ArgumentParser:
    """The options."""
    own = Parser(prog=f"biped {NAME}", description=_DESCRIPTION, epilog=_EXAMPLES,
                 formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    own.add_argument("file", metavar="FILE", help="what is asked, a TOML file")
    add_run_options(own)
    return own


def main(argv: Sequence[str]) -> int:
    """Do what the command line after ``threshold`` says; the exit status."""
    from experiments.studies.store.config import read_config
    from experiments.studies.threshold.plan import plan_from

    options = parser().parse_args(argv)
    plan = plan_from(read_config(options.file))
    name = Path(options.file).stem

    def show(findings: "Findings", folder: Path) -> list[Path]:
        from experiments.visualization.studies.threshold_figure import draw_findings
        from experiments.visualization.studies.threshold_output import print_findings, write_tables

        print_findings(findings, plan.experiment)
        files = write_tables(findings, folder, NAME)
        if not options.no_figures:
            files.append(draw_findings(findings, folder / f"{NAME}.png", f"{plan.experiment}: {name}"))
        return files

    return carry_out(plan, NAME, Path(options.out or Path("results") / NAME / name), options, show)
