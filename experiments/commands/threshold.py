"""``biped threshold``: how large any parameter of any experiment may be, from a file; and its presets.

``biped push-map`` and ``biped block-speed`` are the presets of ``experiments.studies.threshold.presets``.
"""

from argparse import Namespace
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from biped.errors import InputError
from experiments.cli.main import Parser
from experiments.cli.names import PUSH_MAP
from experiments.cli.settings import add_settings, changes_of, experiment_of
from experiments.commands.study import STOPPING, config_of, run, study_parser
from experiments.studies.grid import HALVINGS, Grid
from experiments.studies.threshold.budgets import BUDGETS, Budget

if TYPE_CHECKING:
    import pandas as pd

    from experiments.studies.grid import Grid
    from experiments.studies.threshold.findings import Findings
    from experiments.studies.threshold.threshold import Threshold

#: Shorthands of settings; ``--seed`` is that of the replicas here.
SETTINGS = ("duration", "step", "integrator")

STATUS = f"""\
{STOPPING}A trial that cannot be computed counts as not recovered, and is reported; one that is undecided or
unreliable counts as neither, unless `counts` names it.
Exit status: 0 done, 2 bad input or a file that cannot be written, 130 interrupted."""

_DESCRIPTION = """\
How large may a parameter be for the human to recover? A file says which parameter of which experiment, between which
values, under which conditions, and how replicas differ. The threshold of a replica is the largest value tried below the
first at which it does not recover, found by a grid of values and a bisection; the threshold of a condition is the
median over replicas, with an interval that no single trajectory can move it out of."""

_EXAMPLES = f"""\
a file:
  experiment = "thrown-block"
  replicas = 21                                    # seed = 0, confidence = 0.95, count_stepping = false
                                                   # most_steps = 0, of those that count
  counts = ["fell", "lost control", "failed"]      # what is lost; "stepped" too, if not given

  [swept]
  parameter = "block.mass"                         # harder as it grows; factor = -1 where it is the other way
  label = "mass of the block"

  [grid]
  from = 0.5
  to = 5.0
  by = 0.5                                         # tolerance = by / 16, limit = 16 × (to − from)

  [set]
  initial.jitter = 0.005

  [[randomization]]
  parameters = ["initial.seed"]
  kind = "seed"                                    # or factor, normal, uniform, with a width

  [[condition]]
  labels.friction = "as published"
  [[condition]]
  labels.friction = "low"
  set."floor.mu_s" = 0.4
  set."floor.mu_d" = 0.35

examples:
  biped threshold block-mass.toml
  biped threshold block-mass.toml --out results/mass --workers 2

{STATUS}
"""


#: The description and the examples of a preset.
_HELP = {
    PUSH_MAP: (
        """\
How hard can the human be pushed before it falls, and from where? For each direction, an ensemble of replicas - with
scattered joint angles, floors and times of the push - is searched for the largest impulse below the first at which
each does not recover: a grid of impulses for all, then a bisection for each. The map is the median over replicas, with
an interval that no single trajectory can move it out of. Replicas are the same for all directions, and for all maps
with the same seed.""",
        f"""\
examples:
  biped push-map                                   the thesis's gains
  biped push-map --quick                           fewer directions and replicas
  biped push-map --gains tuned.toml --compare results/push-map/published
                                                   another map, over the first, and what changed
  biped push-map --engines recursive,pybullet,mujoco
                                                   the maps of three engines, on the same replicas
  biped push-map --controller stepping --steps 0,1,any
                                                   in place, with one step, and with any number, and their limits
  biped push-map --heights 0.95 1.1 1.25           [m] where it is pushed; the trunk's centre of mass is at 1.1
  biped push-map --set push.duration=0.02 --set floor.mu_s=0.3 --set floor.mu_d=0.25

The folder gets trials.parquet, push-map.csv (a row for each direction), push-map-curves.csv (the proportion that
recovers at each impulse), push-map-replicas.csv (each replica's threshold) and push-map.png.
{STATUS}
""",
    ),
    "block-speed": (
        """\
The thesis's human stands up to a block of 1.8 kg thrown at its back with 4.5 m/s, and "can not recover if the velocity
of the projectile is too large" (Wendlandt 1997, 4.3). How large is that? Many replicas of the experiment, with
scattered joint angles, floors and times of the hit, are searched for the largest speed below the first at which
each does not recover.""",
        f"""\
examples:
  biped block-speed                                the thesis's gains
  biped block-speed --quick                        in seconds
  biped block-speed --gains my-gains.toml --set block.mass=2.5
  biped block-speed --by 0.02 --replicas 80        a finer look

{STATUS}
""",
    ),
}


def parser() -> Parser:
    return study_parser("threshold", _DESCRIPTION, _EXAMPLES, "what is asked", "FILE")


def main(options: Namespace) -> int:
    from experiments.studies.threshold.threshold import threshold_from

    return run(threshold_from(config_of(options)), options, Path(options.file).stem)


