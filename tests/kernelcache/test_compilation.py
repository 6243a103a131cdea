"""Kernels are compiled once for all processes, allocate nothing, release the GIL, and run in any process."""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
import pytest
from numba.core.errors import NumbaError

from biped import Controller, chain
from biped.kernels.loop import closed_loop
from biped.kernels.loop.closed_loop import is_ready
from biped.simulation.scene import Scene
from biped.simulation.simulate import simulate
from biped.simulation.world import Fall
from controllers.workspace import WorkspaceController
from experiments.studies.store.sources import kernel_sources
from kernelcache import kernel, kind_of, parts, routine

from ..conftest import ROOT, run_python, said_by

CONTROLLER = WorkspaceController((-0.01, 0.0, 1.10), (0.99144486, -0.13052619, 0.0, 0.0))

SECOND_PROCESS = """
from biped.model import human
from biped.simulation.simulate import simulate
from biped.kernels.loop import closed_loop
from biped.kernels.step import step
from biped.simulation.scene import Scene
from controllers.workspace import WorkspaceController
plan = Scene(human(), WorkspaceController()).prepare()
assert closed_loop.is_ready(plan.world, plan.law)
simulate(human(), WorkspaceController(), duration=0.01)
loaded = (closed_loop.ask, closed_loop.advance_world, step.prepare)
print(*(len(f.stats.cache_hits) for f in loaded), sum(len(f.stats.cache_misses) for f in loaded))
"""


class Rotation(NamedTuple):
    """A class with the same fields as another is nevertheless another type."""

    x: float
    y: float


class Translation(NamedTuple):
    x: float
    y: float


class Weightless(NamedTuple):
    """A controller used by no other test."""

    share: float


@closed_loop.control.register(Weightless)
def weightless(law, _measurement, torque, _recorded):
    torque[0] = law.share


class WeightlessLaw(Controller):
    period = 1e-3

    def law(self, model):
        return Weightless(0.0)


def run(person, posture, duration=0.2):
    return simulate(person, CONTROLLER, state=posture(person), duration=duration, fall=Fall())


def test_a_second_process_compiles_nothing(person, posture):
    run(person, posture, 0.01)
    plan = Scene(person, CONTROLLER).prepare()
    assert is_ready(plan.world, plan.law)
    found = run_python(SECOND_PROCESS)
    assert found.stderr == ""
    assert found.stdout.split() == ["1", "1", "1", "0"]


def test_threads_do_not_change_a_result(person, posture):
    alone = run(person, posture).frame
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda _: run(person, posture).frame, range(8)))
    assert all(frame.equals(alone) for frame in together)


def test_a_trial_of_a_known_kind_asks_numba_nothing(person, posture, monkeypatch):
    """Typing a ``World`` takes Numba longer than a trial of a study: it is done once for all worlds of a kind."""
    first = run(person, posture).frame

    def asked(*_):
        raise AssertionError("a part's address was looked up again")

    monkeypatch.setattr(parts, "_address", asked)
    assert run(person, posture).frame.equals(first)
    with pytest.raises(AssertionError, match="looked up"):
        simulate(chain(2), WeightlessLaw(), duration=0.01)


VALUES = (
    1, 1.0, True, np.float64(1.0), np.int32(1),
    *(np.zeros(shape, kind, order) for shape in (3, (2, 2)) for kind in (float, int, bool) for order in ("C", "F")),
    np.zeros((4, 4))[::2, ::2], np.frombuffer(bytes(16)), (1, 2.0), (1, 2), (1, (2.0,)), (1, (2,)), (np.zeros(2),),
    Rotation(1.0, 2.0), Translation(1.0, 2.0), Translation(1, 2.0),
)  # fmt: skip


@pytest.mark.parametrize("one", VALUES, ids=repr)
def test_values_of_one_kind_are_those_of_one_type(one):
    for other in VALUES:
        same_type = numba.typeof(one) == numba.typeof(other)
        same_kind = kind_of(one) == kind_of(other)
        assert same_type or not same_kind
        assert same_kind or not same_type or type(one) is not type(other)


def test_a_kernel_that_allocates_does_not_compile():
    def allocating(n):
        return np.zeros(n).sum()

    with pytest.raises(NumbaError):
        routine(allocating)(3)
    assert numba.njit(allocating)(3) == 0.0


