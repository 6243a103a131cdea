"""Options that the commands of thresholds share, and the study that they run."""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.cli.main import announce
from experiments.cli.settings import add_settings, changes_of
from experiments.commands.study_options import STOPPING, add_options, executor_of, stopped

if TYPE_CHECKING:
    from experiments.catalogue.experiment import Experiment
    from experiments.catalogue.parameters.parameter import Value
    from experiments.studies.execution.executors import Executor
    from experiments.studies.store.folder import Study
    from experiments.studies.threshold.findings import Findings
    from experiments.studies.threshold.grid import Ladder
    from experiments.studies.threshold.plan import Plan

STATUS = f"""\
{STOPPING}A trial that cannot be computed counts as not recovered, and is reported.
Exit status: 0 done, 2 bad input or a file that cannot be written, 130 interrupted."""

#: Shorthands of settings; ``--seed`` is that of the replicas here.
SETTINGS = ("duration", "step", "integrator")


@dataclass(frozen=True)
class Effort:
    """How hard a command tries where its options say nothing.

    Attributes:
        start: least value.
        stop: greatest of the first look.
        by: between two values of the first look.
        replicas: how many.
        tolerance: of a threshold.
    """

    start: float
    stop: float
    by: float
    replicas: int
    tolerance: float


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """Where trials run and results go."""
    parser.add_argument("--out", metavar="DIR", help="folder for the results")
    add_options(parser)
    parser.add_argument("--no-figures", action="store_true", help="draw no figures")


def add_experiment_options(parser: argparse.ArgumentParser) -> None:
    """What differs from the published values, throughout."""
    add_settings(parser, *SETTINGS)


def add_search_options(parser: argparse.ArgumentParser, usual: Effort, quick: Effort, unit: str) -> None:
    """The ladder and the ensemble; nothing is their default, so that ``effort`` can tell."""
    group = parser.add_argument_group("the search")

    def number(name: str, kind: type, dest: str, text: str) -> None:
        shown = f"{getattr(usual, dest):g}; --quick {getattr(quick, dest):g}"
        group.add_argument(name, metavar="N" if kind is int else "X", type=kind, dest=dest, help=f"{text} ({shown})")

    number("--from", float, "start", f"least value [{unit}]")
    number("--to", float, "stop", f"greatest value of the first look; it grows where all recover [{unit}]")
    number("--by", float, "by", f"between two values of the first look [{unit}]")
    number("--tolerance", float, "tolerance", f"of a replica's threshold [{unit}]")
    number("--replicas", int, "replicas", "how many: scattered starts, times and floors")
    group.add_argument("--seed", metavar="N", type=int, default=0, help="of the replicas (0)")
    group.add_argument("--confidence", metavar="P", type=float, default=0.95, help="of the intervals (0.95)")
    group.add_argument("--count-stepping", action="store_true", help="to have stepped counts as having recovered")
    group.add_argument("--quick", action="store_true", help="fewer replicas and a coarser look: half a minute")


def effort(options: argparse.Namespace, usual: Effort, quick: Effort) -> "tuple[Ladder, int]":
    """The ladder and the number of replicas that the options ask for.

    Raises:
        InputError: they are impossible.
    """
    from experiments.studies.threshold.grid import HALVINGS, Ladder

    chosen = quick if options.quick else usual
    start, stop, by = (
        getattr(chosen, name) if getattr(options, name) is None else getattr(options, name)
        for name in ("start", "stop", "by")
    )
    tolerance = options.tolerance
    if tolerance is None:
        tolerance = chosen.tolerance if options.by is None else by / 2.0**HALVINGS
    return Ladder(start, stop, by, tolerance), chosen.replicas if options.replicas is None else options.replicas


def changes_throughout(experiment: "Experiment", options: argparse.Namespace) -> "dict[str, Value]":
    """The values that the options of an experiment set.

    Raises:
        InputError: a name or a value is wrong.
        OSError: the file of gains cannot be read.
    """
    return changes_of(experiment, options, SETTINGS)


def name_of_gains(options: argparse.Namespace) -> str:
    """What a study is called: after its file of gains, or ``published``."""
    name = "published" if options.gains is None else Path(options.gains).stem
    return f"{name}-quick" if getattr(options, "quick", False) else name


def carry_out(
    plan: "Plan",
    kind: str,
    folder: Path,
    options: argparse.Namespace,
    show: "Callable[[Findings, Path], Sequence[Path]]",
) -> int:
    """Run a plan's study and show what it found; the exit status.

    Args:
        plan: of the study.
        kind: of study.
        folder: of the study.
        options: where trials run.
        show: prints, writes and draws; returns the files that it made.
    """
    from experiments.cli.output import writable_folder
    from experiments.studies.threshold.run import open_study
    from experiments.visualization.studies.threshold_output import print_failures, print_files

    executor = executor_of(options)
    study = open_study(plan, writable_folder(folder), kind)
    try:
        with study:
            findings = _run(plan, study, executor)
    except (KeyboardInterrupt, OSError) as error:
        return stopped(study, error)
    files = show(findings, folder)
    print_failures(study)
    print_files(folder, files)
    return 0


def _run(plan: "Plan", study: "Study", executor: "Executor") -> "Findings":
    from experiments.cli.progress import ProgressBar
    from experiments.studies.threshold.run import run_study

    done = len(study.finished)
    if done:
        announce(f"{done} trials are in {study.folder} already")
    with ProgressBar(plan.likely_trials, "searching", "trials", begun=done, counts=True) as bar:
        return run_study(plan, study, executor, bar, announce)
