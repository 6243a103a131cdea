"""``biped identify``: frequency responses of balance to periodic disturbances, and models fitted to them."""

from argparse import Namespace
from pathlib import Path

from experiments.cli.main import Parser
from experiments.commands.study import STOPPING, config_of, run, study_parser

_DESCRIPTION = """\
Find how a body answers a floor or a force that moves periodically, simulated or in records: gain, phase and coherence
over frequency with bootstrap intervals, and what it does besides (the remnant), over cycles and trials; and fit a
closed-form model to it."""

_EXAMPLES = f"""\
a file:
  experiment = "balance"
  controller = "postural"
  seed = 1

  [set]
  platform.motion = "sum-of-sines"      # or ternary, sine; of pushes, force.pattern
  platform.axis = "pitch"               # or roll, x, y
  platform.frequencies = "0.05 0.15 0.35 0.65 1.15"
  platform.size = 0.004                 # [rad]
  sensors.preset = "eyes-open"
  initial.stance = "upright"
  initial.settle = 10.0

  [identify]
  cycles = 10                 # that count, of each trial; 1 before them is dropped (skip)
  trials = 20                 # from different starts, with other noise
  highest = 2.3               # [Hz] frequencies up to there (3)
  responses = {{ sway = "sway_y" }}       # any columns of a run

  [model]                     # may be left out
  name = "independent-channels"           # or double-pendulum; inertia and toppling are those of the body
  set = {{ passive_stiffness = 0.65, passive_damping = 0.015 }}

  [[model.parameter]]         # one number to fit, between bounds
  name = "weight"
  from = 0.0
  to = 1.0

a file of records, of which nothing is run; [model] as above:
  [identify]
  period = 20.0               # [s] of a cycle; window = 20.0 for stimuli that do not repeat
  frequencies = "odd"         # multiples of 1/period where the stimulus moves; or "all", or a list [Hz]
  stimulus = "tilt"           # columns of the records; {{ ankle = "...", hip = "..." }} for several at once
  responses = {{ sway = "-sway" }}         # a minus turns a sign

  [record]
  files = "trials/*.csv"      # or C3D, .mot, .sto, .trc, .mat
  units = {{ tilt = "deg" }}    # where the files do not say it
  time = "time"               # their column of times; also rate, heading
  gaps = 0.1                  # [s] shorter ones are bridged; also filter and resample [Hz]

groups, of which each subject is identified by himself, and whose parameters are compared:
  [groups.young]
  subjects = 12
  [groups.old]
  subjects = 12
  set = {{ controller.weight = 0.4 }}
  [spread]
  controller.weight = 0.075   # standard deviation between subjects; of records, files = "old/*" in each group instead

examples:
  biped identify examples/identify-tilt.toml
  biped identify examples/identify-push.toml
  biped identify examples/identify-groups.toml
  biped identify identify.toml --out results/mine --workers 8

The durations of platform, force and run follow from cycles and skip.
{STOPPING}
The folder gets study.json, trials.parquet, response.csv, remnant.csv, response.png and fit.json.
docs/identify.md says all that a file can hold, and how to do it with arrays of one's own.
Exit status: 0 done, 2 bad input or a file that cannot be written, 130 interrupted.
"""


def parser() -> Parser:
    return study_parser("identify", _DESCRIPTION, _EXAMPLES, "the identification")


def main(options: Namespace) -> int:
    from experiments.studies.identification.groups import groups_from
    from experiments.studies.identification.identification import identification_from

    config = config_of(options)
    plan = (groups_from if "groups" in config else identification_from)(config)
    return run(plan, options, Path(options.file).stem)
