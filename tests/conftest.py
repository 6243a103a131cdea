"""What all tests share: random trees, and the posture in which the thesis's experiments start."""

import ctypes
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

from biped import Controller, Scene, Session, State
from biped.metrics import METRICS
from biped.model import Body, Joint, Model, human, random_tree
from experiments.timing import UnitOfWork

settings.register_profile("without a deadline", deadline=None)  # a busy machine may be slow
settings.load_profile("without a deadline")

KINDS = ("revolute", "prismatic", "spherical")
ROOT = Path(__file__).resolve().parents[1]

RESULT = ROOT / "results" / "tests.json"
#: Files and folders with the longest tests.
FIRST = (
    "tests/test_docs.py", "tests/formulations/lagrangian", "tests/formulations/mechanism", "tests/experiments/papers",
    "tests/biped/integrators/test_rigid_loops.py",
)  # fmt: skip

MASS = 2.0  # [kg] of the sledge


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort the files of ``FIRST`` to the front, the others in reverse: a long file at the end would run alone."""
    files = {path: -k for k, path in enumerate({item.path: None for item in items})}

    def rank(item: pytest.Item) -> tuple[int, int]:
        first = (k for k, begin in enumerate(FIRST) if item.nodeid.startswith(begin))
        return next(first, len(FIRST)), files[item.path]

    items.sort(key=rank)


_BEGAN = time.monotonic()
_COSTS: list[tuple[float, float]] = []  # [MB], [s] of processor time, of the processes
_UNIT = UnitOfWork(every=10.0)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Beside the processes that test, the one that hands tests out sees how fast the machine is."""
    if session.config.getoption("numprocesses", None):
        _UNIT.__enter__()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """What the tests cost, for ``docs/budget.py``: seconds of all, and the memory of the largest process."""
    if hasattr(session.config, "workeroutput"):
        own, children = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        peak = own.ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
        processor = own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime
        session.config.workeroutput["cost"] = (peak, processor)
    elif session.config.getoption("markexpr", "") == "not slow" and _COSTS:
        kept = {
            "tests, wall [s]": time.monotonic() - _BEGAN,
            "tests, processor [s]": sum(processor for _, processor in _COSTS),
            "tests, unit of work [s]": _UNIT.seconds,
            "memory of a test process [MB]": max(peak for peak, _ in _COSTS),
        }
        RESULT.parent.mkdir(exist_ok=True)
        RESULT.write_text(json.dumps(kept), encoding="utf-8")


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """A process of pytest-xdist has ended."""
    if "cost" in getattr(node, "workeroutput", {}):
        _COSTS.append(node.workeroutput["cost"])


@pytest.fixture(scope="module", autouse=True)
def _give_memory_back() -> Iterator[None]:
    """What a file of tests took and freed, which glibc keeps for each thread that there was: up to 400 MB."""
    yield
    if sys.platform == "linux":
        getattr(ctypes.CDLL(None), "malloc_trim", int)(0)  # other C libraries have none


@pytest.fixture(autouse=True)
def no_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes of pytest-xdist have the width of the terminal; a pipe has none."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture(autouse=True)
def metrics_of_one_test() -> Iterator[None]:
    """What a test registers, the next one does not measure: processes that it starts would not know of it."""
    before = dict(METRICS)
    yield
    METRICS.clear()
    METRICS.update(before)


