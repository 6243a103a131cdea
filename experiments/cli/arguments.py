"""The command line: subcommands, options and their help."""

import argparse
from typing import Any

from experiments.catalogue.registry import MODULES
from experiments.cli.settings import SHORTHANDS, add_settings

_DESCRIPTION = """\
Simulate how a human keeps its balance: how hard can it be hit before it falls, from where, and with which gains?"""

_EXAMPLES = """\
examples:
  biped run thrown-block                           run an experiment as published
  biped run thrown-block --set block.velocity=-6,0,0.2
                                                   throw the block faster
  biped run stand-tilted --step 0.001 --gains my-gains.toml --out results/mine
  biped run balance --set push.impulse=8 --set push.azimuth=1.57
  biped show balance                               all parameters, with units and sources
  biped push-map --quick                           how hard a push may be, over its direction
  biped tune examples/tune-push.toml               look for better gains
  biped report results/push-map/published          one page about a run or a study
  biped reproduce wendlandt-1997 --quick           published tables and figures against ours, on one page
  biped integrators                                what each integrator can do
"""

_RUN_EXAMPLES = """\
examples:
  biped run stand-tilted
  biped run thrown-block --duration 5 --no-figures
  biped run thrown-block --set floor.mu_s=0.5 --set floor.mu_d=0.4
  biped run thrown-block --set controller.kp_position=50          one gain for x, y and z
  biped run thrown-block --set controller.kp_position=50,50,200   one for each
  biped run thrown-block --seed 7 --set initial.jitter=0.02       from scattered joint angles
  biped run box-drop --set initial.velocity=3,0,0

A file of gains holds a table [controller] with kp_position, kd_position, kp_orientation, kd_orientation;
what it leaves out keeps the published value, and --set overrides it.

The output folder gets run.parquet (one row per recorded step), summary.json, state.npz and the figures.
Exit status: 0 done (also where the human fell), 1 a step had no solution, 2 bad input, 130 interrupted.
"""

_SEARCH_EXAMPLES = """\
For each coefficient of friction, the box drop is compared with every fact that the thesis tells about it; the
interval in which all of them hold is then refined.

examples:
  biped search-friction
  biped search-friction --from 0.3 --to 0.5 --by 0.005 --out results/fine
"""


_INTEGRATORS_EXAMPLES = """\
examples:
  biped integrators                                what each can do
  biped integrators --csv integrators.csv          the same for a spreadsheet
  biped run stand-tilted --integrator recursive    use one
  biped work-precision                             which is the cheapest for an accuracy

An integrator of trees of joints steps models (biped.simulate); one of Lagrangian systems steps masses and rigid bodies
in the coordinates of a linear space, with constraints (biped.lagrangian).
"""


#: Commands that read their own options.
_VIEWERS = {
    "view": "show saved runs in three dimensions, in the browser",
    "render": "write a saved run as a video, or as a page that plays it",
    "live": "run an experiment in real time, with sliders and a button that pushes",
}
_STUDIES = {
    "sweep": "run an experiment at all combinations of values",
    "push-map": "how hard a push may be, over its direction",
    "block-speed": "how fast a block may be thrown",
    "threshold": "how large any parameter may be, from a file",
    "tune": "find gains that serve better, and prove it on fresh replicas",
    "sensitivity": "which parameters a metric depends on",
    "rerun": "run one trial of a study again, with everything recorded",
    "report": "write one page about a run or a study, with its figures",
    "export": "write a saved run for EUROBENCH or OpenSim",
}
_OTHERS = {
    "compare": "run an experiment in other physics engines, and compare",
    "work-precision": "compare all integrators: error against cost",
    "reproduce": "recompute the tables and figures of a paper",
    "bench": "measure the speed of the closed loop on this machine",
}


def parser(kind: type[argparse.ArgumentParser]) -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    top = kind(prog="biped", description=_DESCRIPTION, epilog=_EXAMPLES, **_raw())
    top.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND", title="commands")
    _add_run(commands)
    commands.add_parser("list", help="list the experiments")
    show = commands.add_parser("show", help="show all parameters of an experiment, with units and sources")
    show.add_argument("experiment", metavar="EXPERIMENT", help=f"one of: {', '.join(MODULES)}")
    for name, what in (_VIEWERS | _STUDIES).items():
        commands.add_parser(name, help=what, add_help=False)
    _add_search(commands)
    _add_integrators(commands)
    for name, what in _OTHERS.items():
        commands.add_parser(name, help=what, add_help=False)
    return top


def _raw() -> dict[str, Any]:
    return {"formatter_class": argparse.RawDescriptionHelpFormatter}


def _add_run(commands: Any) -> None:
    run = commands.add_parser(
        "run", help="run an experiment", description="Run an experiment.", epilog=_RUN_EXAMPLES, **_raw()
    )
    run.add_argument("experiment", metavar="EXPERIMENT", help=f"one of: {', '.join(MODULES)}")
    add_settings(run, *SHORTHANDS)
    run.add_argument("--out", metavar="DIR", help="folder for the results (default: results/EXPERIMENT)")
    run.add_argument("--no-figures", action="store_true", help="draw no figures")


def _add_search(commands: Any) -> None:
    search = commands.add_parser(
        "search-friction",
        help="find the floor's friction that reproduces the published box drop",
        description="Find the coefficient of friction that the thesis does not print.",
        epilog=_SEARCH_EXAMPLES,
        **_raw(),
    )
    search.add_argument("--from", metavar="MU", dest="begin", type=float, default=0.02, help="least coefficient (0.02)")
    search.add_argument("--to", metavar="MU", dest="end", type=float, default=1.5, help="greatest coefficient (1.5)")
    search.add_argument("--by", metavar="MU", type=float, default=0.01, help="spacing of the first look (0.01)")
    search.add_argument("--out", metavar="DIR", default="results/search-friction", help="folder for table and figure")
    search.add_argument("--no-figures", action="store_true", help="draw no figure")


def _add_integrators(commands: Any) -> None:
    integrators = commands.add_parser(
        "integrators",
        help="list the integrators and what each can do",
        description="List the integrators, and what each can do.",
        epilog=_INTEGRATORS_EXAMPLES,
        **_raw(),
    )
    integrators.add_argument("--csv", metavar="FILE", help="write the table to a file instead; - is the terminal")


class _Version(argparse.Action):
    """Print the version; looked up only when asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from importlib.metadata import PackageNotFoundError, version

        try:
            found = version("biped-balance")
        except PackageNotFoundError:
            found = "(not installed)"
        print(f"biped {found}")
        parser.exit()