def test_an_inlined_kernel_runs_interpreted_from_python():
    @kernel
    def double(x):
        return 2 * x

    @routine
    def quadruple(x):
        return double(double(x))

    assert double("ab") == "abab"
    assert quadruple(3.0) == 12.0


def test_a_kernel_is_not_compiled_for_each_constant():
    names = {"__name__": "typed_in", "routine": routine}  # without a file, and so without a cache
    exec("@routine\ndef double(x): return 2 * x\n@routine\ndef several(): return double(3) + double(4)", names)
    assert names["several"]() == 14
    assert len(names["double"].overloads) == 1


def test_kernels_stand_where_a_study_looks_for_their_sources():
    """A study records the state of the kernels' sources."""
    top = Path(__file__).parents[2]
    known = {path.resolve() for path in kernel_sources()}
    for package in ("contact", "biped", "controllers", "formulations", "experiments"):
        for path in (top / package).rglob("*.py"):
            if re.search(
                r"^@(kernel\b|routine\b|generic\b|optional\(|\w+\.register\()",
                path.read_text(encoding="utf-8"),
                re.MULTILINE,
            ):
                assert path.resolve() in known or path.parent.name == "kernelcache", path


TWICE = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("twice", sys.argv[1])
module = importlib.util.module_from_spec(spec)
sys.modules["twice"] = module
spec.loader.exec_module(module)
for value in eval(sys.argv[2]):
    print(module.twice(value), end=" ")
print(len(module.twice.stats.cache_hits))
"""


def test_processes_that_compile_at_once_do_not_take_one_anothers_code(tmp_path):
    """Two versions of one function are saved at the same time; each is loaded under its own types."""
    source = tmp_path / "twice.py"
    source.write_text("from kernelcache import routine\n\n\n@routine\ndef twice(x):\n    return 2 * x\n")

    def start(values):
        command = [sys.executable, "-c", TWICE, str(source), values]
        own = os.environ | {"BIPED_CACHE_DIR": str(tmp_path / "cache")}
        return subprocess.Popen(command, cwd=Path(__file__).parents[2], env=own, stdout=subprocess.PIPE, text=True)

    together = [start("[3]"), start("[0.25]"), start("[1j]")]
    assert [process.communicate()[0] for process in together] == ["6 0\n", "0.5 0\n", "2j 0\n"]
    assert start("[3, 0.25, 1j]").communicate()[0] == "6 0.5 2j 3\n"


LINKED_LATE = """
from kernelcache import addresses, call, kernel, part, routine


@kernel
def inner(x):
    return x + 1


@kernel
def first(x):
    return inner(x) if (x & 1) == 2 else x  # LLVM finds out that it never calls it


@kernel
def second(x):
    return 2 * inner(x)


@part
def both(x):
    return first(x) + second(x)


print(routine(lambda address, x: call(address, x))(addresses([(both, 1)])[0], 20))
"""


def test_a_kernel_is_linked_after_all_that_may_call_it(tmp_path):
    """The first caller does not call it, but it must be linked for the second."""
    (tmp_path / "late.py").write_text(LINKED_LATE)
    more = {"PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path)]), "BIPED_CACHE_DIR": str(tmp_path / "cache")}
    for _ in range(2):  # compiled, and loaded
        assert said_by("import late", **more).split() == ["62"]


HALF_THERE = """
import sys

from contact.analytic import sqrt
from kernelcache import kernel, routine


@kernel
def root(x):
    return sqrt(x)  # for which there is no file


@kernel
def twice(x):
    return 2.0 * root(x)


@routine
def once(x):
    return root(x)


@routine
def whole(x):
    return twice(x)


print(*(globals()[name](4.0) for name in sys.argv[1:]))
"""


def test_a_loaded_kernel_brings_along_what_those_call_that_were_compiled_here(tmp_path):
    """This happens if one process compiled the first and another process the second."""
    (tmp_path / "half.py").write_text(HALF_THERE)
    more = {"PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path)]), "BIPED_CACHE_DIR": str(tmp_path / "cache")}
    assert said_by("import half", "whole", **more).split() == ["4.0"]
    for name in ("root", "whole"):
        (gone,) = (tmp_path / "cache").rglob(f"half.{name}-*")
        gone.unlink()
    assert said_by("import half", "once", "whole", **more).split() == ["2.0", "4.0"]
