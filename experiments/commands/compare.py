"""``biped compare``: an experiment in several physics engines, on one page."""

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from biped.errors import InputError
from biped.inputs.extras import need
from experiments.cli.main import Parser, announce, folder_name, interrupted
from experiments.cli.output import writable_folder
from experiments.cli.progress import ProgressBar
from experiments.cli.reply import reply
from experiments.cli.settings import add_experiment, add_settings, changes_of, experiment_of

if TYPE_CHECKING:
    from experiments.catalogue.experiment import Experiment
    from experiments.catalogue.parameters.parameter import Value
    from experiments.comparison.stages import Budget, Results

_DESCRIPTION = """\
Run an experiment in several physics engines and compare them: outcome, creep of the feet in stance, energy error in
free flight, step refinement, and error against computing time. A table marks the best engine by each measure."""

_EXAMPLES = """\
examples:
  biped compare thrown-block                       our integrator; PyBullet and MuJoCo if installed
  biped compare stand-tilted --engines recursive,maximal,lee-riqn
  biped compare balance --set push.impulse=8 --quick

Ctrl-C keeps the results of the finished stages. Exit status 1: an engine raised an error.
"""


def parser() -> Parser:
    command = Parser("biped compare", _DESCRIPTION, _EXAMPLES, page="compare")
    add_experiment(command)
    command.option(
        "--engines",
        "NAMES",
        "engines and integrators, separated by commas (recursive,pybullet,mujoco); all are compared with the first",
    )
    add_settings(command, "duration", "step")
    command.option("--out", "DIR", "folder for the results (default: results/compare/EXPERIMENT)", folder_name)
    command.switch("--quick", "simulate shorter flights and stances, with fewer step sizes")
    command.add_forms()
    command.add_figure_look()
    command.switch("--no-vendor-defaults", "leave out the runs with the vendors' default settings")
    return command


def main(options: Namespace) -> int:
    from experiments.comparison.backends import DEFAULT, backends_of
    from experiments.comparison.stages import FULL, QUICK, Results

    need("plotly", "jinja2")
    experiment = experiment_of(options)
    changes = _changes(experiment, options)
    names = list(DEFAULT) if options.engines is None else [name.strip() for name in options.engines.split(",")]
    backends, missing = backends_of(names)
    for sentence in missing:
        announce(f"left out: {sentence}")
    folder = writable_folder(options.out or Path("results") / "compare" / experiment.name)
    results = Results(experiment, changes, backends, missing)
    budget = QUICK if options.quick else FULL
    return run(results, budget, folder, options.typed, vendor=not options.no_vendor_defaults)


def _changes(experiment: "Experiment", options: Namespace) -> "dict[str, Value]":
    changes = changes_of(experiment, options)
    if "integrator.name" in changes:
        raise InputError("--set integrator.name: leave it out, and name the integrators to compare with --engines")
    experiment.build(changes).prepare()  # raises errors before anything is computed
    return changes


def run(results: "Results", budget: "Budget", folder: Path, command: str, *, vendor: bool) -> int:
    from experiments.comparison.measures import ranking_table
    from experiments.comparison.stages import Work, stages
    from experiments.visualization.comparison.output import Output, print_ranking

    output = Output(folder, command)
    balances = any(parameter.name.startswith("controller.") for parameter in results.experiment.parameters)
    todo = stages(vendor=vendor, stance=balances)
    results.undone = list(todo)
    try:
        for title, measure in todo.items():
            announce(f"{title} …")
            with ProgressBar(1.0, title, "") as bar:
                measure(Work(results, budget, bar, announce))
            results.undone.remove(title)
    except KeyboardInterrupt:
        return interrupted(f"; the finished stages are in {output.write(results)[0]}")
    except Exception as error:
        results.stopped = f"Stopped by an error ({' '.join(str(error).split()) or type(error).__name__})"
        announce(f"stopped by an error in {results.undone[0]}; the finished stages are in {output.write(results)[0]}")
        raise
    files = output.write(results)
    print_ranking(results, files)
    reply(lambda: {"ranking": ranking_table(results), "folder": folder, "files": [file.name for file in files]})
    return 0