def preset_parser(name: str) -> Parser:
    """The options of a preset's command; nothing is the default of a search, so that ``--quick`` can be recognized."""
    budgets = BUDGETS[name]
    own = study_parser(name, *_HELP[name], default="GAINS")
    if name == PUSH_MAP:
        counts = f"{budgets.usual.directions}; --quick {budgets.quick.directions}"
        own.option("--directions", "N", f"number of directions, evenly around the human ({counts})", int)
        own.option("--heights", "M", "a map for each height of the push [m]", float, nargs="+")
        own.option("--engines", "NAMES", "engines whose maps are drawn over one another: recursive,pybullet,mujoco")
        own.option("--steps", "LIST", "a map for each number of steps that the law may take, with limits: 0,1,any")
        text = "folders of maps to draw this one over; changes are against the first"
        own.option("--compare", "STUDY", text, nargs="+", default=[])
        own.option("--recovery", "DIR", "results of `biped recovery`, for what the whole body can do at best")
    add_settings(own, *SETTINGS)
    group = own.add_argument_group("the search")
    for option, kind, dest, text in (
        ("--from", float, "start", f"least value [{budgets.unit}]"),
        ("--to", float, "stop", f"greatest value of the grid; it grows where all recover [{budgets.unit}]"),
        ("--by", float, "by", f"step between two values of the grid [{budgets.unit}]"),
        ("--tolerance", float, "tolerance", f"tolerance of a replica's threshold [{budgets.unit}]"),
        ("--replicas", int, "replicas", "number of replicas: scattered starts, times and floors"),
    ):
        usual, quick = getattr(budgets.usual, dest), getattr(budgets.quick, dest)
        group.add_argument(option, metavar="N" if kind is int else "X", type=kind, dest=dest,
                           help=f"{text} ({usual:g}; --quick {quick:g})")  # fmt: skip
    group.add_argument("--seed", metavar="N", type=int, default=0, help="seed of the replicas (0)")
    group.add_argument("--confidence", metavar="P", type=float, default=0.95, help="confidence of the intervals (0.95)")
    group.add_argument("--count-stepping", action="store_true", help="count a trial that stepped as recovered")
    group.add_argument("--most-steps", metavar="N", type=int, default=0, help="the same, of at most N steps")
    group.add_argument("--quick", action="store_true", help="fewer replicas and a coarser grid: half a minute")
    return own


def preset_main(name: str, options: Namespace) -> int:
    from experiments.visualization.studies.threshold import document

    plan = preset_plan(name, options)
    others = _others(getattr(options, "compare", []), plan)
    best = _best(getattr(options, "recovery", None))
    gains = "published" if options.gains is None else Path(options.gains).stem
    name = f"{gains}-quick" if options.quick else gains
    return run(plan, options, name, partial(document, others=others, best=best))


def preset_plan(name: str, options: Namespace) -> "Threshold":
    from experiments.studies.threshold.presets import PRESETS, by_steps, directions_and_heights, in_engines
    from experiments.studies.threshold.threshold import Condition

    preset = PRESETS[name]
    budget = BUDGETS[name].quick if options.quick else BUDGETS[name].usual
    experiment = experiment_of(options, preset.experiment)
    changes = changes_of(experiment, options, SETTINGS)
    conditions: tuple[Condition, ...] = (Condition(),)
    if name == PUSH_MAP:
        for parameter in ("push.azimuth", "push.impulse"):
            if parameter in changes:
                raise InputError(f"--set {parameter}: a push map varies it itself; leave it out")
        root = str(experiment.parameter("push.body").default)
        directions = budget.directions if options.directions is None else options.directions
        conditions = directions_and_heights(directions, options.heights, experiment.values(changes), root)
        if options.engines is not None:
            conditions = in_engines(options.engines.split(","), conditions, changes)
        if options.steps is not None:
            if options.counts or options.most_steps:
                besides = "--counts" if options.counts else "--most-steps"
                raise InputError(f"--steps says what counts already: leave {besides} out")
            conditions = by_steps(options.steps.split(","), conditions, changes, experiment)
    return preset.plan(
        experiment,
        changes,
        _grid(options, budget),
        conditions=conditions,
        replicas=budget.replicas if options.replicas is None else options.replicas,
        seed=options.seed,
        count_stepping=options.count_stepping or getattr(options, "steps", None) is not None,
        most_steps=options.most_steps,
        counts=options.counts or (),
        confidence=options.confidence,
        kind=name,
    )


def _grid(options: Namespace, budget: Budget) -> "Grid":
    start, stop, by = (
        getattr(budget, name) if getattr(options, name) is None else getattr(options, name)
        for name in ("start", "stop", "by")
    )
    tolerance = options.tolerance
    if tolerance is None:
        tolerance = budget.tolerance if options.by is None else by / 2.0**HALVINGS
    return Grid(start, stop, by, tolerance)


def _best(folder: str | None) -> "pd.DataFrame | None":
    """The results of optimal recovery, if their folder is given; read before anything is run."""
    from experiments.studies.recovery.study import table_of

    return None if folder is None else table_of(Path(folder))


def _others(folders: Sequence[str], plan: "Threshold") -> "dict[str, Findings]":
    """The maps to compare with, by the names of their folders; read before anything is run."""
    from experiments.studies.threshold.findings import check_pairs, read_findings

    found = {}
    for folder in folders:
        findings = read_findings(folder)
        check_pairs(findings.plan, plan)
        found[Path(folder).name] = findings
    return found
