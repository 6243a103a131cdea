"""``biped mechanism``: a mechanism from a file, simulated by the generalized midpoint rule, saved and drawn."""

import math
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biped.errors import InputError, IntegrationError
from biped.inputs.modules import module_of_file
from experiments.cli.failures import INTERRUPTED, UNSOLVED
from experiments.cli.main import Parser, announce, fail
from experiments.cli.output import writable_folder
from experiments.cli.progress import ProgressBar
from experiments.cli.quantities import scaled
from experiments.cli.reply import reply
from experiments.cli.terminal import print_explained, say, say_files

if TYPE_CHECKING:
    from formulations.mechanism import Mechanism
    from formulations.mechanism.simulation import Motion

#: Suffixes of robot files; any other file is an S-expression.
ROBOTS = (".urdf", ".xml", ".mjcf", ".toml", ".json")

_DESCRIPTION = """\
Simulate a mechanism of frames, masses, springs, forces and constraints by the variational integrator of Johnson and
Murphey (2009). The initial configuration is projected onto the constraints first."""

_EXAMPLES = """\
A file is an S-expression, as in the paper, or a robot (.urdf, .xml, .toml):

  (system (gravity 0 0 -9.81)
    (ry "upper" (tz -1 (mass 1) (name "elbow")
      (ry "lower" (tz -1 (mass 1) (name "tip"))))))

examples:
  biped example closed-chain.trep > closed-chain.trep
  biped mechanism closed-chain.trep --duration 120 --start K=30deg M=-1.345 J=-30deg H=1.21 A=-30deg C=1.539 E=1.225
  biped mechanism arm.trep --rates shoulder=2 --motion wrist=45deg
  biped mechanism robot.urdf --write robot.trep    convert a robot to an S-expression, and simulate its fall
  biped view results/closed-chain

Exit status 1: a time step had no solution; the run up to it is saved.
"""


def parser() -> Parser:
    command = Parser("biped mechanism", _DESCRIPTION, _EXAMPLES, page="mechanisms")
    command.add_argument("file", metavar="FILE", help="file of a mechanism as an S-expression, or of a robot")
    command.option("--duration", "S", "simulated seconds", 10.0, "--time")
    command.option("--step", "S", "time step of the integrator, in seconds", 0.01)
    command.option("--alpha", "A", "parameter of the midpoint rule, 0 to 1", 0.5)
    command.option("--record-every", "N", "number of time steps from one saved row to the next", 1)
    for name, what in (
        ("start", "initial values of variables (default: 0), which are projected onto the constraints"),
        ("rates", "initial rates of variables per second (default: 0)"),
        ("motion", "constant values of variables with a prescribed motion"),
    ):
        text = f"{what}; angles as 0.52 or 30deg"
        command.option(f"--{name}", "NAME=X", text, nargs="+", action="extend", default=[])
    command.option("--components", "FILE.py", "Python file that defines your own components of the mechanism")
    command.option("--write", "FILE", "write the mechanism to a file, as an S-expression")
    command.add_results("results/NAME")
    return command


def main(options: Namespace) -> int:
    mechanism = _read(options)
    start, rates, motion = (_values(getattr(options, name), f"--{name}") for name in ("start", "rates", "motion"))
    begin = mechanism.satisfy_constraints(mechanism.configuration(start | motion))
    folder = writable_folder(options.out or Path("results") / mechanism.name)
    if options.write is not None:
        from formulations.mechanism import save_mechanism

        save_mechanism(mechanism, options.write)
    status, failed = 0, ""
    try:
        with ProgressBar(options.duration) as bar:
            run = mechanism.simulate(
                options.duration, options.step, q=begin, v=rates, kinematic=dict(motion), alpha=options.alpha,
                record_every=options.record_every, announce=announce,
                progress=lambda part: bar(part * options.duration),
            )  # fmt: skip
    except IntegrationError as error:
        if error.run is None or not len(error.run.frame):
            raise
        run, status, failed = error.run, UNSOLVED, str(error)
    except KeyboardInterrupt:
        return fail("interrupted: nothing is saved", INTERRUPTED, "")
    _print_motion(run, _save(run, folder, draw=not options.no_figures), folder)
    return fail(failed, status) if failed else status


