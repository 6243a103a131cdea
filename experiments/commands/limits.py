"""``biped limits``: theoretical push limits of the inverted pendulum, in place or with steps."""

import math
from argparse import Namespace

from biped.errors import InputError
from experiments.cli import settings
from experiments.cli.main import Parser
from experiments.cli.output import writable_folder
from experiments.cli.progress import ProgressBar
from experiments.cli.reply import reply
from experiments.cli.terminal import say_files
from experiments.studies.default_steps import LENGTH, REACTION, TIME

_DESCRIPTION = """\
Compute the largest push that a standing robot can withstand under any controller: the largest recoverable impulse of
the linear inverted pendulum with feet in place, with the hips as a flywheel, and with steps along the push. Reaction
delay and friction are taken into account."""

_EXAMPLES = """\
examples:
  biped limits                                     the human, under a push of 0.1 s
  biped limits --steps 0,1,2,any --step-length 0.8 --step-time 0.4
  biped limits --delay 0.1 --set floor.mu_s=0.2 --set floor.mu_d=0.2
  biped limits --robot g1.toml --directions 8 --json
"""


def parser() -> Parser:
    command = Parser("biped limits", _DESCRIPTION, _EXAMPLES, page="limits")
    settings.add_experiment(command, "balance", "experiment that has a push (balance)")
    command.option("--directions", "N", "number of push directions, evenly spaced around the model", 24)
    command.option("--delay", "S", "reaction delay in seconds (default: sensors.delay)", float)
    command.option("--steps", "LIST", "allowed numbers of recovery steps, separated by commas; any: no limit", "0")
    command.option("--step-length", "M", "length of a recovery step in metres", LENGTH)
    command.option("--step-time", "S", "time between landings in seconds", TIME)
    command.option("--step-reaction", "S", "additional time of the first step in seconds", REACTION)
    settings.add_robot(command)
    settings.add_assignments(command)
    command.set_defaults(controller=None, gains=None)  # limits do not depend on the controller
    command.add_results("no files are written")
    return command


def counts_of(text: str) -> list[float]:
    """Return the numbers of recovery steps in a text such as ``0,1,2,any`` (any: inf), each once, in ascending order.

    Raises:
        InputError: an entry is neither a whole number nor ``any``.
    """
    entries = {word.strip() for word in text.split(",")}
    wrong = sorted(word for word in entries if word != "any" and not word.isdecimal())
    if wrong:
        raise InputError(f"--steps {text}: {wrong[0]!r} is neither a whole number nor 'any'; an example is 0,1,2,any")
    return sorted(math.inf if word == "any" else float(word) for word in entries)


def main(options: Namespace) -> int:
    from biped.capturability.steps import Steps
    from experiments.studies.limits import limit_table, push_under
    from experiments.visualization.document import print_document, write_document
    from experiments.visualization.studies.limits_output import document

    if options.directions < 1:
        raise InputError(f"--directions {options.directions}: the number of directions must be at least 1")
    if options.delay is not None and not 0.0 <= options.delay < math.inf:
        raise InputError(f"--delay {options.delay:g}: it must be a number of seconds, zero or above")
    how = options.step_length, options.step_time, options.step_reaction
    steps = [Steps(count, *how) for count in counts_of(options.steps)]
    experiment = settings.experiment_of(options)
    changes = settings.changes_of(experiment, options, ())
    push = push_under(experiment, changes, options.delay)
    rise = experiment.values(changes).number("platform.rise")
    folder = None if options.out is None else writable_folder(options.out)
    with ProgressBar(options.directions * len(steps), "limits", "directions", counts=True) as bar:
        table = limit_table(push, options.directions, rise, bar, steps)
    reply(table)
    page = document(push, table, experiment.who)
    print_document(page)
    if folder is not None:
        say_files(folder, write_document(page, folder, not options.no_figures))
    return 0
