"""``biped completion``: a script that completes the commands, their options and parameters in a shell.

The script holds all words, so that nothing is started when the user presses Tab.
"""

import argparse
from argparse import Namespace
from collections.abc import Iterable

from experiments.catalogue.registry import all_experiments
from experiments.cli.main import COMMANDS, Parser, command
from experiments.cli.settings import ALIASES
from experiments.commands.example import examples

SHELLS = ("bash", "zsh")

_EXAMPLES = """\
examples:
  biped completion bash > ~/.local/share/bash-completion/completions/biped
  biped completion zsh >> ~/.zshrc

Make it anew after an update.
"""

#: Completes what no case says as a file.
_SCRIPT = """\
{begin}_biped() {{
    local command=${{COMP_WORDS[1]}} before=${{COMP_WORDS[COMP_CWORD-1]}} word=${{COMP_WORDS[COMP_CWORD]}} words=
    if [ "$COMP_CWORD" -eq 1 ]; then
        words="{commands}"
    else
        case $before in
            --set) words="{parameters}"; compopt -o nospace 2> /dev/null ;;
            {integrators}) words="{names}" ;;
            run|show|live|compare) words="{experiments}" ;;
            example) words="{examples}" ;;
            completion) words="{shells}" ;;
        esac
        case $word in
            -*) case $command in
{options}
            esac ;;
        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _biped biped
"""
_ZSH = "autoload -U +X bashcompinit && bashcompinit\n"


def parser() -> Parser:
    own = Parser("biped completion", "Print a script that completes commands, options and parameters.", _EXAMPLES)
    own.add_argument("shell", metavar="SHELL", choices=SHELLS, help=f"one of {', '.join(SHELLS)}")
    return own


def main(options: Namespace) -> int:
    print(script(options.shell), end="")
    return 0


def script(shell: str) -> str:
    from biped.integrators import INTEGRATORS
    from experiments.engines.registry import ENGINES

    experiments = all_experiments()
    parameters = dict.fromkeys(f"{parameter.name}=" for one in experiments for parameter in one.parameters)
    return _SCRIPT.format(
        begin=_ZSH if shell == "zsh" else "",
        commands=" ".join(COMMANDS),
        parameters=" ".join(parameters),
        integrators="|".join(["--integrator", *ALIASES["integrator"]]),
        names=" ".join([*INTEGRATORS, *ENGINES]),
        experiments=" ".join(one.name for one in experiments),
        examples=" ".join(examples()),
        shells=" ".join(SHELLS),
        options="\n".join(f'{" " * 16}{name}) words="{" ".join(options_of(name))}" ;;' for name in COMMANDS),
    )


def options_of(name: str) -> Iterable[str]:
    """The options of a command, in their long forms where they have one."""
    actions: list[argparse.Action] = command(name).parser()._actions
    return [option for action in actions for option in action.option_strings if option.startswith("--")]
