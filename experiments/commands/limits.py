"""``biped limits``: how hard a push may be, in place or with steps, at most, by the inverted pendulum."""

import math
from argparse import Namespace

from biped.errors import InputError
from experiments.cli import settings
from experiments.cli.main import Parser
from experiments.cli.output import claimed_folder
from experiments.cli.progress import ProgressBar
from experiments.cli.reply import reply
from experiments.cli.terminal import say_files
from experiments.studies.usual_steps import LENGTH, REACTION, TIME

_DESCRIPTION = """\
How hard may a standing robot be pushed, whatever the law that balances it? For a point mass at constant height the
answer is known: with the distance d from it to the edge of the support, and ω² = g/z, it recovers without a step from
an impulse of up to m ω d / ∫ exp(-ωt) f(t) dt of a push of the shape f (docs/limits.md). Steps along the push, and a
trunk that turns about the hips as a flywheel of bounded torque and angle, add to that; a reaction delay and a floor's
friction take away."""

_EXAMPLES = """\
columns:
  steps                          at most so many; inf, in JSON null: any number
  direction                      [°] where the push drives it: 0 forwards, 90 to its left
  distance                       [m] to the edge of the support
  limit                          [N·s] of the inverted pendulum, with delay and friction
  limit_hips                     [N·s] with the hips as a flywheel besides; not where the hips' limits are unknown
  …_without_friction             [N·s] the same on a floor that nothing slips on
  platform                       [m] displacement of the floor that drives it there, of the least jerk in platform.rise

examples:
  biped limits                                     the human, pushed within 0.1 s
  biped limits --set push.duration=0.5 --set push.waveform=rectangle
  biped limits --steps 0,1,2,any --step-length 0.8 --step-time 0.4
  biped limits --delay 0.1 --set floor.mu_s=0.2 --set floor.mu_d=0.2
  biped limits --robot g1.toml --directions 8 --json
  biped limits --out results/limits/human          a table and a figure, too

Exit status: 0 done, 2 bad input or a file that cannot be written, 130 interrupted.
"""


def parser() -> Parser:
    own = Parser("biped limits", _DESCRIPTION, _EXAMPLES)
    settings.add_experiment(own, "balance", "an experiment with a push (balance)")
    own.option("--directions", "N", "number of directions, evenly around the model", 24)
    own.option("--delay", "S", "seconds before the push is reacted to (sensors.delay)", float)
    own.option("--steps", "LIST", "numbers of steps that it may take, with commas; any: as many as it likes", "0")
    own.option("--step-length", "M", "metres from one footprint to the next", LENGTH)
    own.option("--step-time", "S", "seconds from one landing to the next", TIME)
    own.option("--step-reaction", "S", "seconds that the first step takes besides", REACTION)
    settings.add_robot(own)
    settings.add_assignments(own)
    own.set_defaults(controller=None, gains=None)  # no law matters here
    own.add_results("none is written")
    return own


def counts_of(text: str) -> list[float]:
    """Numbers of steps from ``0,1,2,any``, each once, in ascending order.

    Raises:
        InputError: one is not a number of steps.
    """
    found = {word.strip() for word in text.split(",")}
    wrong = sorted(word for word in found if word != "any" and not word.isdecimal())
    if wrong:
        raise InputError(f"--steps {text}: {wrong[0]!r} is no number of steps; give such as 0,1,2,any")
    return sorted(math.inf if word == "any" else float(word) for word in found)


def main(options: Namespace) -> int:
    from biped.capturability.steps import Steps
    from experiments.studies.limits import limit_table, push_under
    from experiments.visualization.document import print_document, write_document
    from experiments.visualization.studies.limits_output import document

    settings.check_counts(options, "directions")
    if options.delay is not None and not 0.0 <= options.delay < math.inf:
        raise InputError(f"--delay {options.delay:g}: it must be a number of seconds, zero or above")
    how = options.step_length, options.step_time, options.step_reaction
    steps = [Steps(count, *how) for count in counts_of(options.steps)]
    experiment = settings.experiment_of(options)
    changes = settings.changes_of(experiment, options, ())
    push = push_under(experiment, changes, options.delay)
    rise = experiment.values(changes).number("platform.rise")
    folder = None if options.out is None else claimed_folder(options.out)
    with ProgressBar(options.directions * len(steps), "limits", "directions", counts=True) as bar:
        table = limit_table(push, options.directions, rise, bar, steps)
    reply(table)
    found = document(push, table, experiment.who)
    print_document(found)
    if folder is not None:
        say_files(folder, write_document(found, folder, not options.no_figures))
    return 0
