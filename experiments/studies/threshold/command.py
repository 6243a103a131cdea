"""Options of the commands ``biped push-map`` and ``biped block-speed``, and the studies that they select."""

from argparse import Namespace
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biped.errors import InputError
from experiments.cli.main import Parser
from experiments.cli.names import PUSH_MAP
from experiments.cli.settings import add_settings, changes_of, experiment_of
from experiments.studies.grid import HALVINGS, Grid
from experiments.studies.threshold.budgets import BUDGETS

if TYPE_CHECKING:
    from experiments.studies.threshold.threshold import Threshold

#: Options that set parameters; ``--seed`` is not among them, as it is the seed of the replicas here.
_SETTINGS = ("duration", "step", "integrator")


def add_options(parser: Parser, name: str) -> None:
    """Add the options of a preset; those of the search default to None, since ``--quick`` changes their defaults."""
    budgets = BUDGETS[name]
    usual, quick = asdict(budgets.usual), asdict(budgets.quick)
    if name == PUSH_MAP:
        parser.option("--heights", "M", "a map for each height of the push [m]", float, nargs="+")
        parser.option("--engines", "NAMES", "a map for each engine, such as recursive,pybullet,mujoco")
        parser.option("--steps", "LIST", "a map for each number of steps that the controller may take, such as 0,1,any")
        parser.option("--compare", "STUDY", "folders of other maps to compare with", nargs="+", default=[])
        parser.add_trust()
    add_settings(parser, *_SETTINGS)
    group = parser.add_argument_group("search")
    for option, dest, text in (
        ("directions", "directions", "number of directions, evenly around the human"),
        ("from", "start", f"least value of the grid [{budgets.unit}]"),
        ("to", "stop", f"largest value of the grid, exceeded for replicas that recover at it [{budgets.unit}]"),
        ("by", "by", f"step of the grid [{budgets.unit}]"),
        ("tolerance", "tolerance", f"tolerance of each replica's threshold [{budgets.unit}]"),
        ("replicas", "replicas", "number of replicas with random starts, times and floors"),
    ):
        if usual[dest] or dest != "directions":
            text, kind = f"{text} ({usual[dest]:g}; --quick {quick[dest]:g})", type(usual[dest])
            group.add_argument(f"--{option}", metavar="N" if kind is int else "X", type=kind, dest=dest, help=text)
    group.add_argument("--seed", metavar="N", type=int, default=0, help="seed of the replicas (0)")
    group.add_argument("--confidence", metavar="P", type=float, default=0.95, help="confidence of the intervals (0.95)")
    group.add_argument("--count-stepping", action="store_true", help="count trials that end in a step as recovered")
    most_steps = "count trials with at most N steps as recovered (0: see --count-stepping)"
    group.add_argument("--most-steps", metavar="N", type=int, default=0, help=most_steps)
    group.add_argument("--quick", action="store_true", help="fewer replicas and a coarser grid: half a minute")


def plan_of(options: Namespace) -> "Threshold":
    """Return the study that the command's options select; set ``options.name``, the name of its folder."""
    from experiments.studies.threshold.presets import PRESETS, by_steps, directions_and_heights, in_engines
    from experiments.studies.threshold.threshold import Condition

    name = options.command
    preset, budgets = PRESETS[name], BUDGETS[name]
    budget = asdict(budgets.quick if options.quick else budgets.usual)
    given = {key: value for key in budget if (value := getattr(options, key, None)) is not None}
    if "by" in given:
        budget["tolerance"] = given["by"] / 2.0**HALVINGS
    budget |= given
    experiment = experiment_of(options, preset.experiment)
    changes = changes_of(experiment, options, _SETTINGS)
    conditions: tuple[Condition, ...] = (Condition(),)
    if name == PUSH_MAP:
        for parameter in ("push.azimuth", "push.impulse"):
            if parameter in changes:
                raise InputError(f"--set {parameter}: a push map varies this parameter; leave it out")
        root = str(experiment.parameter("push.body").default)
        values = experiment.values(changes)
        conditions = directions_and_heights(budget["directions"], options.heights, values, root)
        if options.engines is not None:
            conditions = in_engines(options.engines.split(","), conditions, changes)
        if options.steps is not None:
            if options.counts or options.most_steps:
                option = "--counts" if options.counts else "--most-steps"
                raise InputError(f"--steps already decides which trials count as recovered: leave {option} out")
            conditions = by_steps(options.steps.split(","), conditions, changes, experiment)
    options.name = ("published" if options.gains is None else Path(options.gains).stem) + "-quick" * options.quick
    return preset.plan(
        experiment, changes, Grid(budget["start"], budget["stop"], budget["by"], budget["tolerance"]),
        conditions=conditions, replicas=budget["replicas"], seed=options.seed,
        count_stepping=options.count_stepping or getattr(options, "steps", None) is not None,
        most_steps=options.most_steps, counts=options.counts or (), confidence=options.confidence, kind=name,
    )  # fmt: skip


def maps_to_compare(plan: "Threshold", options: Namespace) -> dict[str, Any]:
    """Return the maps of ``--compare``, by folder name under ``maps``, the argument of ``document``."""
    from experiments.studies.threshold.findings import check_pairs, read_findings

    maps = {}
    for folder in getattr(options, "compare", []):
        findings = read_findings(folder)
        check_pairs(findings.plan, plan)
        maps[Path(folder).name] = findings
    return {"maps": maps}
