"""``biped example``: example files of studies, gains, and user controllers."""

from argparse import Namespace
from pathlib import Path

from biped.errors import InputError
from experiments.cli.main import Parser
from experiments.cli.names import nearest
from experiments.cli.reply import reply
from experiments.cli.terminal import print_explained

FOLDER = Path(__file__).parents[1] / "examples"

_EXAMPLES = """\
examples:
  biped example tune-push.toml > tune-push.toml
  biped tune tune-push.toml
"""


def parser() -> Parser:
    command = Parser("biped example", "Print an example file of the project, or list all of them.", _EXAMPLES)
    command.add_argument("name", metavar="NAME", nargs="?", help="name of an example file (default: list all examples)")
    command.add_forms()
    return command


def main(options: Namespace) -> int:
    if options.name is None:
        titles = [(name, title_of(name)) for name in examples()]
        reply([{"name": name, "title": title} for name, title in titles])
        print_explained(titles)
        return 0
    if options.name not in examples():
        raise InputError(f"unknown example {options.name!r}; {nearest(options.name, examples())}")
    text = (FOLDER / options.name).read_text(encoding="utf-8")
    reply({"name": options.name, "text": text})
    if not (options.json or options.quiet):
        print(text, end="")
    return 0


def examples() -> list[str]:
    """Return the names of the example files."""
    return sorted(file.name for file in FOLDER.iterdir() if file.suffix in (".toml", ".py", ".trep"))


def title_of(name: str) -> str:
    """Return the title in an example's first line."""
    first = (FOLDER / name).read_text(encoding="utf-8").splitlines()[0]
    return first.strip('#"; ').replace("``", "").replace("examples/", "")
