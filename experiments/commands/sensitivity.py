"""``biped sensitivity``: which parameters a metric depends on."""

from argparse import Namespace
from pathlib import Path

from experiments.cli.main import Parser
from experiments.commands.study import STOPPING, config_of, run, study_parser

_DESCRIPTION = """\
Find which parameters a metric depends on, over the whole of their ranges: by Morris's elementary effects, which take
few trials and rank, or by Sobol's indices, which say what part of the metric's variance each one makes."""

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


def parser() -> Parser:
    return study_parser("sensitivity", _DESCRIPTION, _EXAMPLES, "the analysis")


def main(options: Namespace) -> int:
    from experiments.studies.sensitivity.sensitivity import sensitivity_from

    sensitivity = sensitivity_from(config_of(options), Path(options.file).stem)
    return run(sensitivity, options, sensitivity.name)