def run_python(code: str, *arguments: str, cwd: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    """What becomes of a process of its own that runs this."""
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(
        command, cwd=cwd, env=os.environ | environment, capture_output=True, text=True, check=False, timeout=600
    )


def said_by(code: str, *arguments: str, cwd: Path = ROOT, **environment: str) -> str:
    """What it prints, if it ends well."""
    done = run_python(code, *arguments, cwd=cwd, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def sledge(kind="prismatic", **limits) -> Model:
    """A body that slides on a rail, or turns about its own vertical axis, where nothing else acts."""
    joint = Joint("rail", kind, (1.0, 0.0, 0.0) if kind == "prismatic" else (0.0, 0.0, 1.0), **limits)
    return Model("sledge", (Body("sledge", MASS, np.diag([0.3, 0.3, 0.5]), (0.0, 0.0, 0.0), joint, None),))


class Constant(Controller):
    """The same force or torque all the time, on a model with one joint."""

    def __init__(self, size: float) -> None:
        self.size = size

    def torques(self, observation):
        return np.full(1, self.size)


def all_arrays(arrays: tuple, prefix: str = "") -> dict[str, np.ndarray]:
    """Those of a named tuple of arrays and of such tuples, by dotted names."""
    found = {}
    for name, part in arrays._asdict().items():
        found |= all_arrays(part, f"{prefix}{name}.") if isinstance(part, tuple) else {prefix + name: part}
    return found


def assert_same_arrays(one: tuple, other: tuple) -> None:
    """Bit for bit, all of them."""
    there = all_arrays(other)
    assert [name for name, array in all_arrays(one).items() if not np.array_equal(array, there[name])] == []


def assert_goes_back(scene: Scene, before: int, after: int) -> Session:
    """A session that is put back goes on as it did, bit for bit, and so does another that is given what it kept.

    The session is at the end of ``before`` and ``after`` steps.
    """
    session, other = Session(scene), Session(scene)
    session.advance(before)
    saved = session.save()
    session.advance(after)
    there = session.state.copy().arrays
    for one in (session, other):
        one.restore(saved)
        one.advance(after)
        assert_same_arrays(one.state.arrays, there)
    return session


def random_configuration(model: Model, rng: np.random.Generator) -> np.ndarray:
    """A configuration with unit quaternions, all joints well away from home."""
    q = model.neutral() + 0.0
    for body, first in zip(model.bodies, model.tree.first_q, strict=True):
        if body.joint.has_axis:
            q[first] = rng.uniform(-1.0, 1.0)
        else:
            floats = body.joint.kind == "floating"
            start = first + 3 if floats else first
            quaternion = rng.normal(size=4)
            q[start : start + 4] = quaternion / np.linalg.norm(quaternion)
            if floats:
                q[first : first + 3] = rng.normal(size=3)
    return q


def bent_configuration(model: Model, rng: np.random.Generator, most: float) -> np.ndarray:
    """Home but for joints with an axis, which are anywhere within ± most."""
    q = model.neutral() + 0.0
    for body, first in zip(model.bodies, model.tree.first_q, strict=True):
        if body.joint.has_axis:
            q[first] = rng.uniform(-most, most)
    return q


@pytest.fixture(params=[(seed, floating) for seed in range(4) for floating in (True, False)], ids=str)
def tree(request: pytest.FixtureRequest) -> tuple[Model, np.ndarray, np.ndarray]:
    """A random tree with every kind of joint, half of them with rotors, a configuration and a velocity."""
    seed, floating = request.param
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 9, floating=floating, kinds=KINDS, armature=0.3 * (seed % 2))
    return model, random_configuration(model, rng), rng.normal(size=model.nv)


@pytest.fixture(scope="session")
def person() -> Model:
    """The thesis's human."""
    return human()


@pytest.fixture(scope="session")
def posture() -> Callable[..., State]:
    """The thesis's initial posture for a model: ``posture(model, x, y)``."""
    return initial_posture


def initial_posture(model: Model, x: float = 0.0, y: float = 0.0) -> State:
    """Wendlandt 1997, section 4.3: knees bent, trunk 5° about −Y, feet flat 0.46 cm above the floor."""
    angles = {"hip_pitch": 40.0, "knee_pitch": -77.4595, "ankle_pitch": 42.4595}
    by_joint = {f"{side}_{name}": np.radians(angle) for side in ("left", "right") for name, angle in angles.items()}
    half = np.radians(2.5)
    q = model.configuration((x, y, 1.035), (np.cos(half), 0.0, -np.sin(half), 0.0), by_joint)
    return State.at(model, q)
