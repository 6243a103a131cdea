"""Properties of mechanisms of any structure: trees that Hypothesis draws, with loops closed where they stand."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from formulations import mechanism as mech
from formulations.mechanism import tx, ty, tz

from .longhand import KINDS, System, Tree
from .random_frames import make, tangent
from .twin import twin_of

CLOSE = {"rtol": 1e-9, "atol": 1e-9}
STEP = 0.01


@dataclass(frozen=True)
class Drawn:
    """The structure of a mechanism: what is discrete about it is drawn and shrunk, numbers come from a seed."""

    kinds: list[str]
    parents: list[int]
    massive: list[bool]
    loops: list[tuple[int, int, str]]
    coupled: str
    sprung: bool
    seed: int


@st.composite
def structures(draw) -> Drawn:
    """Trees of 3 to 6 variables, up to two loops, and perhaps a screw, a gear or a wire."""
    n = draw(st.integers(3, 6))
    loops = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1), st.sampled_from(["x", "xz", "yz", "xyz"]))
    return Drawn(
        draw(st.lists(st.sampled_from(KINDS), min_size=n, max_size=n)),
        [draw(st.integers(-1, i - 1)) for i in range(n)], draw(st.lists(st.booleans(), min_size=n, max_size=n)),
        [draw(loops.filter(lambda loop: loop[0] != loop[1])) for _ in range(draw(st.sampled_from([1, 1, 2, 0])))],
        draw(st.sampled_from(["", "gear", "screw", "wire"])), draw(st.booleans()), draw(st.integers(0, 2**20)),
    )  # fmt: skip


def frames_of(drawn: Drawn, q: np.ndarray, closing: dict[int, list[mech.Frame]]) -> list[mech.Frame]:
    """Variable i carries an arm to the frame ``c{i}``, which may have mass; the tips have."""
    rng = np.random.default_rng(drawn.seed)
    arms = rng.uniform(0.2, 0.8, (len(q), 3)) * rng.choice([-1.0, 1.0], (len(q), 3))
    halves = rng.uniform(0.05, 0.3, (len(q), 3))
    turns = rng.uniform(-1.0, 1.0, len(q))

    def grow(i: int) -> mech.Frame:
        outboard = [grow(j) for j in range(len(q)) if drawn.parents[j] == i]
        a, b, c = halves[i].tolist()
        mass = (1.0 + a, b + c, a + c, a + b) if drawn.massive[i] or not outboard else None
        x, y, z = arms[i].tolist()
        end = tz(z, *outboard, *closing.get(i, ()), name=f"c{i}", mass=mass)
        turned = make("rx" if i % 2 else "ry", float(turns[i]), tx(x, ty(y, end)))
        return make(drawn.kinds[i], f"q{i}", turned)

    return [grow(i) for i in range(len(q)) if drawn.parents[i] < 0]


def mechanism_of(drawn: Drawn) -> tuple[mech.Mechanism, np.ndarray]:
    """It, and a configuration that closes its loops: a frame of one branch is put where another one's end is."""
    n = len(drawn.kinds)
    rng = np.random.default_rng(drawn.seed + 1)
    by_name = dict(zip((f"q{i}" for i in range(n)), rng.uniform(-0.7, 0.7, n), strict=True))
    open_tree = Tree(frames_of(drawn, np.zeros(n), {}))
    q = np.array([by_name[name] for name in open_tree.variables])
    open_tree.set(q, q)
    closing: dict[int, list[mech.Frame]] = {}
    constraints = []
    for number, (first, second, directions) in enumerate(drawn.loops):
        g, other = (open_tree.g(open_tree.names[f"c{i}"]) for i in (first, second))
        x, y, z = (g[:3, :3].T @ (other[:3, 3] - g[:3, 3])).tolist()
        closing.setdefault(first, []).append(tx(x, ty(y, tz(z, name=f"k{number}"))))
        constraints.append(mech.Coincident(f"k{number}", f"c{second}", directions))
    a, b = open_tree.variables[:2]
    match drawn.coupled:
        case "gear":
            constraints.append(mech.Gear(a, b, 0.7, float(0.7 * q[0] - q[1])))
        case "screw":
            q[1] = 0.3 * q[0]
            assume(not drawn.loops)
            constraints.append(mech.Screw(a, b, 0.3))
        case "wire":
            ends = [open_tree.p(open_tree.names[f"c{i}"]) for i in (0, n - 1)]
            apart = float(np.linalg.norm(ends[0] - ends[1]))
            assume(apart > 0.1)
            constraints.append(mech.Distance("c0", f"c{n - 1}", apart))
    springs = (
        [mech.LinearSpring("c0", f"c{n - 1}", 3.0), mech.LinearSpring("c1", "world", 5.0, 0.1)] if drawn.sprung else []
    )
    frames = frames_of(drawn, q, closing)
    return mech.Mechanism("drawn", frames, (0.2, -0.1, -9.81), springs, constraints, [mech.Damper("q0", 0.2)]), q


