"""``biped integrators``: properties of each integrator, as its class declares them."""

from argparse import Namespace
from typing import Any

from experiments.cli.main import Parser
from experiments.cli.reply import reply
from experiments.cli.terminal import print_explained, say

_EXAMPLES = """\
examples:
  biped integrators --json                         as JSON, for a program
  biped run stand-tilted --integrator recursive    a run with one of them
"""

TREES = "trees of joints"
LAGRANGIAN = "Lagrangian systems on a linear space"
#: Attribute of an integrator's class that a column shows, by the column's heading.
COLUMNS = {
    "name": "name",
    "paper": "paper",
    "coordinates": "coordinates",
    "order": "order",
    "symmetric": "symmetric",
    "symplectic": "symplectic",
    "momentum": "conserves_momentum",
    "energy": "conserves_energy",
    "contact": "takes_contact",
    "moving floor": "takes_moving_floor",
    "joint limits": "takes_passive_joints",
    "screws": "takes_helical_joints",
    "loops": "takes_loops",
    "cost": "cost",
}
SYSTEMS = "systems"


def parser() -> Parser:
    command = Parser("biped integrators", "List the integrators and their properties.", _EXAMPLES, page="integrators")
    command.add_forms()
    return command


def main(_: Namespace) -> int:
    rows = integrator_rows()
    reply(rows)
    for systems in (TREES, LAGRANGIAN):
        say(f"\n{systems}", "bold cyan")
        print_explained([(row["name"], in_words(row)) for row in rows if row[SYSTEMS] == systems])
    return 0


def integrator_rows() -> list[dict[str, Any]]:
    """Return a row for each integrator, by heading: those of trees first, then those of Lagrangian systems."""
    from biped.integrators import INTEGRATORS
    from formulations.lagrangian import LAGRANGIAN_METHODS

    return [
        {heading: getattr(integrator, attribute) for heading, attribute in COLUMNS.items()} | {SYSTEMS: systems}
        for systems, integrators in ((TREES, INTEGRATORS), (LAGRANGIAN, LAGRANGIAN_METHODS))
        for integrator in integrators.values()
    ]


def in_words(row: dict[str, Any]) -> str:
    """Return a sentence on the properties of an integrator, from its ``row`` of the table of integrators."""
    traits = [f"of order {row['order']}", *(name for name in ("symmetric", "symplectic") if row[name] is True)]
    conserves = " and ".join(name for name in ("momentum", "energy") if row[name] is True)
    features = ("contact", "moving floor", "joint limits", "screws", "loops")
    takes = ", ".join(name for name in features if row[name] is True)
    parts = [", ".join(traits), conserves and f"conserves {conserves}", takes and f"takes {takes}"]
    return "; ".join([*filter(None, parts), f"{row['cost']}; {row['coordinates']} coordinates ({row['paper']})"])
