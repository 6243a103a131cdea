"""The command ``biped``: what it can do, and how it ends.

Nothing heavy is imported before it is needed, so that asking for help is quick.
"""

import argparse
import importlib
import sys
from collections.abc import Sequence
from typing import NoReturn

from experiments.cli import arguments
from experiments.cli.failures import FAILURE, INTERRUPTED, describe

#: The module of each subcommand; it has a function ``main(options) -> int``.
COMMANDS = {
    "run": "experiments.commands.run",
    "list": "experiments.commands.list",
    "show": "experiments.commands.show",
    "search-friction": "experiments.commands.search_friction",
    "integrators": "experiments.commands.integrators",
}

#: Those that read their own options: the module of each has a function ``main(argv) -> int``.
OWN_OPTIONS = {
    "bench": "experiments.commands.bench",
    "export": "experiments.commands.export",
    "block-speed": "experiments.commands.block_speed",
    "compare": "experiments.commands.compare",
    "live": "experiments.commands.live",
    "push-map": "experiments.commands.push_map",
    "render": "experiments.commands.render",
    "report": "experiments.commands.report",
    "reproduce": "experiments.commands.reproduce",
    "rerun": "experiments.commands.rerun",
    "sweep": "experiments.commands.sweep",
    "sensitivity": "experiments.commands.sensitivity",
    "threshold": "experiments.commands.threshold",
    "tune": "experiments.commands.tune",
    "view": "experiments.commands.view",
    "work-precision": "experiments.commands.work_precision",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Do what the command line says.

    Args:
        argv: the arguments; those of the process if not given.

    Returns:
        The exit status: 0 done (also where the human fell), 1 a step had no solution or an item of a paper
        could not be computed, 2 bad input or a file that cannot be written, 130 interrupted.
    """
    argv = sys.argv[1:] if argv is None else list(argv)
    try:
        if argv and argv[0] in OWN_OPTIONS:
            return int(importlib.import_module(OWN_OPTIONS[argv[0]]).main(argv[1:]))
        options = arguments.parser(Parser).parse_args(argv)
        return int(importlib.import_module(COMMANDS[options.command]).main(options))
    except SystemExit as stop:  # argparse ends so, after help or a mistake
        return stop.code if isinstance(stop.code, int) else 0
    except KeyboardInterrupt:
        return fail("interrupted, before there was anything to save", INTERRUPTED, "")
    except BrokenPipeError:
        sys.stderr.close()
        return FAILURE
    except Exception as error:
        message = describe(error)
        if message is None:
            raise
        return fail(message, FAILURE)


def fail(message: str, status: int, kind: str = "error: ") -> int:
    """One line on the standard error; the exit status."""
    print(f"biped: {kind}{' '.join(message.split())}", file=sys.stderr)
    return status


def announce(sentence: str) -> None:
    """One line on the standard error, about what is going on."""
    print(f"biped: {sentence}", file=sys.stderr)


class Parser(argparse.ArgumentParser):
    """A parser that says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        """Say it, and exit with 2."""
        raise SystemExit(fail(f"{message}; see `{self.prog} --help`", FAILURE))
