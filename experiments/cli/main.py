"""The command ``biped``: its subcommands, help, and exit status.

Heavy modules are imported only when needed, so that help is quick: a command's module defines its options at the top,
and imports the rest after reading them.
"""

import argparse
import contextvars
import importlib
import io
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NoReturn

from contact.errors import did_you_mean
from experiments.cli.failures import CLOSED_PIPE, FAILURE, INTERRUPTED, describe
from experiments.cli.reply import Form, choose_form, form
from experiments.cli.termination import TERMINATED, interrupt_on_sigterm

#: Line in ``biped --help`` by command, a module of ``experiments.commands``. The kinds of studies are further commands.
_COMMANDS = {
    "run": "run an experiment",
    "list": "list the experiments, controllers and contact laws",
    "show": "show all parameters of an experiment, with units and sources",
    "view": "show saved runs in three dimensions, in the browser",
    "render": "write a saved run as a video, or as an animated page",
    "live": "run an experiment in real time, with sliders and push buttons",
    "limits": "theoretical push limits of the inverted pendulum",
    "sway": "measure sway in force-plate records",
    "statistics": "compare groups or conditions, over subjects",
    "linearize": "linearize a closed loop exactly: A, B, eigenvalues and modes",
    "stability-map": "local stability of a closed loop over two parameters",
    "rerun": "run one trial of a study again, with everything recorded",
    "report": "write one page about a run or a study, with its figures",
    "export": "write a saved run as C3D, for OpenSim, EUROBENCH, MATLAB, or as Motion-BIDS",
    "mechanism": "simulate a mechanism of frames, springs and loops, from a file",
    "integrators": "list the integrators and their properties",
    "compare": "run an experiment in several physics engines, and compare the results",
    "work-precision": "compare all integrators: error against cost",
    "reproduce": "recompute the tables and figures of a paper",
    "warm": "compile the kernels of later runs in advance, on all cores",
    "bench": "measure the speed of the closed loop on this machine",
    "robot": "write the TOML file of a robot from its URDF or MJCF: feet, soles, posture",
    "example": "print or list the example files",
}

_DESCRIPTION = """\
Simulate human balance control: push thresholds in each direction, for any controller and gains."""

_EXAMPLES = """\
examples:
  biped run thrown-block                           run an experiment as published
  biped run balance --set push.impulse=8 --set push.azimuth=90deg
  biped show balance                               all parameters, with units and sources
  biped push-map --quick                           push threshold for each direction of the push
  biped report results/push-map/published          one page about a run or a study

Exit status of all commands: 0 done, 1 a result is missing or unreliable, 2 bad input or a file that cannot be written,
130 interrupted.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Execute a command line, by default that of this process; return the exit status, which ``--help`` explains."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # print replacements for characters that the encoding lacks
    os.environ["MPLBACKEND"] = "agg"  # figures are only written to files
    try:
        words = sys.argv[1:] if argv is None else list(argv)
        with interrupt_on_sigterm() as heard:
            status = contextvars.copy_context().run(_do, words)  # the options' choices end with the command
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for Python's remaining output
        return CLOSED_PIPE
    return TERMINATED if heard else status


def _do(argv: list[str]) -> int:
    try:
        if argv[:1] in (["--version"], ["version"]):
            print(f"biped {_version()}")
            return 0
        if not argv or (argv[0] not in _COMMANDS and argv[0] not in commands()):
            _top(argv or ["--help"])
        parser, run = command(argv[0])
        options = parser().parse_args(argv[1:])
        from biped.inputs.modules import trusting

        with trusting(getattr(options, "trust", False)):
            return run(options)
    except SystemExit as stop:  # argparse exits after help or an error
        return stop.code if isinstance(stop.code, int) else 0
    except KeyboardInterrupt:
        return interrupted(", before there was anything to save")
    except BrokenPipeError:
        raise
    except Exception as error:
        message = describe(error)
        if message is None:
            raise
        return fail(message, FAILURE)


def commands() -> dict[str, str]:
    """Return all commands and their lines in ``biped --help``."""
    kinds = importlib.import_module("experiments.studies.registry").kinds()
    return _COMMANDS | {name: kind.title for name, kind in kinds.items() if kind.title}


def command(name: str) -> "tuple[Callable[[], Parser], Callable[[argparse.Namespace], int]]":
    """Return two functions: one makes a command's parser, the other runs the command and returns the exit status."""
    if name in _COMMANDS:
        module = importlib.import_module(f"experiments.commands.{name.replace('-', '_')}")
        return module.parser, module.main
    study = importlib.import_module("experiments.commands.study")
    return partial(study.parser, name), study.main


def fail(message: str, status: int, kind: str = "error: ") -> int:
    print(f"biped: {kind}{' '.join(message.split())}", file=sys.stderr)
    return status


def interrupted(rest: str = "") -> int:
    return fail(f"interrupted{rest}", INTERRUPTED, "")


def announce(sentence: str) -> None:
    """Print a sentence about slow work, unless output is turned off."""
    if form() is Form.NOTHING:
        return
    from experiments.cli.compilation import show_compilation  # with Numba, loaded by now

    show_compilation()
    print(f"biped: {sentence}", file=sys.stderr)


