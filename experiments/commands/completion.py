"""``biped completion``: a script that completes the commands, their options and parameters in a shell.

The script contains all completions, so that pressing Tab starts no program.
"""

import argparse
from argparse import Namespace

from experiments.catalogue.registry import all_experiments
from experiments.cli.main import Parser, command, commands
from experiments.commands.example import examples

_EXAMPLES = """\
examples:
  biped completion bash > ~/.local/share/bash-completion/completions/biped
  biped completion zsh > ~/.zfunc/_biped

Write the script again after an update.
"""


def parser() -> Parser:
    command = Parser("biped completion", "Print a script that completes commands, options and parameters.", _EXAMPLES)
    command.add_argument("shell", metavar="SHELL", choices=("bash", "zsh", "tcsh"), help="bash, zsh or tcsh")
    return command


def main(options: Namespace) -> int:
    import shtab

    print(shtab.complete(whole_parser(), options.shell))
    return 0


def whole_parser() -> argparse.ArgumentParser:
    """Return one parser of all commands, with the completions of each argument as its ``choices``."""
    from biped.integrators import INTEGRATORS
    from experiments.engines.registry import ENGINES

    experiments = all_experiments()
    words = {
        "experiment": [item.name for item in experiments],
        "assignments": dict.fromkeys(f"{parameter.name}=" for item in experiments for parameter in item.parameters),
        "integrator": [*INTEGRATORS, *ENGINES],
        "name": examples(),
    }
    top = argparse.ArgumentParser("biped")
    subparsers = top.add_subparsers()
    for name, text in commands().items():
        subparser = subparsers.add_parser(name, help=text, parents=[command(name)[0]()], add_help=False)
        for action in subparser._actions:
            action.choices = action.choices or words.get(action.dest)
    return top
