"""``biped fit``: parameters from a record."""

from argparse import Namespace
from pathlib import Path

from experiments.cli.main import Parser
from experiments.commands.study import STOPPING, config_of, run, study_parser

_DESCRIPTION = """\
Find the parameters with which runs come nearest to what was measured, by least squares over the columns of a record:
values with intervals, how they hang together, and what the record cannot tell."""

_EXAMPLES = f"""\
a file:
  experiment = "balance"
  controller = "postural"

  [set]                       # the same disturbance as the subject had
  initial.stance = "upright"
  run.duration = 8.0
  run.step = 0.002
  platform.motion = "recorded"
  platform.file = "subject.csv"
  platform.column = "platform"

  [[record]]                  # one or several, each with a [record.set] of its own if need be
  file = "subject.csv"        # or C3D, .mot, .sto, .trc, .mat
  begin = 0.0                 # s of the run at the record's time zero
  time = "time"               # its column of times; also rate, units, heading

  [[record.column]]
  measured = "cop_ap"         # in the record
  model = "cop_ap"            # column of run.frame
  deviation = 0.002           # in its unit; left out: that of the column over time
  offset = "free"             # only how it moves about its mean

  [[parameter]]
  sets = "controller.stiffness"
  from = 0.5
  to = 1.5
  start = 0.9                 # the middle of the range, if left out
  prior = [0.9, 0.2]          # mean and deviation, if something is known

  [[parameter]]
  sets = "sensors.delay"
  from = 0.05
  to = 0.2

  [fit]
  method = "least-squares"    # or "cma", before it, where there are many minima
  starts = 1
  intervals = "profile"       # "linear" (at once), "bootstrap"
  every = 0.02                # s between values that are compared
  seeds = 3                   # of the noise, with which the fit is repeated

a fit to statistics of people, in the place of [[record]]; [[fit.spectrum]] has band powers:
  [fit]
  seeds = 8                   # runs of each candidate
  [fit.targets]
  cop_rms_distance_ap = {{ value = 5.2, sd = 1.8, unit = "mm" }}

examples:
  biped fit fit.toml
  biped fit fit.toml --out results/subject-3 --workers 2
  biped report results/fit/fit

{STOPPING}
Warnings come first: R² below zero, runs that fell, a seed that decides, a value at its bound (docs/check-a-fit.md).
The folder gets study.json, trials.parquet, parameters.csv, correlation.csv, compared.csv, fit.json and fit.png.
Exit status: 0 done, 2 bad input or a file that cannot be written, 130 interrupted.
"""


def parser() -> Parser:
    return study_parser("fit", _DESCRIPTION, _EXAMPLES, "the fit")


def main(options: Namespace) -> int:
    from experiments.studies.fitting.fit import fit_from

    fit = fit_from(config_of(options), Path(options.file).stem)
    return run(fit, options, fit.name)
