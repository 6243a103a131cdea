"""``biped sweep``: run an experiment at all combinations of some parameters' values."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.cli.main import Parser, announce, fail
from experiments.commands.study_options import STOPPING, add_options, executor_of, stopped

if TYPE_CHECKING:
    import pandas as pd

    from experiments.studies.execution.executors import Executor
    from experiments.studies.store.folder import Study
    from experiments.studies.sweep.plan import Plan

FIGURE = "sweep.png"
FAILED = 1

_DESCRIPTION = """\
Run an experiment at all combinations of some parameters' values: a table of all trials, a summary, and a figure."""

_EXAMPLES = f"""\
a file:
  experiment = "thrown-block"
  replicas = 10                    # of each combination, from scattered starts
  seed = 1                         # of replicas and samples
  metrics = ["settling_time", "peak_torque_*"]   # all, if left out

  [set]                            # what all trials have in common
  run.duration = 4.0
  initial.jitter = 0.02

  [vary]                           # lists or ranges: all combinations are run
  floor.mu_s = [0.6, 0.8, 1.0]
  "block.velocity[0]" = {{ from = -6.0, to = -3.0, count = 7 }}
  block.mass = {{ from = 0.5, to = 5.0, count = 5, scale = "log" }}

  [vary.together]                  # lists of the same length, side by side
  controller.kp_orientation = [30.0, 50.0, 80.0]
  controller.kd_orientation = [10.95, 14.14, 17.89]

  [vary.sample]                    # random points: sobol or latin-hypercube
  method = "sobol"
  count = 64
  floor.k_n = {{ from = 2e4, to = 2e5, scale = "log" }}

examples:
  biped sweep examples/sweep.toml
  biped sweep examples/sweep.toml --out results/mine --workers 8
  biped sweep examples/sweep.toml --backend dask --scheduler tcp://10.0.0.1:8786
  biped show thrown-block                    all parameters that can be varied
  biped rerun results/sweep/sweep 17         one trial again, with everything recorded

{STOPPING}
The folder gets study.json, trials.parquet (a row for each trial) and {FIGURE}.
Exit status: 0 done (a fall is a result), 1 some trials could not be computed, 2 bad input or a file that cannot be
written, 130 interrupted.
"""


def parser() -> argparse.ArgumentParser:
    """The options of ``biped sweep``."""
    own = Parser(
        prog="biped sweep",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    own.add_argument("file", metavar="FILE.toml", help="what is varied")
    own.add_argument("--out", metavar="DIR", help="folder for the study (default: results/sweep/FILE)")
    add_options(own)
    own.add_argument("--no-figures", action="store_true", help="draw no figure")
    return own


def main(argv: Sequence[str]) -> int:
    """Do what the command line after ``sweep`` says; the exit status."""
    options = parser().parse_args(argv)
    from experiments.studies.sweep.plan import load_plan
    from experiments.studies.sweep.run import open_study

    executor = executor_of(options)
    plan = load_plan(options.file)
    folder = Path(options.out or Path("results") / "sweep" / Path(options.file).stem)
    study = open_study(plan, folder)
    try:
        with study:
            frame = _run(plan, study, executor)
    except (KeyboardInterrupt, OSError) as error:
        return stopped(study, error, plan.total)
    return report(plan, frame, folder, draw=not options.no_figures)


def _run(plan: "Plan", study: "Study", executor: "Executor") -> "pd.DataFrame":
    from experiments.cli.progress import ProgressBar
    from experiments.studies.sweep.run import run_plan

    done = len(study.finished)
    if done:
        announce(f"{done} of {plan.total} trials are in {study.folder} already")
    with ProgressBar(plan.total, "sweeping", "trials", begun=done, counts=True) as bar:
        return run_plan(plan, study, executor, bar, announce)


def report(plan: "Plan", frame: "pd.DataFrame", folder: Path, *, draw: bool) -> int:
    """Print the summary and draw the figure; the exit status."""
    from rich.text import Text

    from experiments.cli.terminal import terminal
    from experiments.studies.store.folder import HEADER, TABLE
    from experiments.studies.sweep.summary import print_summary

    files = [TABLE, HEADER]
    if draw:
        from experiments.visualization.studies.sweep_figure import draw_sweep

        draw_sweep(plan, frame, folder / FIGURE)
        files.append(FIGURE)
    print_summary(plan, frame)
    terminal().print(Text(f"\n{folder}/  {', '.join(files)}", style="cyan"))
    failed = frame[frame["verdict"] == "failed"]
    if len(failed):
        first = failed.iloc[0]
        return fail(
            f"{len(failed)} of {len(frame)} trials could not be computed; the first is {first['trial']}: "
            f"{first['failure']}: {first['message']}",
            FAILED,
        )
    return 0
