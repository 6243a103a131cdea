"""``biped tune``: find gains that serve better, and prove it on fresh replicas."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from experiments.cli.main import Parser, announce
from experiments.commands.study_options import STOPPING, add_options, executor_of, stopped

_DESCRIPTION = """\
Tune any parameters, such as the controller's gains, against weighted metrics over a set of disturbances. The winner is
compared with the experiment's own values on replicas that the tuning has not seen, and is called one only if it is."""

_EXAMPLES = f"""\
a file:
  experiment = "thrown-block"
  seed = 1

  [tune]
  optimizer = "cma"           # cma, optuna-tpe, optuna-cmaes, optuna-nsga2, sobol, random
  candidates = 200            # sets of values to try
  batch = 16                  # asked for at a time; the result depends on it, and not on --workers
  replicas = 2                # jittered starts of each scenario
  confirm = 32                # fresh ones, for the comparison

  [[parameter]]               # one number to vary
  name = "stiffness xy"
  sets = ["controller.kp_position[0]", "controller.kp_position[1]"]
  from = 10.0
  to = 400.0
  scale = "log"

  [[parameter]]
  name = "damping xy"
  sets = ["controller.kd_position[0]", "controller.kd_position[1]"]
  as = "damping-ratio"        # of the stiffness beside it
  from = 0.2
  to = 1.5

  [[scenario]]                # one for each value in the list
  name = "block"
  each = {{ "block.mass" = [1.8, 2.1, 2.4] }}

  [[objective]]               # several are a Pareto front
  goal = "maximize"
  metric = "recovered"

  [[limit]]
  metric = "foot_slip"
  fell = "measured"           # what a fall counts as has to be said, a number or what was measured
  failed = 1.0
  at_most = 1.0
  of = "baseline"

examples:
  biped tune tune.toml
  biped tune tune.toml --out results/mine --workers 8
  biped tune tune.toml --storage sqlite:///tune.db --out results/first    one of several processes
  biped run thrown-block --gains results/tune/tune/best.toml

{STOPPING}
docs/tune.md says all that a file can hold, and how processes share a storage.
Exit status: 0 done, also where no winner is confirmed; 2 bad input, 130 interrupted.
"""


def parser() -> argparse.ArgumentParser:
    """The options of ``biped tune``."""
    own = Parser(
        prog="biped tune",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    own.add_argument("file", metavar="FILE", help="the tuning, a TOML file")
    own.add_argument("--out", metavar="DIR", help="folder for the results (default: results/tune/NAME)")
    add_options(own)
    own.add_argument(
        "--storage", metavar="URL", help="of Optuna, a database or a journal's path: tune together with other processes"
    )
    own.add_argument("--no-figures", action="store_true", help="draw no figures")
    return own


def main(argv: Sequence[str]) -> int:
    """Do what the command line after ``tune`` says; the exit status."""
    return run(parser().parse_args(argv))


def run(options: argparse.Namespace) -> int:
    """Tune, confirm, print and write; the exit status."""
    from experiments.cli.output import writable_folder
    from experiments.cli.progress import ProgressBar
    from experiments.cli.terminal import terminal
    from experiments.studies.tuning.config import load_tuning
    from experiments.studies.tuning.output import write_results
    from experiments.studies.tuning.report import print_tuning
    from experiments.studies.tuning.session import open_tuning, run_tuning, trials_of
    from experiments.studies.tuning.tuner import Tuned

    tuning = load_tuning(options.file)
    executor = executor_of(options)
    folder = writable_folder(options.out or Path("results") / "tune" / tuning.name)
    study = open_tuning(tuning, folder, options.storage)
    total = trials_of(tuning)
    bar = ProgressBar(total, "tuning", "trials", begun=len(study.finished), counts=True)

    def watch(tuned: Tuned) -> None:
        bar.say(f"tuning, {tuned.in_words}")

    try:
        with study, bar:
            outcome = run_tuning(tuning, study, executor, bar, watch, announce)
    except (KeyboardInterrupt, OSError) as error:
        return stopped(study, error, total)
    files = write_results(tuning, outcome, folder)
    if not options.no_figures:
        from experiments.visualization.studies.tuning_figures import draw_tuning

        files += draw_tuning(tuning, outcome, folder)
    print_tuning(tuning, outcome, files, folder, terminal())
    return 0
