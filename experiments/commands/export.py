"""``biped export``: a saved run in the formats of other tools."""

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biped.errors import InputError
from biped.inputs.modules import saved_names
from experiments.cli.main import Parser, folder_name
from experiments.cli.output import writable_folder
from experiments.studies.registry import imported

if TYPE_CHECKING:
    from biped import Run

#: Help, function of ``experiments.visualization.export``, and folder of the files, by option.
FORMS = {
    "eurobench": ("EUROBENCH: CSV with semicolons, and YAML", "eurobench:export_eurobench", "eurobench"),
    "sto": ("OpenSim: .sto, external_loads.xml, and the skeleton, .osim", "opensim:export_opensim", "opensim"),
    "c3d": ("C3D: points, and a force plate under each foot", "c3d:export_c3d", ""),
    "bids": ("Motion-BIDS: positions, orientation and angles as a data set", "bids:export_bids", "bids"),
    "mat": ("MATLAB: .mat file with all columns and their units", "matlab:export_matlab", ""),
    "csv": ("CSV: all columns of any run, and a table of its steps", "tables:export_columns", ""),
}

_DESCRIPTION = """\
Write a saved run in the formats of other tools: EUROBENCH, OpenSim, C3D, Motion-BIDS, MATLAB or CSV."""

_EXAMPLES = """\
examples:
  biped export results/thrown-block --eurobench    into results/thrown-block/eurobench
  biped export results/thrown-block --c3d --csv    results/thrown-block/run.c3d and run.csv
  biped export results/thrown-block --eurobench --since 0.071 --out results/mine
                                                   metrics of the time after the block's hit
"""


def parser() -> Parser:
    command = Parser("biped export", _DESCRIPTION, _EXAMPLES, page="export")
    command.add_argument("run", metavar="RUN", help="folder of a saved run")
    for name, (text, _, _) in FORMS.items():
        command.switch(f"--{name}", text)
    command.option("--out", "DIR", "folder for the files and their folders (default: RUN)", folder_name)
    command.option("--since", "S", "start in seconds of the metrics of --eurobench (default: start of the run)", float)
    command.option("--urdf", "FILE", "URDF file of the run's model (default: the experiment's model, or the human)")
    return command


@saved_names()
def main(options: Namespace) -> int:
    formats = [name for name in FORMS if getattr(options, name)]
    if not formats:
        parser().error(f"no format is given: choose at least one of --{', --'.join(FORMS)}")
    run = _load(options)
    end = float(run.frame["time"].iloc[-1])
    if options.since is not None and not options.since <= end:
        raise InputError(f"--since {options.since:g}: it must be a time within the run, which ends at {end:g} s")
    out = Path(options.out or options.run)
    for name in formats:
        _, place, folder = FORMS[name]
        files = imported(f"experiments.visualization.export.{place}")(
            run, writable_folder(out / folder), *_more(name, run, options)
        )
        print(f"{files[0].parent}/: {len(files)} files" if len(files) > 1 else f"{files[0]}")
    return 0


def _more(name: str, run: "Run", options: Namespace) -> "tuple[Any, ...]":
    """Return the arguments of a format in addition to the run and its folder."""
    if name == "eurobench":
        from biped.metrics import measure_run

        return (measure_run(run, start_time=options.since),)
    return (Path(options.run).resolve().name,) if name == "bids" else ()


def _load(options: Namespace) -> "Run":
    """Return the saved run, with the model of ``--urdf``, or else of the run's experiment, or else the human."""
    from experiments.visualization.report.run_source import load_run

    if options.urdf is None:
        return load_run(options.run)
    from biped import Run, load_urdf

    return Run.load(options.run, load_urdf(options.urdf))
