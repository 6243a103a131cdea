"""Runner of a study's unfinished trials, which stores each as it ends."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from biped.errors import InputError
from biped.simulation.driver import Announce
from biped.simulation.session import Session
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.controllers import NAME as CONTROLLER
from experiments.catalogue.registry import experiment_named
from experiments.lookup.foreign_kernels import kernel_errors
from experiments.studies.execution.executors import Executor, Processes, Work, executor_for
from experiments.studies.failures import Result
from experiments.studies.store.folder import Study
from experiments.studies.store.header import Header, edited
from experiments.studies.store.sources import sources_digest
from experiments.studies.trial import FILES, Trial, run_trial

#: Called with the number of finished trials among those asked for.
Progress = Callable[[float], None]
#: Arguments with which ``experiment_named`` returns an experiment: name, controller, metrics and robot.
Named = tuple[str, str | None, tuple[str, ...], str | None]


def run_trials(
    study: Study,
    trials: Iterable[Trial],
    executor: Executor | None = None,
    progress: Progress | None = None,
    announce: Announce | None = None,
) -> Mapping[int, Result]:
    """Run the unfinished trials among these; return the results of all of them.

    Each result is stored in the study at once. Results depend on the trials alone: not on their order, the executor, or
    interruptions of the program.

    Args:
        study: study open for writing.
        trials: each number once.
        executor: runs the trials; by default threads on all cores.
        progress: called with the number of finished trials, first with those stored before.
        announce: called with a sentence before kernels are compiled.

    Returns:
        The results by number, in the order of the trials; read from the study on demand.

    Raises:
        InputError: a number occurs twice, or a finished trial of this number has other changes.
        OSError: the study's folder cannot be written any more; stored trials stay, and the study can be continued.
        KeyboardInterrupt: the user stopped it; stored trials stay. Running trials are finished and stored, unless the
            interrupt came while a result was being written: then they are run again.
    """
    trials = list(trials)
    numbers = [trial.number for trial in trials]
    if len(set(numbers)) != len(numbers):
        raise InputError("a trial's number occurs twice")
    finished = study.finished
    done = [trial for trial in trials if trial.number in finished]
    study.check(done)
    count = len(done)
    if progress is not None:
        progress(count)
    experiment = study.experiment
    header = study.header

    def store(trial: Trial, result: Result) -> None:
        study.add_sources(json.loads(str(result.pop(FILES, "{}"))))
        if header.sources:
            _check_sources(header, experiment.sources)
        nonlocal count
        study.add(trial, result)
        count += 1
        if progress is not None:
            progress(count)

    missing = [trial for trial in trials if trial.number not in finished]
    first, others = _one_of_each_loop(missing)
    if missing and executor is None:
        executor = executor_for(experiment, samples=[trial.changes for trial in first])
    is_foreign = _limit_of(executor) is not None
    for trial in first:  # here, so that what has to be compiled is compiled once
        compile_for(experiment, trial, announce)
        if not is_foreign:
            store(trial, run_trial(experiment, trial, announce))
    if is_foreign:
        others = missing
    if others and executor is not None:
        for trial, result in executor.run(_work(experiment, header, executor), others):
            store(trial, result)
    return study.stored(numbers)


def results_of(
    experiment: Experiment, trials: Sequence[Trial], executor: Executor, announce: Announce
) -> dict[int, Result]:
    """Run a few trials that are not stored, and return their results by number."""
    for trial in _one_of_each_loop(list(trials))[0]:
        compile_for(experiment, trial, announce)
    work = _work(experiment, Header(kind="", experiment=experiment.address, configuration={}), executor)
    return {trial.number: result for trial, result in executor.run(work, trials)}


def _work(experiment: Experiment, header: Header, executor: Executor) -> Work:
    if executor.is_local:
        return partial(run_trial, experiment)
    return partial(run_elsewhere, _name_of(experiment), header, sources_digest(), _limit_of(executor))


def _limit_of(executor: Executor | None) -> float | None:
    """Return the time limit [s] of a trial; None if it runs no code of others."""
    return executor.limit if isinstance(executor, Processes) else None


def _name_of(experiment: Experiment) -> Named:
    return (
        experiment.address,
        experiment.controller,
        tuple(entry.name for entry in experiment.metrics),
        experiment.robot,
    )


def run_elsewhere(named: Named, header: Header, kernels: str, limit: float | None, trial: Trial) -> Result:
    """Run a trial in another process.

    ``kernels`` is the digest of the local kernel sources; the study's ``header`` has the digests of user files;
    ``limit`` [s] is the time limit of a trial.
    """
    if sources_digest() != kernels:
        raise InputError("a worker has another version of the program: install the same one everywhere")
    found = experiment_named(*named)
    _check_sources(header, found.sources)
    return run_trial(found, trial, limit=limit)


def compile_for(experiment: Experiment, trial: Trial, announce: Announce | None) -> None:
    """Compile what a trial needs, without asking its controller anything; errors are left to the trial itself."""
    try:
        scene = experiment.build(trial.changes)
        session = Session(scene, announce=announce)
    except Exception:
        return
    with kernel_errors(scene.controller, scene.floor):
        session.warm_up(announce, measures=True)


def _check_sources(header: Header, sources: Mapping[str, str]) -> None:
    for name in edited(header, sources):
        raise InputError(
            f"{name} was edited while the study ran, whose trials are to be of one version; what is finished is kept: "
            "begin another study, in another folder, or undo the edit and go on"
        )


def _one_of_each_loop(trials: list[Trial]) -> tuple[list[Trial], list[Trial]]:
    """Split trials into the first of each integrator and controller, which compiles its loop, and the others."""
    first: dict[object, Trial] = {}
    for trial in trials:
        first.setdefault((trial.changes.get("integrator.name"), trial.changes.get(CONTROLLER)), trial)
    chosen = {trial.number for trial in first.values()}
    return list(first.values()), [trial for trial in trials if trial.number not in chosen]
