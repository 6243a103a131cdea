"""Runner of a study's unfinished trials, which stores each result as soon as the trial ends."""

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

#: Function that is called with the number of finished trials.
Progress = Callable[[float], None]
#: Arguments of ``experiment_named``: address of the experiment, controller, metric files, robot.
Named = tuple[str, str | None, tuple[str, ...], str | None]


def run_trials(
    study: Study,
    trials: Iterable[Trial],
    executor: Executor | None = None,
    progress: Progress | None = None,
    announce: Announce | None = None,
) -> Mapping[int, Result]:
    """Run the trials of which the study has no result yet, and return the results of all trials.

    Each result is stored in the study as soon as its trial ends. Results depend on the trials only, not on their order,
    the executor, or interruptions of the program.

    Args:
        study: study that is open for writing.
        trials: trials with different numbers.
        executor: executor of the trials; None: the one that ``executor_for`` chooses, on all cores.
        progress: called with the number of finished trials, at first with that of the stored ones.
        announce: called with a sentence before kernels are compiled.

    Returns:
        The results by trial number, in the order of the trials, read from the study on demand.

    Raises:
        InputError: two trials have the same number, or a stored trial with one of the numbers has other changes.
        OSError: the study's folder can no longer be written; stored trials are kept, and the study can be continued.
        KeyboardInterrupt: the user stopped the program. Stored trials are kept; running trials are finished and stored,
            unless the interrupt came while a result was written: then they are lost and run again later.
    """
    trials = list(trials)
    numbers = [trial.number for trial in trials]
    if len(set(numbers)) != len(numbers):
        raise InputError("two trials have the same number: give each trial a different number")
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
    first, rest = _one_of_each_loop(missing)
    if missing and executor is None:
        executor = executor_for(experiment, samples=[trial.changes for trial in first])
    is_foreign = _limit_of(executor) is not None
    for trial in first:  # in this process, so that all kernels are compiled only once
        compile_for(experiment, trial, announce)
        if not is_foreign:
            store(trial, run_trial(experiment, trial, announce))
    if is_foreign:
        rest = missing
    if rest and executor is not None:
        for trial, result in executor.run(_work(experiment, header, executor), rest):
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
    """Return the time limit [s] of a trial; None if trials run no user code, or not in processes of this machine."""
    return executor.limit if isinstance(executor, Processes) else None


def _name_of(experiment: Experiment) -> Named:
    return (
        experiment.address,
        experiment.controller,
        tuple(entry.name for entry in experiment.metrics),
        experiment.robot,
    )


def run_elsewhere(named: Named, header: Header, kernels: str, limit: float | None, trial: Trial) -> Result:
    """Run a trial in another process than the study.

    ``kernels`` is the digest of the study's kernel sources, and the ``header`` has the digests of user files: the
    worker must have the same. ``limit`` [s] is the time limit of a trial.
    """
    if sources_digest() != kernels:
        raise InputError("a worker has another version of this program: install the same version on all machines")
    experiment = experiment_named(*named)
    _check_sources(header, experiment.sources)
    return run_trial(experiment, trial, limit=limit)


def compile_for(experiment: Experiment, trial: Trial, announce: Announce | None) -> None:
    """Compile the kernels of a trial without calling its controller; errors are ignored, as the trial reports them."""
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
            f"{name} was edited since the study began, but all trials must use the same version; finished trials are "
            "kept: undo the edit and continue, or begin a new study in another folder"
        )


def _one_of_each_loop(trials: list[Trial]) -> tuple[list[Trial], list[Trial]]:
    """Return the first trial of each integrator and controller, which compiles their kernels, and all other trials."""
    first: dict[object, Trial] = {}
    for trial in trials:
        first.setdefault((trial.changes.get("integrator.name"), trial.changes.get(CONTROLLER)), trial)
    chosen = {trial.number for trial in first.values()}
    return list(first.values()), [trial for trial in trials if trial.number not in chosen]
