"""``biped integrators``: what each integrator can do."""

import sys
from argparse import Namespace
from pathlib import Path

from experiments.cli.main import Parser
from experiments.cli.reply import reply
from experiments.cli.terminal import terminal

_EXAMPLES = """\
examples:
  biped integrators --csv integrators.csv          the table for a spreadsheet
  biped run stand-tilted --integrator recursive    use one
"""


def parser() -> Parser:
    own = Parser("biped integrators", "List the integrators, and what each can do.", _EXAMPLES, page="integrators")
    own.option("--csv", "FILE", "write the table to a file instead; - is the terminal")
    own.add_forms()
    return own


def main(options: Namespace) -> int:
    from experiments.commands.integrator_table import as_csv, integrator_rows, print_table

    if options.csv is None:
        reply(integrator_rows())
        print_table(terminal())
    elif options.csv == "-":
        sys.stdout.write(as_csv())
    else:
        Path(options.csv).write_text(as_csv(), encoding="utf-8")
    return 0
