"""Common parts of the commands that run studies: their options, how they run, and how they end."""

import argparse
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biped.errors import InputError
from experiments.cli.failures import FAILURE, describe
from experiments.cli.main import Parser, announce, fail, interrupted
from experiments.cli.output import writable_folder
from experiments.cli.progress import ProgressBar
from experiments.cli.reply import reply
from experiments.cli.settings import add_controller, add_counts, add_metric_files, add_robot, add_shorthand
from experiments.cli.terminal import say_files

if TYPE_CHECKING:
    from experiments.studies.config import Config
    from experiments.studies.execution.executors import Executor
    from experiments.studies.store.folder import Study
    from experiments.studies.study_kind import StudyKind
    from experiments.visualization.document import Document

#: For the help of every such command.
STOPPING = """\
Every finished trial is stored at once. Stop with Ctrl-C, or let the machine die: the same command goes on where it was.
Results do not depend on the number of workers.
"""

#: By command: the table that its files have, and no others.
TABLES = {
    "sweep": "vary",
    "threshold": "swept",
    "tune": "tune",
    "sensitivity": "sensitivity",
    "identify": "identify",
    "fit": "record",
}


def study_parser(name: str, description: str, examples: str, file: str = "", default: str = "NAME") -> Parser:
    """The options that all commands of studies have: a file, if there is one, where results go and trials run."""
    parser = Parser(f"biped {name}", description, examples)
    parser.set_defaults(command=name)
    if file:
        parser.add_argument("file", metavar="FILE", help=f"{file}, a TOML file")
        add_controller(parser)
        add_robot(parser)
        add_shorthand(parser, "integrator", "in all trials: ")
    add_counts(parser)
    add_metric_files(parser)
    parser.add_results(f"results/{name}/{default}")
    parser.option("--workers", "N", "number of trials at a time (default: one on each core)", int)
    default = "default; of a controller in Python loky"
    parser.option("--backend", "NAME", f"where trials run: threads of this process ({default}), loky (processes), dask")
    text = "seconds that a trial may take under a controller of one's own in a process of its own"
    parser.option("--time-limit", "S", f"{text} (120)", float)
    text = "address of a Dask cluster, such as tcp://10.0.0.1:8786; implies --backend dask"
    parser.option("--scheduler", "ADDRESS", text)
    return parser


def config_of(options: argparse.Namespace) -> "Config":
    """The file, with what the options name in its place: controller, metrics, integrator, what counts."""
    from experiments.studies.config import read_config

    config = read_config(options.file)
    kinds = [kind for kind, table in TABLES.items() if table in config]
    if kinds and options.command not in kinds:
        message = f"it has a table [{TABLES[kinds[0]]}], which `biped {kinds[0]}` reads"
        raise config.error(f"{message}; `biped {options.command}` needs [{TABLES[options.command]}]")
    if options.integrator is not None:
        config = config.setting("integrator.name", options.integrator)
    names = ("robot", "controller", "metric_files", "counts")
    given = {name: getattr(options, name, None) for name in names}
    return config.but(**{key: value for key, value in given.items() if value})


def run(
    plan: "StudyKind", options: argparse.Namespace, name: str, document: "Callable[..., Document] | None" = None
) -> int:
    """Run a study and show its findings; the exit status.

    Args:
        plan: of the study.
        options: of the command.
        name: of its folder, if the options have none.
        document: called with plan, findings and folder; that of the kind if not given.
    """
    from experiments.studies.execution.runner import results_of
    from experiments.studies.run import open_study, run_study
    from experiments.studies.store.folder import HEADER, TABLE
    from experiments.visualization.document import print_document, write_document
    from experiments.visualization.studies.kinds import module_of

    executor = executor_of(plan, options)
    folder = writable_folder(options.out or Path("results") / plan.kind / name)
    if not (folder / HEADER).is_file():
        plan.check_first(lambda trials: results_of(plan.experiment, trials, executor, announce))
    study = open_study(plan, folder, announce)
    total, done = plan.planned_trials(study), len(study.finished)
    if done:
        announce(f"{done}{'' if total is None else f' of {total}'} trials are in {study.folder} already")
    bar = ProgressBar(plan.likely_trials, "running", "trials", begun=done, counts=True)
    try:
        with study, bar:
            findings = run_study(plan, study, executor, bar, announce, bar.say)
    except (KeyboardInterrupt, OSError) as error:
        return stopped(study, error, total)
    found = (document or module_of(plan.kind).document)(plan, findings, folder)
    print_document(found)
    files = write_document(found, folder, not options.no_figures)
    names = [TABLE, HEADER, *(str(file.relative_to(folder)) for file in files)]
    say_files(folder, names, "\n")
    reply(lambda: _as_json(plan, found.data, folder, names))
    return 0


def _as_json(plan: "StudyKind", findings: Any, folder: Path, files: Sequence[str]) -> dict[str, Any]:
    from experiments.studies.store.folder import Study

    verdicts = Counter(str(result["verdict"]) for result in Study.read(folder).results().values())
    return {
        "kind": plan.kind,
        "experiment": plan.experiment.name,
        "trials": verdicts.total(),
        "verdicts": dict(verdicts),
        "findings": findings,
        "folder": folder,
        "files": files,
    }


def executor_of(plan: "StudyKind", options: argparse.Namespace) -> "Executor":
    from experiments.studies.execution.executors import TIME_LIMIT, executor_for

    if options.scheduler is not None and options.workers is not None:
        raise InputError("--workers says nothing about a cluster that has a scheduler: leave one of them out")
    limit = TIME_LIMIT if options.time_limit is None else options.time_limit
    return executor_for(plan.experiment, options.backend, options.workers, options.scheduler, limit, plan.samples)


def stopped(study: "Study", error: BaseException, total: int | None) -> int:
    """Say why a study ended before its end, and that it can go on; the exit status."""
    of = f"{len(study.finished)} of {total} trials are" if total is not None else "what is finished is"
    stored = f"{of} in {study.folder}; the same command goes on from there"
    if isinstance(error, KeyboardInterrupt):
        return interrupted(f"; {stored}")
    assert isinstance(error, Exception)
    return fail(f"{describe(error) or error}; {stored}", FAILURE)