def is_regular(twin: System, q: np.ndarray) -> bool:
    """Whether rates mean momenta, and constraints do not depend on each other."""
    twin.tree.set(q, np.zeros(q.size))
    Dh = twin.Dh()
    independent = not len(Dh) or (np.linalg.svd(Dh, compute_uv=False).min() > 0.05 and len(Dh) < q.size)
    return bool(independent and np.linalg.cond(twin.L_vv()) < 1e4)


def in_motion(drawn: Drawn) -> tuple[mech.Mechanism, System, np.ndarray, np.ndarray]:
    """With its twin and rates on the constraints; not where masses or constraints leave the motion undetermined."""
    mechanism, q = mechanism_of(drawn)
    twin = twin_of(mechanism)
    assume(is_regular(twin, q))
    return mechanism, twin, q, tangent(twin, q, np.random.default_rng(drawn.seed + 2).normal(size=q.size))


def check(drawn: Drawn) -> None:
    """A step and its accelerations are the paper's, momenta mean rates, loops stay closed, words say it all."""
    mechanism, twin, q, v = in_motion(drawn)
    assert np.abs(mechanism.constraint_values(q)).max(initial=0.0) < 1e-12
    twin.tree.set(q, v)
    assert_allclose(mechanism.kinetic_energy(q, v), twin.kinetic_energy(), rtol=1e-11)
    assert_allclose(mechanism.rates_of(q, mechanism.momentum(q, v)), v, **CLOSE)
    assert_allclose(mech.accelerations(mechanism, q, v).coordinates, twin.accelerations(q, v)[0], rtol=1e-8, atol=1e-8)
    # What is left of a constraint, over the step, is what momenta may differ by.
    motion = mechanism.simulate(5 * STEP, STEP, q=q, v=v, tolerance=1e-13)
    state = twin.step(twin.start(q, v), STEP, 1e-12)
    assert_allclose(motion.q[1], state.q, **CLOSE)
    assert_allclose(motion.momentum[1], state.p, **CLOSE)
    assert motion.constraint_errors.max() < 1e-11
    again = mech.load_mechanism(mech.mechanism_text(mechanism))
    assert again.frames == mechanism.frames
    assert (again.constraints, again.potentials, again.forces) == (
        mechanism.constraints, mechanism.potentials, mechanism.forces,
    )  # fmt: skip


LOOPED = Drawn(
    ["rx", "ry", "rz", "ry", "tx", "rx"], [-1, 0, -1, 2, 3, 1], [True] * 6, [(0, 3, "xz"), (1, 4, "x")], "gear", True, 5
)


@settings(max_examples=6, derandomize=True)
@given(structures())
@example(LOOPED)
def test_any_mechanism_moves_as_the_paper_has_it(drawn):
    check(drawn)


@pytest.mark.slow
@settings(max_examples=150)
@given(structures())
def test_any_mechanism_of_many(drawn):
    check(drawn)


def test_loops_are_drawn():
    """That the properties above are not of open trees alone: the example is not passed over."""
    mechanism, q = mechanism_of(LOOPED)
    assert len(mechanism.labels) == 4
    assert is_regular(twin_of(mechanism), q)
