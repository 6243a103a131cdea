"""``biped export``: a saved run in the formats of others."""

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from biped.errors import InputError
from biped.inputs.modules import saved_names
from experiments.cli.main import Parser, folder_name
from experiments.cli.output import writable_folder

if TYPE_CHECKING:
    from biped import Run

FORMS = ("eurobench", "sto", "c3d", "bids", "mat", "csv")

_DESCRIPTION = """\
Write a saved run for other tools: EUROBENCH's data files and performance indicators, OpenSim's storage files with
ground reactions, C3D with a force plate under each foot, Motion-BIDS. Axes are x forward, y up, z to the right, and of
C3D the run's own, z up. All columns of any run, as they are, go into a CSV file, or into one of MATLAB."""

_EXAMPLES = """\
examples:
  biped export results/thrown-block --eurobench            into results/thrown-block/eurobench
  biped export results/thrown-block --sto                  into results/thrown-block/opensim
  biped export results/closed-chain --csv                  all columns, into results/closed-chain/run.csv
  biped export results/thrown-block --c3d              points and force plates, into results/thrown-block/run.c3d
  biped export results/thrown-block --bids             a data set of one subject, into results/thrown-block/bids
  biped export results/thrown-block --mat              all columns and units, into results/thrown-block/run.mat
  biped export results/thrown-block --eurobench --since 0.071
                                                           metrics from the block's hit on
  biped export results/thrown-block --eurobench --sto --out results/mine
                                                           into results/mine/eurobench and results/mine/opensim

docs/export.md says what is in the files. Exit status: 0 done, 2 bad input or a file that cannot be written.
"""


def parser() -> Parser:
    own = Parser("biped export", _DESCRIPTION, _EXAMPLES)
    own.add_argument("run", metavar="RUN", help="folder of a saved run")
    own.switch("--eurobench", "EUROBENCH: CSV with semicolons, and YAML")
    own.switch("--sto", "OpenSim: .sto, external_loads.xml, and the skeleton, .osim")
    own.switch("--csv", "all columns of a run, of whatever it is, and the steps that it has taken")
    own.switch("--mat", "the same for MATLAB, with units")
    own.switch("--c3d", "C3D: points, and a force plate under each foot")
    own.switch("--bids", "Motion-BIDS: places, orientation and angles as a data set")
    own.option(
        "--out", "DIR", "folder for the files, and folders eurobench, opensim and bids (default: RUN)", folder_name
    )
    own.option("--since", "S", "time from which the metrics count (default: the start)", float)
    own.option("--urdf", "FILE", "file of the run's model, if that is neither an experiment's nor the human")
    return own


@saved_names()
def main(options: Namespace) -> int:
    if not any(getattr(options, form) for form in FORMS):
        parser().error(f"--{', --'.join(FORMS[:-1])} or --{FORMS[-1]}: say what to write")
    run = _load(options)
    end = float(run.frame["time"].iloc[-1])
    if options.since is not None and not options.since <= end:
        raise InputError(f"--since {options.since:g}: it must be a time of the run, which ends at {end:g} s")
    out = Path(options.out or options.run)
    if options.eurobench:
        from biped.metrics import measure_run
        from experiments.visualization.export.eurobench import export_eurobench

        measured = measure_run(run, start_time=options.since)
        _say(export_eurobench(run, writable_folder(out / "eurobench"), measured))
    if options.sto:
        from experiments.visualization.export.opensim import export_opensim

        _say(export_opensim(run, writable_folder(out / "opensim")))
    if options.c3d:
        from experiments.visualization.export.c3d import export_c3d

        _say(export_c3d(run, writable_folder(out)))
    if options.bids:
        from experiments.visualization.export.bids import export_bids

        _say(export_bids(run, writable_folder(out / "bids"), Path(options.run).resolve().name))
    if options.mat:
        from experiments.visualization.export.matlab import export_matlab

        _say(export_matlab(run, writable_folder(out)))
    if options.csv:
        from experiments.visualization.export.tables import export_columns

        _say(export_columns(run, writable_folder(out)))
    return 0


def _load(options: Namespace) -> "Run":
    """The load on the model of the URDF, or else of the run's experiment, or else of the human."""
    from experiments.visualization.report.run_source import load_run

    if options.urdf is None:
        return load_run(options.run)
    from biped import Run, load_urdf

    return Run.load(options.run, load_urdf(options.urdf))


def _say(files: list[Path]) -> None:
    print(f"{files[0].parent}/: {len(files)} files" if len(files) > 1 else f"{files[0]}")
