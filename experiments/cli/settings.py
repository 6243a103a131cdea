"""Options that set an experiment's parameters, shared by all commands that run one."""

import math
import webbrowser
from argparse import Namespace
from collections.abc import Iterable
from typing import TYPE_CHECKING

from biped.errors import InputError
from biped.inputs.robot_names import ROBOT_NAMES
from experiments.catalogue.registry import MODULES, experiment_named
from experiments.cli.main import Parser, announce

if TYPE_CHECKING:
    from experiments.catalogue.experiment import Experiment
    from experiments.catalogue.parameters.parameter import Value

#: Options that abbreviate ``--set`` of a parameter: the parameter's name, and the help.
SHORTHANDS = {
    "duration": ("run.duration", "S", "simulated time in seconds (run.duration)"),
    "step": ("run.step", "S", "time step of the integrator in seconds (run.step)"),
    "integrator": ("integrator.name", "NAME", "integrator or engine: pybullet, mujoco, SCENE.xml (integrator.name)"),
    "seed": ("initial.seed", "N", "seed of a random initial state (initial.seed; SD initial.jitter, default 0.01 rad)"),
}
#: Aliases of these options.
ALIASES = {"integrator": ("--engine",)}


def add_experiment(parser: Parser, default: str | None = None, text: str = "") -> None:
    """Add the positional argument of the experiment's name; it is optional if it has a default."""
    text = text or f"{', '.join(MODULES)}, FILE.py or MODULE:NAME"
    parser.add_argument("experiment", metavar="EXPERIMENT", nargs="?" if default else None, default=default, help=text)


def add_controller(parser: Parser) -> None:
    names = "workspace, cone-workspace, whole-body, joint-pd, …, FILE.py:NAME, MODULE:NAME or FILE.toml"
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--controller", metavar="NAME", help=f"controller: {names} (controller.name)")
    group.add_argument(
        "--policy", metavar="FILE", dest="controller", help="trained policy: its TOML file (controller.name)"
    )


def add_robot(parser: Parser) -> None:
    parser.option("--robot", "FILE", f"robot instead of the human: {ROBOT_NAMES} (robot.name)")


def add_counts(parser: Parser) -> None:
    """Add the option ``--counts``, which sets ``options.counts`` to a tuple of words, or None."""
    text = 'verdicts that count as lost, such as "fell,lost control" (default: stepped,fell,lost control,failed)'
    parser.option("--counts", "VERDICTS", text, lambda given: tuple(word.strip() for word in given.split(",")))


def add_metric_files(parser: Parser) -> None:
    text = "also measure your own metric, FILE.py:NAME or MODULE:NAME; may be repeated"
    parser.option("--metric-file", "NAME", text, action="append", default=[], dest="metric_files")


def add_after(parser: Parser) -> None:
    text = "simulated seconds after a fall, without control; metrics and verdict ignore them"
    parser.option("--after", "S", text, float)


def check_positive(options: Namespace, *names: str, what: str = "number") -> None:
    """Raise InputError if one of these options is given, but is not a finite number above zero."""
    for name in names:
        value = getattr(options, name.replace("-", "_"))
        if value is not None and not 0.0 < value < math.inf:
            raise InputError(f"--{name} {value:g}: it must be a {what} above zero")


def add_serving_options(parser: Parser) -> None:
    """Add options of the commands that show a page in the browser."""
    parser.option("--port", "N", "port of the server (8080, or the next free one)", int)
    parser.add_argument("--host", default="127.0.0.1", help="address of the server (127.0.0.1: this machine only)")
    parser.switch("--no-open", "do not open a browser")


def open_browser(url: str, options: Namespace) -> None:
    """Print the address of a page, and open it in the browser unless ``--no-open`` is given."""
    announce(f"at {url} until Ctrl-C")
    if not options.no_open and not webbrowser.open(url):
        announce("no browser could be opened: open this address in one")


def experiment_of(options: Namespace, name: str | None = None) -> "Experiment":
    """Return the experiment ``name``, or that of the options, with the controller, robot and metrics of the options."""
    metrics = getattr(options, "metric_files", ())
    return experiment_named(options.experiment if name is None else name, options.controller, metrics, options.robot)


def add_shorthand(parser: Parser, short: str, where: str = "") -> None:
    """Add the option of one of ``SHORTHANDS`` with its aliases; its help begins with ``where``."""
    _, what, text = SHORTHANDS[short]
    parser.option(f"--{short}", what, where + text, str, *ALIASES.get(short, ()))


def add_settings(parser: Parser, *shorthands: str) -> None:
    for short in shorthands:
        add_shorthand(parser, short)
    add_controller(parser)
    add_robot(parser)
    parser.option("--gains", "FILE", "TOML file with gains or other parameters of the controller")
    add_assignments(parser)


def add_assignments(parser: Parser) -> None:
    text = "set a parameter of `biped show`, such as push.azimuth=90deg; may be repeated"
    parser.option("--set", "NAME=VALUE", text, action="append", default=[], dest="assignments")


def changes_of(
    experiment: "Experiment", options: Namespace, shorthands: Iterable[str] = tuple(SHORTHANDS)
) -> "dict[str, Value]":
    """Return the changes of parameters: from the file of gains, then the shorthands, then ``--set``.

    Only the given ``shorthands`` are read: a command may use other names of ``SHORTHANDS`` for different options.
    """
    changes: dict[str, Value] = {}
    if options.gains is not None:
        changes |= _gains(experiment, options.gains)
    given = {SHORTHANDS[short][0]: getattr(options, short, None) for short in shorthands}
    texts = {name: text for name, text in given.items() if text is not None}
    for assignment in options.assignments:
        name, equals, text = assignment.partition("=")
        if not equals:
            raise InputError(f"--set {assignment}: it must be NAME=VALUE, such as floor.mu_s=0.5")
        texts[name.strip()] = text
    return changes | experiment.parse(texts)


def _gains(experiment: "Experiment", file: str) -> "dict[str, Value]":
    from experiments.catalogue.parameters.controller_file import read_controller

    if not any(parameter.name.startswith("controller.") for parameter in experiment.parameters):
        raise InputError(f"--gains: {experiment.name} has no controller: leave the option out")
    return read_controller(file, experiment)
