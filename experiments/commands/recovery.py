"""``biped recovery``: the largest push from which any torques within limits bring the human back, by optimization."""

from argparse import Namespace

from experiments.cli import settings
from experiments.cli.main import Parser, interrupted
from experiments.cli.output import claimed_folder
from experiments.cli.progress import ProgressBar
from experiments.cli.reply import reply
from experiments.cli.terminal import say_files

_DESCRIPTION = """\
How hard may the human be pushed without a step, if its joints do the best that they can? In each direction torques over
the time after the push are optimized on the exact derivatives of the simulator's own steps, through stick, slip and
lift-off, for ever harder pushes, until no recovery is found any more. Each plan is then followed in the simulator, in
half and in a quarter of the optimizer's step, with the whole-body law before and after it, and counts only if that run
has recovered in place. The optimizer is local: what is found is a lower bound, with the trajectory that proves it
(docs/optimal-recovery.md)."""

_EXAMPLES = """\
columns:
  direction        [°] where the push drives it: 0 forwards, 90 to its left
  impulse          [N·s] the largest push found that it recovers from
  law              [N·s] the largest that the whole-body law recovers from, share_of_law of it
  limit            [N·s] of the inverted pendulum, share of it; limit_hips with the hips as a flywheel
  moved            [m] how far the foot that moved most stands from where it stood, 0.02 at most
  peak_torque      of the plan, as a part of the joint's limit: the peaks of strong young men
  mirrored         whether the plan is that of the other side, left and right swapped, and simulated

The folder gets recovery.csv, recovery.png and for each direction a folder with plan.npz, the run for `biped view`, and
strategy.png. A search that was stopped goes on with the same command.

examples:
  biped recovery                                   24 directions, of which 13 are searched: a quarter of an hour
  biped recovery --directions 4 --budget 60        front, left, back, right, in some minutes
  biped view results/recovery/balance/000/run      the recovery from the hardest push to the front
  biped push-map --controller whole-body --recovery results/recovery/balance

Exit status: 0 done, 2 bad input or a file that cannot be written, 130 interrupted; what was found is kept.
"""


def parser() -> Parser:
    own = Parser("biped recovery", _DESCRIPTION, _EXAMPLES)
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
    folder = claimed_folder(options.out or f"results/recovery/{options.experiment}")
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
