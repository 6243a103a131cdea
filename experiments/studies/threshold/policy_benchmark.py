"""The push benchmark of learned policies: a fixed protocol of push thresholds (docs/policy-benchmark.md)."""

import math
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from biped.errors import InputError
from experiments.cli.main import Parser
from experiments.cli.settings import add_assignments, changes_of

if TYPE_CHECKING:
    from experiments.catalogue.parameters.parameter import Value
    from experiments.studies.threshold.threshold import Condition, Threshold

#: Version of the protocol: it changes with any number below.
PROTOCOL = 2
#: [s] Durations of the pushes.
DURATIONS = (0.1, 0.3)
#: Coefficient of friction of the slippery floor.
SLIPPERY = 0.3
#: Numbers of directions and replicas, and of the quick benchmark.
USUAL, QUICK = (24, 21), (4, 11)
#: [m/s] Steps of the grid of impulses and its end, as changes of velocity; tolerance in parts of a step.
STEP, END, PARTS = 0.1, 1.0, 8
#: [s] Earliest push; time from its latest end to the verdict.
BEGIN, AFTER = 1.0, 4.0
#: Beginnings of the parameters that the protocol sets.
FIXED = ("push.", "initial.", "run.duration")
#: [s] Range of the push's start for policies without a gait.
NO_GAIT = 1.0
POLICY, SERVOS, WHOLE_BODY = "policy", "servos alone", "whole-body"
USUAL_FLOOR = "usual floor"


def add_options(parser: Parser, _name: str) -> None:
    """Add the options of the command."""
    parser.add_argument("policy", metavar="FILE", help="TOML file that describes the policy")
    parser.option("--robot", "FILE", "robot of the policy: .toml, .urdf, .xml", required=True)
    parser.option(
        "--engine", "NAME", "integrator, engine or MuJoCo's scene file: mujoco, scene.xml (default: recursive)"
    )
    parser.switch("--quick", "4 directions and 11 replicas, pushes of 0.1 s, the policy alone: some minutes")
    parser.option("--compare", "STUDY", "folders of other policies' benchmarks to compare with", nargs="+", default=[])
    parser.add_trust()
    add_assignments(parser)
    parser.set_defaults(gains=None)


def plan_of(options: Namespace) -> "Threshold":
    """Return the benchmark of the policy that the options name."""
    from controllers.policy.description import Description, read
    from experiments.catalogue.parameters.robots import robot_named
    from experiments.catalogue.registry import experiment_named
    from experiments.engines.registry import engine_address
    from experiments.studies.grid import Grid
    from experiments.studies.randomization import Randomization
    from experiments.studies.threshold.presets import ENGINE, PRESETS

    preset, path = PRESETS[options.command], Path(options.policy)
    experiment = experiment_named(preset.experiment, str(path), options.metric_files, options.robot)
    model = robot_named(options.robot)
    description: Description = read(path, model)
    gait = NO_GAIT if description.gait is None else description.gait.period
    given = changes_of(experiment, options, ())
    for parameter in given:
        if parameter.startswith(FIXED):
            raise InputError(f"--set {parameter}: the protocol sets this parameter; leave it out")
    command = {name: value for name, value in given.items() if name.startswith("controller.")}
    changes: dict[str, Value] = {"push.start": BEGIN, "run.duration": BEGIN + gait + max(DURATIONS) + AFTER}
    changes |= {} if options.engine is None else {ENGINE: engine_address(options.engine)}
    changes |= {name: value for name, value in given.items() if name not in command}
    directions, replicas = QUICK if options.quick else USUAL
    controllers: dict[str, dict[str, Value]] = {
        POLICY: command,
        SERVOS: {**command, "controller.gain": 0.0},
        WHOLE_BODY: {"controller.name": WHOLE_BODY},
    }
    slippery: dict[str, Value] = {"floor.mu_s": SLIPPERY, "floor.mu_d": SLIPPERY}
    rings = [(name, controller, span) for name, controller in controllers.items() for span in DURATIONS]
    conditions = [c for ring in (rings[:1] if options.quick else rings) for c in _ring(*ring, directions)]
    if not options.quick:
        conditions += _ring(POLICY, {**command, **slippery}, DURATIONS[0], directions, f"floor µ {SLIPPERY:g}")
    step = STEP * model.total_mass
    options.name = path.stem + "-quick" * options.quick
    return replace(preset, delay=Randomization(("push.start",), "uniform", gait)).plan(
        experiment, changes, Grid(0.0, END * model.total_mass, step, step / PARTS), conditions=tuple(conditions),
        replicas=replicas, count_stepping=not options.counts, counts=options.counts or (), kind=options.command,
    )  # fmt: skip


def _ring(
    name: str, changes: "dict[str, Value]", duration: float, directions: int, floor: str = USUAL_FLOOR
) -> "list[Condition]":
    """Return the conditions of a controller, a duration of the push [s] and a floor, one for each direction."""
    from experiments.studies.threshold.directions import evenly
    from experiments.studies.threshold.threshold import Condition

    return [
        Condition(
            {**changes, "push.duration": duration, "push.azimuth": math.radians(azimuth)},
            {"controller": name, "duration": f"{duration:g} s", "floor": floor, "direction": azimuth},
            is_reference=name != POLICY,
        )
        for azimuth in evenly(directions)
    ]
