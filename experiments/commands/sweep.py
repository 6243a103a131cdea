"""``biped sweep``: run an experiment at all combinations of some parameters' values."""

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.cli.main import Parser, fail
from experiments.commands.study import STOPPING, config_of, run, study_parser

if TYPE_CHECKING:
    import pandas as pd

    from experiments.studies.sweep.sweep import Sweep
    from experiments.visualization.document import Document

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
  biped example sweep.toml > sweep.toml
  biped sweep sweep.toml
  biped sweep sweep.toml --out results/mine --workers 8
  biped sweep sweep.toml --backend dask --scheduler tcp://10.0.0.1:8786
  biped show thrown-block                    all parameters that can be varied
  biped rerun results/sweep/sweep 17         one trial again, with everything recorded

{STOPPING}
The folder gets study.json, trials.parquet (a row for each trial) and sweep.png.
Exit status: 0 done (a fall is a result), 1 some trials could not be computed, 2 bad input or a file that cannot be
written, 130 interrupted.
"""


def parser() -> Parser:
    return study_parser("sweep", _DESCRIPTION, _EXAMPLES, "what is varied", "FILE")


def main(options: Namespace) -> int:
    from experiments.studies.sweep.sweep import sweep_from
    from experiments.visualization.studies.sweep import document, write_ensemble

    frames: list[pd.DataFrame] = []

    def document_and_keep(plan: "Sweep", frame: "pd.DataFrame", folder: Path) -> "Document":
        frames.append(frame)
        write_ensemble(plan, folder)
        return document(plan, frame, folder)

    status = run(sweep_from(config_of(options)), options, Path(options.file).stem, document_and_keep)
    return status or _failures(frames[0])


def _failures(frame: "pd.DataFrame") -> int:
    failed = frame[frame["verdict"] == "failed"]
    if failed.empty:
        return 0
    first = failed.iloc[0]
    return fail(
        f"{len(failed)} of {len(frame)} trials could not be computed; the first is {first['trial']}: "
        f"{first['failure']}: {first['message']}",
        FAILED,
    )
