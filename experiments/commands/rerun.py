"""``biped rerun``: one trial of a study again, saved and drawn as by ``biped run``."""

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from biped.errors import InputError, RunInterrupted
from biped.inputs.modules import saved_names
from experiments.cli.main import Parser, announce, fail, interrupted
from experiments.cli.output import writable_folder
from experiments.cli.progress import ProgressBar
from experiments.cli.settings import add_controller
from experiments.cli.terminal import say
from experiments.commands.run import finish

if TYPE_CHECKING:
    from experiments.studies.rerun import Rerun
    from experiments.studies.store.folder import Study

DIFFERS = 1

_DESCRIPTION = """\
Run one trial of a study again, and check that its verdict and metrics equal the stored ones, bit for bit. The run is
saved and drawn as by `biped run`."""

_EXAMPLES = """\
examples:
  biped rerun results/sweep/sweep 17               into results/sweep/sweep/traces/17
  biped rerun results/sweep/sweep --list fell      the trials that fell
  biped rerun results/sweep/sweep 17 --controller laws/moved.py:Law

Your own code in the study is run only with --trust, or if you name it (--controller).
Exit status 1: a value differs.
"""


def parser() -> Parser:
    command = Parser("biped rerun", _DESCRIPTION, _EXAMPLES, page="sweep")
    command.add_argument("study", metavar="STUDY", help="folder of a study")
    either = command.add_mutually_exclusive_group(required=True)
    either.add_argument("trial", metavar="TRIAL", nargs="?", help="number from the column `trial` of trials.parquet")
    text = "list the finished trials, or those with this verdict, without running one"
    either.add_argument("--list", metavar="VERDICT", nargs="?", const="", dest="listed", help=text)
    add_controller(command)
    command.add_trust()
    command.add_out("STUDY/traces/TRIAL")
    command.add_verbose()
    command.add_figure_look()
    return command


@saved_names()
def main(options: Namespace) -> int:
    from experiments.studies.rerun import rerun
    from experiments.studies.store.folder import Study
    from experiments.studies.store.header import edited
    from experiments.visualization.viewer.saved_runs import save_run

    study = Study.read(options.study)
    if options.listed is not None:
        return _list(study, options.listed)
    if not options.trial.isdecimal():
        raise InputError(f"trial {options.trial!r}: it must be the number of a trial, such as 17")
    number = int(options.trial)
    if options.controller is not None:
        study.drive_by(options.controller)
    for name in edited(study.header, study.experiment.sources):
        announce(f"{name} has been edited since the study was run")
    trial = study.trial(number)
    folder = writable_folder(options.out or study.trace_folder(number))
    try:
        with ProgressBar(study.experiment.values(trial.changes).number("run.duration")) as bar:
            repeated = rerun(study, number, bar, announce)
    except RunInterrupted as stopped:
        save_run(stopped.run, folder)
        return interrupted(f"; what was computed up to {stopped.run.state.time:.4g} s is in {folder}")
    status = _save(study, repeated, folder, options)
    return status or _verdict(study, repeated)


def _list(study: "Study", verdict: str) -> int:
    """Print number, verdict and labels of each finished trial."""
    results = study.results()
    finished = {number: str(results[number]["verdict"]) for number in sorted(results)}
    verdicts = dict.fromkeys(finished.values())
    if verdict and verdict not in verdicts:
        raise InputError(f"--list {verdict}: no trial has this verdict; there are {', '.join(verdicts) or 'none yet'}")
    for number, outcome in finished.items():
        if verdict in ("", outcome):
            labels = ", ".join(f"{name} {value}" for name, value in study.labels(number).items())
            print(f"{number:6d}  {outcome}  {labels}".rstrip())
    return 0


def _save(study: "Study", repeated: "Rerun", folder: Path, options: Namespace) -> int:
    if repeated.run is None:
        return 0
    labels = ", ".join(f"{name} {value}" for name, value in repeated.trial.labels.items())
    title = f"{study.folder}, trial {repeated.trial.number}" + (f" ({labels})" if labels else "")
    draw, verbose = not options.no_figures, options.verbose
    return finish(repeated.run, study.experiment, folder, title, draw=draw, verbose=verbose)


def _verdict(study: "Study", repeated: "Rerun") -> int:
    from experiments.studies.rerun import changed_since

    number = repeated.trial.number
    if repeated.same:
        what = f"verdict {repeated.stored['verdict']} and {len(repeated.stored) - 3} metrics"
        say(f"\nTrial {number}: {what} equal the study's, bit for bit", "green")
        return 0
    lines = [f"{k}: {repeated.stored[k]!r} before, {repeated.present.get(k)!r} now" for k in repeated.differences]
    changed = changed_since(study)
    say("\n" + "\n".join(lines), "yellow")
    reason = f"; what changed since: {'; '.join(changed)}" if changed else "; machine and versions are the same"
    count = f"{len(lines)} of {len(repeated.stored)} values differ"
    return fail(f"trial {number} differs from the study's result: {count}{reason}", DIFFERS)