def _read(options: Namespace) -> "Mechanism":
    from formulations.mechanism import from_model, load_mechanism

    if options.components is not None:
        module_of_file(Path(options.components))
    if Path(options.file).suffix.lower() in ROBOTS:
        from biped import load_robot

        return from_model(load_robot(options.file))
    return load_mechanism(Path(options.file))


def _values(words: Sequence[str], option: str) -> dict[str, float]:
    """Return values by variable; angles may be in degrees."""
    from experiments.catalogue.parameters.parameter import DEGREES

    values: dict[str, float] = {}
    for word in words:
        name, _, text = word.partition("=")
        degrees = next((unit for unit in DEGREES if text.endswith(unit)), "")
        try:
            value = float(text.removesuffix(degrees))
        except ValueError:
            raise InputError(f"{option} {word}: it must be NAME=X with a number X, such as J=0.3 or J=17deg") from None
        values[name] = math.radians(value) if degrees else value
    return values


def _save(run: "Motion", folder: Path, *, draw: bool) -> list[Path]:
    """Save the run, the mechanism, and figures of both."""
    from biped.runs.run import MODEL, STATE, SUMMARY, TABLE
    from formulations.mechanism import MechanismError, save_mechanism

    run.save(folder)
    files = [folder / name for name in (TABLE, SUMMARY, STATE, MODEL)]
    text = folder / f"{run.mechanism.name}.trep"
    try:
        save_mechanism(run.mechanism, text)
        files.append(text)
    except MechanismError as error:  # a user component may have no text form
        announce(f"not written as S-expression: {error}")
    if draw and len(run.frame) > 1:
        from experiments.visualization.figures.mechanism import draw_motion

        files += draw_motion(run, folder)
    return files


def _print_motion(run: "Motion", files: Sequence[Path], folder: Path) -> None:
    facts = _facts(run)
    reply(facts | {"folder": str(folder)})
    energy, mechanism = facts["energy"], run.mechanism
    below, above = energy["least"] - energy["start"], energy["most"] - energy["start"]
    speed = facts["simulated_time"] / facts["wall_time"] if facts["wall_time"] > 0.0 else math.inf
    say(f"{mechanism.name}: {len(mechanism.coordinates)} variables, {len(mechanism.constraint_names)} constraints")
    rows = [
        ("start", ", ".join(f"{name} {value:.6g}" for name, value in facts["start"].items())),
        ("energy", f"{energy['start']:.6g} J at the start; change minus work of forces {below:+.2g} to {above:+.2g} J"),
        ("constraints", f"largest error {facts['constraint_error']:.2g}"),
        ("steps", f"{facts['steps']} of {scaled(facts['step'], 's')}; mean {facts['newton_mean']:.2f} iterations, "
                  f"{facts['newton_max']} at most; {speed:.3g} × real time"),
    ]  # fmt: skip
    print_explained(rows if mechanism.constraint_names else [*rows[:2], rows[3]])
    say_files(folder, files)


def _facts(run: "Motion") -> dict[str, Any]:
    frame = run.frame
    energy = (frame["energy"] - frame["work"]).to_numpy()
    return {
        "mechanism": run.mechanism.name,
        "simulated_time": float(frame["time"].iloc[-1] - frame["time"].iloc[0]),
        "start": dict(zip(run.mechanism.coordinates, run.q[0].tolist(), strict=True)),
        "energy": {"start": float(energy[0]), "least": float(energy.min()), "most": float(energy.max())},
        "constraint_error": float(run.constraint_errors.max()),
        **{name: value for name, value in run.metrics.items() if value is not None},
        "wall_time": run.summary["wall_time"],
    }
