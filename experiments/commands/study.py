"""Commands that run studies, one for each kind of ``experiments.studies.registry``: options and exit status."""

from argparse import Namespace
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biped.errors import InputError
from experiments.cli.failures import FAILURE, UNSOLVED, describe
from experiments.cli.main import Parser, announce, fail, interrupted
from experiments.cli.names import BENCHMARK
from experiments.cli.output import writable_folder
from experiments.cli.progress import ProgressBar
from experiments.cli.reply import reply
from experiments.cli.settings import add_controller, add_counts, add_metric_files, add_robot, add_shorthand
from experiments.cli.terminal import say_files
from experiments.studies.registry import imported, kinds

if TYPE_CHECKING:
    from experiments.studies.config import Config
    from experiments.studies.execution.executors import Executor
    from experiments.studies.store.folder import Study
    from experiments.studies.study_kind import StudyKind

_STOPPING = """
Each trial is stored as soon as it is finished. You can stop with Ctrl-C: the same command continues the study.
Results do not depend on the number of workers."""


def parser(name: str) -> Parser:
    """Return the parser of the command of a kind of study."""
    kind = kinds()[name]
    command = Parser(f"biped {name}", kind.description, f"examples:\n{kind.examples}{_STOPPING}", page=kind.page)
    command.set_defaults(command=name)
    if kind.table:
        command.add_argument("file", metavar="FILE", help="TOML file of the study")
        add_controller(command)
        add_robot(command)
        add_shorthand(command, "integrator", "in all trials: ")
    else:
        imported(kind.options)(command, name)
    add_counts(command)
    add_metric_files(command)
    command.add_results(f"results/{name}/{'FILE' if kind.table or name == BENCHMARK else 'GAINS'}")
    command.option("--workers", "N", "number of trials in parallel (default: one per core)", int)
    command.option("--backend", "NAME", "threads (default), or loky for processes (default with your Python code)")
    command.option("--time-limit", "S", "time limit of a trial with your own controller in seconds (120)", float)
    command.option("--scheduler", "ADDRESS", "Dask scheduler that runs the trials, such as tcp://10.0.0.1:8786")
    return command


def main(options: Namespace) -> int:
    """Run the study that the options define, show its findings, and return the exit status."""
    kind = kinds()[options.command]
    if kind.table:
        config = config_of(options)
        plan = imported(kind.plan)(config)
        options.name = str(config.data.get("name", Path(options.file).stem))
    else:
        plan = imported(kind.plan)(options)
    return run(plan, options, imported(kind.compared_with)(plan, options) if kind.compared_with else {})


def config_of(options: Namespace) -> "Config":
    """Return the configuration of the file, with the options' controller, robot, metrics, integrator and losses."""
    from experiments.studies.config import read_config

    config = read_config(options.file)
    tables = {name: kind.table for name, kind in kinds().items() if kind.table}
    present = [name for name, table in tables.items() if table in config]
    if present and options.command not in present:
        message = f"it has a table [{tables[present[0]]}], which `biped {present[0]}` reads"
        raise config.error(f"{message}; `biped {options.command}` needs [{tables[options.command]}]")
    if options.integrator is not None:
        config = config.setting("integrator.name", options.integrator)
    given = {name: getattr(options, name) for name in ("robot", "controller", "metric_files", "counts")}
    return config.but(**{key: value for key, value in given.items() if value})


def run(plan: "StudyKind", options: Namespace, compared_with: Mapping[str, Any]) -> int:
    """Run a study, show its findings (next to those of ``compared_with``, if any), and return the exit status."""
    from experiments.studies.execution.runner import results_of
    from experiments.studies.run import open_study, run_study
    from experiments.studies.store.folder import HEADER, TABLE
    from experiments.visualization.document import print_document, write_document
    from experiments.visualization.studies.kinds import module_of

    executor = executor_of(plan, options)
    folder = writable_folder(options.out or Path("results") / plan.kind / options.name)
    if not (folder / HEADER).is_file():
        plan.check_first(lambda trials: results_of(plan.experiment, trials, executor, announce))
    study = open_study(plan, folder)
    total, done = plan.planned_trials(study), len(study.finished)
    if done:
        announce(f"{done}{'' if total is None else f' of {total}'} trials are in {study.folder} already")
    bar = ProgressBar(plan.likely_trials, "running", "trials", begun=done, counts=True)
    try:
        with study, bar:
            findings = run_study(plan, study, executor, bar, announce, bar.say)
    except (KeyboardInterrupt, OSError) as error:
        return stopped(study, error, total)
    module = module_of(plan.kind)
    if hasattr(module, "finish"):
        module.finish(plan, folder)
    page = module.document(plan, findings, folder, **compared_with)
    print_document(page)
    files = write_document(page, folder, not options.no_figures)
    names = [TABLE, HEADER, *(str(file.relative_to(folder)) for file in files)]
    say_files(folder, names, "\n")
    reply(partial(_as_json, plan, page.data, folder, names))
    failure = plan.failure(findings)
    return fail(failure, UNSOLVED) if failure else 0


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


def executor_of(plan: "StudyKind", options: Namespace) -> "Executor":
    """Return the executor that the options select."""
    from experiments.studies.execution.executors import TIME_LIMIT, executor_for

    for name in ("workers", "backend"):
        if options.scheduler is not None and getattr(options, name) is not None:
            raise InputError(f"--{name} does not apply to a cluster: leave out --{name} or --scheduler")
    limit = TIME_LIMIT if options.time_limit is None else options.time_limit
    return executor_for(plan.experiment, options.backend, options.workers, options.scheduler, limit, plan.samples)


def stopped(study: "Study", error: BaseException, total: int | None) -> int:
    """Report why a study stopped and that the same command continues it; return the exit status."""
    of = f"{len(study.finished)} of {total} trials are" if total is not None else "the finished trials are"
    stored = f"{of} in {study.folder}; the same command continues the study"
    if isinstance(error, KeyboardInterrupt):
        return interrupted(f"; {stored}")
    assert isinstance(error, Exception)
    return fail(f"{describe(error) or error}; {stored}", FAILURE)
