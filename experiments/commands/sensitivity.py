"""``biped sensitivity``: which parameters a metric depends on."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from experiments.cli.main import Parser, announce
from experiments.commands.study_options import STOPPING, add_options, executor_of, stopped

_DESCRIPTION = """\
Find which parameters a metric depends on, over the whole of their ranges: by Morris's elementary effects, which take
few trials and rank, or by Sobol's indices, which say what share of the metric's variance each one makes."""

_EXAMPLES = f"""\
a file:
  experiment = "thrown-block"
  seed = 1

  [set]
  run.step = 0.002

  [sensitivity]
  method = "morris"           # or "sobol"
  samples = 20                # trajectories; for sobol a power of two
  replicas = 1                # trials of a point, from jittered starts; their mean counts

  [[parameter]]               # one number to vary; "log" makes its decades even
  name = "friction"
  sets = "floor.mu_s"
  from = 0.5
  to = 1.0

  [[parameter]]
  name = "stiffness xy"
  sets = ["controller.kp_position[0]", "controller.kp_position[1]"]
  from = 10.0
  to = 400.0
  scale = "log"

  [[metric]]
  name = "foot_slip"
  fell = "dropped"            # leave out trajectories with a fall; or a number, or "measured" up to the fall

  [[metric]]
  name = "recovered"

examples:
  biped sensitivity sensitivity.toml
  biped sensitivity sensitivity.toml --out results/mine --workers 8

Morris takes (parameters + 1) × samples trials, Sobol (parameters + 2) × samples.
{STOPPING}
The folder gets study.json, trials.parquet, indices.csv and sensitivity.png.
Exit status: 0 done, 2 bad input or a file that cannot be written, 130 interrupted.
"""


def parser() -> argparse.ArgumentParser:
    """The options of ``biped sensitivity``."""
    own = Parser(
        prog="biped sensitivity",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    own.add_argument("file", metavar="FILE", help="the analysis, a TOML file")
    own.add_argument("--out", metavar="DIR", help="folder for the results (default: results/sensitivity/NAME)")
    add_options(own)
    own.add_argument("--no-figures", action="store_true", help="draw no figures")
    return own


def main(argv: Sequence[str]) -> int:
    """Do what the command line after ``sensitivity`` says; the exit status."""
    return run(parser().parse_args(argv))


def run(options: argparse.Namespace) -> int:
    """Run the trials, analyze, print and write; the exit status."""
    from experiments.cli.output import writable_folder
    from experiments.cli.progress import ProgressBar
    from experiments.cli.terminal import terminal
    from experiments.studies.sensitivity.config import load_sensitivity
    from experiments.studies.sensitivity.output import print_sensitivity, write_indices
    from experiments.studies.sensitivity.run import open_sensitivity, run_sensitivity, trials_of

    sensitivity = load_sensitivity(options.file)
    executor = executor_of(options)
    folder = writable_folder(options.out or Path("results") / "sensitivity" / sensitivity.name)
    study = open_sensitivity(sensitivity, folder)
    total = len(trials_of(sensitivity))
    bar = ProgressBar(total, "trying", "trials", begun=len(study.finished), counts=True)
    try:
        with study, bar:
            found = run_sensitivity(sensitivity, study, executor, bar, announce)
    except (KeyboardInterrupt, OSError) as error:
        return stopped(study, error, total)
    files = write_indices(found, folder)
    if not options.no_figures:
        from experiments.visualization.studies.sensitivity_figures import FIGURE, draw_sensitivity

        files += draw_sensitivity(sensitivity, found, folder / FIGURE)
    print_sensitivity(sensitivity, found, files, folder, terminal())
    return 0
