"""``biped tune``: find gains that serve better, and prove it on fresh replicas."""

from argparse import Namespace
from pathlib import Path

from experiments.cli.main import Parser
from experiments.commands.study import STOPPING, config_of, run, study_parser

_DESCRIPTION = """\
Tune any parameters, such as the controller's gains, against weighted metrics over a set of disturbances. The winner is
compared with the experiment's own values on replicas that the tuning has not seen, and is called one only if it is."""

_EXAMPLES = f"""\
a file:
  experiment = "thrown-block"
  seed = 1

  [tune]
  optimizer = "cma"           # cma, lbfgs, optuna-tpe, optuna-cmaes, optuna-nsga2, sobol, random
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

  # [tune.targets]            # or, in place of objectives, statistics of people with standard deviations
  # cop_rms_distance_ap = {{ value = 5.2, sd = 1.8, unit = "mm" }}

  [[limit]]
  metric = "foot_slip"
  fell = "measured"           # what a fall counts as has to be said, a number or what was measured
  failed = 1.0
  at_most = 1.0
  of = "baseline"

examples:
  biped tune tune.toml
  biped tune tune.toml --out results/mine --workers 8
  biped run thrown-block --gains results/tune/tune/best.toml

{STOPPING}
docs/tune.md says all that a file can hold.
Exit status: 0 done, also where no winner is confirmed; 2 bad input, 130 interrupted.
"""


def parser() -> Parser:
    return study_parser("tune", _DESCRIPTION, _EXAMPLES, "the tuning")


def main(options: Namespace) -> int:
    from experiments.studies.tuning.tuning import tuning_from

    tuning = tuning_from(config_of(options), Path(options.file).stem)
    return run(tuning, options, tuning.name)
