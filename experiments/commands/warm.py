"""``biped warm``: compile the kernels of runs and studies in advance, on all cores."""

import time
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from contact.errors import BipedError, did_you_mean
from experiments.catalogue.registry import all_experiments, experiment_named
from experiments.cli.main import Parser
from experiments.cli.progress import ProgressBar
from experiments.cli.reply import reply
from experiments.cli.terminal import terminal

_DESCRIPTION = """\
Compile the kernels that later runs need in advance, on all cores.

WHAT is an experiment, a controller, an integrator, or one of: gradients, linearize, mechanism, assembly. Without it,
those of all experiments and controllers are compiled, with the integrator recursive; 'all' compiles everything."""

_EXAMPLES = """\
examples:
  biped warm whole-body rigid            one controller, and one integrator
  biped warm all                         everything: several minutes
"""

#: [s] duration of a run that compiles the kernels: it needs the same ones as a longer run.
_DURATION = 0.02


def parser() -> Parser:
    command = Parser("biped warm", _DESCRIPTION, _EXAMPLES, page="install")
    command.add_argument("what", nargs="*", metavar="WHAT", help="experiments, controllers, integrators, or all")
    command.add_forms()
    return command


def main(options: Namespace) -> int:
    chosen = _chosen(options.what)
    begin = time.monotonic()
    with ProgressBar(len(chosen) + 1, "compiling", "", counts=True) as bar:
        problems = _compile(chosen, bar)
    if problems:
        raise BipedError("some kernels could not be compiled: " + "; ".join(problems))
    took = time.monotonic() - begin
    reply({"compiled": list(chosen), "seconds": round(took, 1)})
    terminal().print(f"compiled, or loaded from the cache, in {took:.0f} s: {', '.join(chosen)}")
    return 0


def _compile(names: Sequence[str], bar: Callable[[float], None]) -> list[str]:
    """Compile the common kernels first, then the others in parallel processes, so that none is compiled twice.

    Returns:
        A message for each failure, with its reason.
    """
    from kernelcache import Call, compile_ahead

    known, ended = _known(), [""]

    def count(problem: str) -> None:
        ended.append(problem)
        bar(len(ended))

    experiment_named("thrown-block").run({"run.duration": _DURATION})
    bar(1)
    compile_ahead([Call(*known[name]) for name in names], count)
    return [problem for problem in ended if problem]


def _chosen(what: Sequence[str]) -> list[str]:
    known = _known()
    if list(what) == ["all"]:
        return list(known)
    for name in what:
        if name not in known:
            raise BipedError(f"unknown name {name!r}; {did_you_mean(name, known)}names are {', '.join(known)}, and all")
    return list(what) or [name for name, (function, *_) in known.items() if function in (_experiment, _law)]


def _known() -> dict[str, tuple[Callable[..., None], tuple[Any, ...], int]]:
    """Return the functions that compile kernels, with their arguments and approximate numbers of kernels, by name."""
    from biped.integrators.registry import INTEGRATORS
    from experiments.catalogue.parameters.controllers import CONTROLLERS
    from experiments.catalogue.parameters.floors import LAWS

    compilers: dict[str, tuple[Callable[..., None], tuple[Any, ...], int]] = {}
    compilers |= {name: (_integrator, (name,), 200) for name in INTEGRATORS}
    compilers |= {name: (_law, (name,), 150) for name in CONTROLLERS.origins()}
    compilers |= {name: (_contact_law, (name,), 150) for name in LAWS.origins()}
    compilers |= {experiment.name: (_experiment, (experiment.name, {}, None), 20) for experiment in all_experiments()}
    return compilers | {name: (function, (), 300) for name, function in _OTHER_CALLS.items()}


def _experiment(name: str, changes: Mapping[str, Any], controller: str | None) -> None:
    experiment_named(name, controller=controller).run({"run.duration": _DURATION, **changes})


def _law(name: str) -> None:
    _experiment("balance", {}, name)


def _contact_law(name: str) -> None:
    _experiment("balance", {"floor.law": name}, None)


def _integrator(name: str) -> None:
    from biped.integrators.registry import INTEGRATORS

    on_floor = INTEGRATORS[name].takes_contact
    _experiment("balance" if on_floor else "tumble", {"integrator.name": name, "run.step": 1e-4}, None)


def _linearize() -> None:
    from biped.derivatives.linearization import linearize

    scene = experiment_named("balance").build({"run.duration": _DURATION})
    for span in ("period", "step"):
        linearize(scene, scene.state, span=span)


def _gradients() -> None:
    from biped.derivatives.gradients import gradient

    scene = experiment_named("balance").build({"run.duration": _DURATION, "push.start": 0.0})
    gradient(scene, {"rms_torque": 1.0, "margin_of_stability_end": 1.0}, ("model.trunk.mass",))


def _mechanism() -> None:
    import numpy as np

    from formulations.mechanism import DiscreteMechanism
    from formulations.mechanism.examples import CLOSED_CHAIN_START, closed_chain_device

    device = closed_chain_device()
    start = device.satisfy_constraints(CLOSED_CHAIN_START)
    device.simulate(0.02, 0.01, q=start)
    discrete = DiscreteMechanism(device, 0.01)
    discrete.linearize(discrete.state(start, None), np.zeros(discrete.inputs))


def _assembly() -> None:
    from formulations.assembly.examples import on_incline, three_link_loop

    for assembly, start in (three_link_loop(), on_incline((0.5, 0.4, 0.3), 2.0, 0.4, 0.1)):
        assembly.simulate(0.02, 0.01, start)


#: In the order in which they start: functions that start together would both compile their common kernels.
_OTHER_CALLS = {"gradients": _gradients, "assembly": _assembly, "mechanism": _mechanism, "linearize": _linearize}
