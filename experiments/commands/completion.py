"""``biped completion``: a script that completes the commands, their options and parameters in a shell.

The script contains all words: pressing Tab starts no program.
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
    own = Parser("biped completion", "Print a script that completes commands, options and parameters.", _EXAMPLES)
    own.add_argument("shell", metavar="SHELL", choices=("bash", "zsh", "tcsh"), help="bash, zsh or tcsh")
    return own


def main(options: Namespace) -> int:
    import shtab

    print(shtab.complete(whole_parser(), options.shell))
    return 0


def whole_parser() -> argparse.ArgumentParser:
    """Return one parser of all commands, whose arguments have the words that complete them as choices."""
    from biped.integrators import INTEGRATORS
    from experiments.engines.registry import ENGINES

    experiments = all_experiments()
    words = {
        "experiment": [one.name for one in experiments],
        "assignments": dict.fromkeys(f"{parameter.name}=" for one in experiments for parameter in one.parameters),
        "integrator": [*INTEGRATORS, *ENGINES],
        "name": examples(),
    }
    top = argparse.ArgumentParser("biped")
    subparsers = top.add_subparsers()
    for name, text in commands().items():
        own = subparsers.add_parser(name, help=text, parents=[command(name)[0]()], add_help=False)
        for action in own._actions:
            action.choices = action.choices or words.get(action.dest)
    return top