class Parser(argparse.ArgumentParser):
    """Parser that reports an error in one line, and keeps the line breaks of descriptions.

    Attributes:
        intermixed: True if positional arguments may follow options.
    """

    intermixed = False

    def __init__(
        self, prog: str, description: str = "", epilog: str = "", *, page: str = "", add_help: bool = True
    ) -> None:
        """Make a parser whose help ends with the examples of ``epilog`` and names a page of the documentation."""
        epilog = f"{epilog}\nMore: docs/{page}.md\n" if page else epilog
        as_written = argparse.RawDescriptionHelpFormatter
        super().__init__(
            prog, None, description, epilog, formatter_class=as_written, add_help=add_help, allow_abbrev=False
        )

    def option(self, name: str, metavar: str, text: str, value: Any = str, *aliases: str, **more: Any) -> None:
        """Add an option; ``value``: type, or default value, which the help shows; ``more``: for ``add_argument``."""
        if callable(value):
            keywords = {"type": value}
        else:
            shown = f"{value:g}" if isinstance(value, int | float) else value
            keywords, text = {"type": type(value), "default": value}, f"{text} ({shown})"
        self.add_argument(name, *aliases, metavar=metavar, help=text, **keywords | more)

    def switch(self, name: str, text: str, *aliases: str) -> None:
        """Add an option without a value."""
        self.add_argument(name, *aliases, action="store_true", help=text)

    def add_out(self, default: str) -> None:
        self.option("--out", "DIR", f"folder for the results (default: {default})", folder_name)
        self.switch("--no-figures", "draw no figures")

    def add_results(self, default: str, *, forms: bool = True) -> None:
        """Add options for the folder of results, the form of the reply if it has ``forms``, and the look of figures."""
        self.add_out(default)
        if forms:
            self.add_forms()
        self.add_figure_look()

    def add_verbose(self) -> None:
        self.switch("-v", "also report contacts, torques and the solver", "--verbose")

    def add_trust(self) -> None:
        """Add ``--trust``, for commands that read saved files."""
        self.switch("--trust", "run your own code that saved files name: controller, robot, experiment or metric")

    def add_forms(self) -> None:
        """Add ``--json`` and ``--quiet``, for commands that call ``experiments.cli.reply.reply``."""
        either = self.add_mutually_exclusive_group()
        either.add_argument("--json", action="store_true", help="print one JSON object or array, and nothing else")
        either.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")

    def parse_args(self, argv: Sequence[str]) -> argparse.Namespace:  # type: ignore[override]
        parse = self.parse_known_intermixed_args if self.intermixed else self.parse_known_args
        options, unknown = parse(argv)
        if unknown:
            hint = next(filter(None, map(self._hint, unknown)), "").strip()
            self.error(f"unrecognized arguments: {' '.join(unknown)}{hint and f'; {hint}'}")
        options.typed = shlex.join([*self.prog.split(), *argv])
        choose_form(options)
        _choose_look(options)
        return options

    def _hint(self, word: str) -> str:
        """Return a hint at the option most similar to an unknown word, or at --set; empty if neither is likely."""
        name, equals, _ = word.partition("=")
        if name.startswith("-"):
            return did_you_mean(name, self._option_string_actions)
        return f"a parameter is set by --set {word}" if equals and "--set" in self._option_string_actions else ""

    def add_figure_look(self) -> None:
        """Add options for the formats, the width and the axes of figures, which take effect when they are read."""
        self.option("--figures", "FORMATS", "formats of figures: png (default), pdf, svg, or several, such as pdf,svg")
        text = "width of figures: a journal's column, single (85 mm) or double (170 mm), or a width such as 120mm"
        self.option("--figure-width", "WIDTH", text)
        self.add_figure_axes()

    def add_figure_axes(self) -> None:
        """Add the option for the axes of a run's figures and page, without the other options of figures."""
        self.option("--figure-axes", "AXES", "axes of a run's figures: anatomical (AP, ML; default) or world (x, y)")

    def error(self, message: str) -> NoReturn:
        raise SystemExit(fail(f"{message}; see `{self.prog} --help`", FAILURE))


def _choose_look(options: argparse.Namespace) -> None:
    from experiments.lookup.figure_look import choose_look, look_of

    choose_look(look_of(*(getattr(options, name, None) for name in ("figures", "figure_width", "figure_axes"))))


def folder_name(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("the name of a folder must not be empty; '.' is the current folder")
    return text


def _top(argv: Sequence[str]) -> NoReturn:
    """Print the help or version of ``biped``, or report an unknown command."""
    top = Parser("biped", _DESCRIPTION, _EXAMPLES)
    top.switch("--version", "print the version and exit")
    subparsers = top.add_subparsers(dest="command", required=True, metavar="COMMAND", title="commands")
    known, name = commands(), argv[0]
    for each, text in known.items():
        subparsers.add_parser(each, help=text, add_help=False)
    if not name.startswith("-"):
        hint = did_you_mean(name, known).strip() or f"commands are {', '.join(known)}"
        top.error(f"unknown command {name!r}; {hint}")
    top.parse_args(argv)
    raise AssertionError("every option of the top-level command must exit, and a missing one is an error")


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("biped-balance")
    except PackageNotFoundError:
        return "(not installed)"
