"""``biped linearize``: exact A and B of a closed loop at a time of an experiment, with an analysis."""

from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from biped.errors import InputError
from biped.inputs.extras import lacking, need
from biped.inputs.modules import saved_names
from experiments.cli.main import Parser, announce
from experiments.cli.output import writable_folder
from experiments.cli.reply import reply
from experiments.cli.settings import SHORTHANDS, add_experiment, add_settings, changes_of, experiment_of
from experiments.cli.terminal import say_files
from experiments.visualization.video.frame_schedule import schedule_of

if TYPE_CHECKING:
    from biped import Scene, State
    from biped.derivatives.linearization import Linearization

#: [1/s] frame rate of an animated mode, [s] its duration, and [pixels] its size.
_RATE, _SHOWN, _SIZE = 30.0, 4.0, (960, 540)

_DESCRIPTION = """\
Linearize the closed loop over one control period, exactly, at a time of a run: A, B, eigenvalues, damping, frequency,
modes, margin of stability, controllability, and the sensitivity of the slowest mode to each gain."""

_EXAMPLES = """\
examples:
  biped linearize balance --at 2                   into results/linearize/balance
  biped linearize results/balance --at 1.5         the scene of a saved run
  biped linearize balance --at 2 --open-loop       with the torques held
  biped linearize balance --at 2 --animate 3       with pages that animate the three slowest modes
"""


def parser() -> Parser:
    command = Parser("biped linearize", _DESCRIPTION, _EXAMPLES, page="linearize")
    add_experiment(command, text="name of an experiment, FILE.py, MODULE:NAME, or folder of a saved run")
    add_settings(command, *SHORTHANDS)
    command.option("--at", "S", "time of the run in seconds, rounded to a control period", float, required=True)
    command.switch("--open-loop", "hold the controller's torques constant")
    command.switch("--equilibrium", "linearize at the nearest equilibrium, at which all contacts stick")
    command.option("--animate", "N", "write pages that animate the N slowest modes", int, default=0)
    command.add_out("results/linearize/EXPERIMENT")
    command.add_forms()
    command.add_trust()
    return command


def main(options: Namespace) -> int:
    from biped.derivatives.linearization import equilibrium, gain_sensitivities, linearize
    from biped.simulation.session import Session
    from experiments.visualization.linearization import PAGE, write_linearization

    if options.animate < 0:
        raise InputError(f"--animate {options.animate}: it must be a number of modes, zero or above")
    if options.animate:
        need("viser", "trimesh", "websockets")
    name, scene = _scene(options)
    if options.open_loop and options.equilibrium:
        raise InputError("--equilibrium needs the closed loop: leave out --open-loop")
    folder = writable_folder(options.out or Path("results") / "linearize" / name)
    session = Session(scene, announce=announce)
    session.warm_up(announce)
    session.advance(round(options.at / session.period))
    if session.has_ended:
        raise InputError(f"--at {options.at:g}: the run ends in a fall at {session.time:g} s; choose an earlier time")
    state, scene = session.state, _without_box(scene)
    announce("linearizing; new kernels are compiled once")
    if options.equilibrium:
        state, linearization = equilibrium(scene, state)
    else:
        linearization = linearize(scene, state, closed_loop=not options.open_loop)
    gains = gain_sensitivities(scene, state) if linearization.closed_loop else ()
    files = write_linearization(linearization, state, gains, folder, f"{name}, {linearization.time:g} s")
    if why := lacking("jinja2"):
        announce(f"left out: {PAGE}: {why}")
    files += _animations(linearization, state, options.animate, folder)
    table = linearization.table()
    reply({"folder": folder, "files": [file.name for file in files], "margin": linearization.margin, "modes": table})
    say_files(folder, files, "\n")
    return 0


def _animations(linearization: "Linearization", state: "State", count: int, folder: Path) -> tuple[Path, ...]:
    """Write a page for each of the slowest modes."""
    if not count:
        return ()
    from experiments.visualization.linearization import moving_mode
    from experiments.visualization.video.write import write_page
    from experiments.visualization.viewer.camera import camera_at
    from experiments.visualization.viewer.loaded_runs import extent_of

    files = []
    for number in range(min(count, len(linearization.mode_list))):
        shown = [moving_mode(linearization, state, number)]
        ends = shown[0].trajectory.ends
        schedule = schedule_of([(0.0, ends)], None, None, _RATE, ends / _SHOWN)
        camera = camera_at("three-quarter", *extent_of(shown, 0.0), _SIZE, 1.0, linearization.model.facing)
        files.append(folder / f"mode-{number + 1}.html")
        write_page(files[-1], shown, schedule, camera)
    return tuple(files)


def _scene(options: Namespace) -> "tuple[str, Scene]":
    """Return the title and the scene of an experiment, or of the run that is saved in a folder."""
    from experiments.visualization.report.run_source import is_run, run_source

    folder = Path(options.experiment)
    if not is_run(folder):
        experiment = experiment_of(options)
        return experiment.name, experiment.build(changes_of(experiment, options))
    source = run_source(folder)
    if source.experiment is None:
        raise InputError(f"{folder}: the experiment of this run is unknown: {source.unknown}")
    changes = dict(source.changes) | changes_of(source.experiment, options)
    with saved_names():
        return folder.name, source.experiment.build(changes)


def _without_box(scene: "Scene") -> "Scene":
    """Return the scene without a thrown box, whose effect is in the state."""
    from biped import Throw

    return replace(scene, disturbances=tuple(item for item in scene.disturbances if not isinstance(item, Throw)))
