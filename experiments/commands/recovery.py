"""``biped recovery``: the largest push from which any torques within limits bring the human back, by optimization."""

from argparse import Namespace

from experiments.cli import settings
from experiments.cli.main import Parser, interrupted
from experiments.cli.output import writable_folder
from experiments.cli.progress import ProgressBar
from experiments.cli.reply import reply
from experiments.cli.terminal import say_files

_DESCRIPTION = """\
Find the largest push from which the human recovers without a step under the best joint torques within their limits:
torques are optimized for each direction, on exact derivatives, and the plan is verified in the simulator. The
optimizer is local: the result is a lower bound, with the trajectory that proves it."""

_EXAMPLES = """\
examples:
  biped recovery                                   24 directions: a quarter of an hour
  biped recovery --directions 4 --budget 60        front, left, back, right: some minutes
  biped view results/recovery/balance/000/run      the recovery from the hardest push forwards
  biped push-map --controller whole-body --recovery results/recovery/balance

Stop with Ctrl-C at any time: the same command continues.
"""


def parser() -> Parser:
    own = Parser("biped recovery", _DESCRIPTION, _EXAMPLES, page="optimal-recovery")
    settings.add_experiment(own, "balance", "an experiment with a push (balance)")
    own.option("--directions", "N", "number of directions, evenly around the model", 24)
    own.option("--budget", "N", "most iterations of the optimizer in each direction", 100)
    own.option("--horizon", "S", "duration of a plan, in seconds", 1.0)
    own.option("--plan-period", "S", "seconds for which a plan holds its torques", 4e-3)
    own.option("--plan-step", "S", "the optimizer's time step, in seconds", 2e-3)
    settings.add_assignments(own)
    own.set_defaults(controller=None, gains=None, robot=None)  # the law before and after a plan is the whole-body law
    own.add_results("results/recovery/EXPERIMENT")
    return own


def main(options: Namespace) -> int:
    from biped.recovery.search import Settings
    from experiments.studies.recovery.human import Horizon
    from experiments.studies.recovery.study import Study, has_results, run_study, table_of
    from experiments.visualization.document import print_document, write_document
    from experiments.visualization.studies.recovery_output import document

    settings.check_counts(options, "directions", "budget")
    settings.check_positive(options, "horizon", "plan-period", "plan-step")
    experiment = settings.experiment_of(options)
    horizon = Horizon(options.horizon, options.plan_period, options.plan_step)
    changes = settings.changes_of(experiment, options, ())
    study = Study(experiment, changes, options.directions, horizon, Settings(budget=options.budget))
    folder = writable_folder(options.out or f"results/recovery/{options.experiment}")
    stopped = False
    with ProgressBar(len(study.azimuths), "recoveries", "directions", counts=True) as bar:
        try:
            for done, _ in enumerate(run_study(study, folder, lambda *attempt: bar.say(_said(*attempt))), 1):
                bar(done)
        except KeyboardInterrupt:
            stopped = True
    if stopped and not has_results(folder):
        return interrupted(", before a direction was done")
    table = table_of(folder)
    reply(table)
    found = document(table, folder, experiment.who)
    print_document(found)
    files = write_document(found, folder, not options.no_figures)
    say_files(folder, [str(file.relative_to(folder)) for file in files])
    return interrupted(f"; {folder} has what is done, and the same command goes on") if stopped else 0


def _said(azimuth: float, attempt: object, law: float) -> str:
    from biped.recovery.search import Attempt

    assert isinstance(attempt, Attempt)
    result = "recovers" if attempt.proof is not None else "lost"
    return f"{azimuth:g}°: {attempt.impulse:.3g} N·s {result} (law {law:.3g})"
