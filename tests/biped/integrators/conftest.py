"""For the tests of what integrators keep: trees in flight, and one step of any integrator, solved to round-off."""

from dataclasses import fields, replace

import numpy as np
import pytest

from biped import Body, Integrator, Model, State, box_inertia, chain, floating, prismatic, revolute, simulate, spherical

#: [N·s] far below what is tested.
TIGHT = 1e-13


System = tuple[Model, np.ndarray, np.ndarray]


def tight(integrator: Integrator) -> Integrator:
    """With steps solved to round-off; with error control, but none that would cut a step."""
    names = {item.name for item in fields(integrator)}
    changes = {"tolerance": TIGHT} if "tolerance" in names else {}
    if "relative_tolerance" in names:
        changes = {"relative_tolerance": 1e3, "absolute_tolerance": 1e3}
    return replace(integrator, **changes)


def hanging_chain() -> System:
    """Three links on skew hinges, a rotor on one: its coordinates and momenta are canonical."""
    model = chain(3).without_contacts()
    first, second, third = model.bodies
    second = replace(second, joint=replace(second.joint, armature=0.05))
    model = replace(model, bodies=(first, second, third))
    return model, np.array([0.4, 0.7, -0.5]), np.array([1.0, -2.0, 1.5])


def floating_tree() -> System:
    """Every kind of joint: a floating root, a ball on a slide, another ball, a hinge on that; rotors on two."""
    places = [(0.0, 0.0, 1.0), (0.1, 0.2, 1.1), (0.3, 0.2, 1.3), (-0.2, 0.1, 0.8), (-0.3, 0.1, 0.6)]
    joints = [
        floating("free", places[0]),
        replace(prismatic("slide", (0.3, 0.5, 0.8), places[1]), armature=0.6),
        spherical("first", places[2]),
        spherical("second", places[3]),
        replace(revolute("hinge", (0.6, 0.0, 0.8), places[4]), armature=0.3),
    ]
    parents = [None, "b0", "b1", "b0", "b3"]
    sizes = [(0.4, 0.6, 0.8), (0.5, 0.4, 0.6), (0.4, 0.6, 0.5), (0.5, 0.7, 0.4), (0.6, 0.5, 0.4)]
    bodies = []
    for i, (joint, parent, size) in enumerate(zip(joints, parents, sizes, strict=True)):
        mass = 2.0 - 0.3 * i
        com = tuple(np.add(joint.position, (0.05 * i, -0.08, 0.1)))
        bodies.append(Body(f"b{i}", mass, box_inertia(mass, size), com, joint, parent))
    model = Model("mixed", tuple(bodies), ())
    rng = np.random.default_rng(3)
    q = model.neutral()
    for body, first in zip(model.bodies, model.tree.first_q, strict=True):
        if body.joint.kind in ("floating", "spherical"):
            start = int(first) + (3 if body.joint.kind == "floating" else 0)
            quaternion = np.array([1.0, 0.0, 0.0, 0.0]) + 0.5 * rng.normal(size=4)
            q[start : start + 4] = quaternion / np.linalg.norm(quaternion)
        else:
            q[first] = 0.3
    return model, q, 0.7 * rng.normal(size=model.nv)


def take_step(
    model: Model, integrator: Integrator, q: np.ndarray, p: np.ndarray, v: np.ndarray, h: float
) -> tuple[np.ndarray, np.ndarray]:
    state = State.at(model, q, v)
    state.arrays.momentum[:] = p
    state = simulate(model, state=state, integrator=tight(integrator), step=h, duration=h, record_every=h).state
    return state.q.copy(), state.momentum.copy()


SYSTEMS = {build.__name__: build for build in (hanging_chain, floating_tree)}


def variants(names, slow):
    """Return cases of ``system`` and ``name``; those whose two names begin with an entry of ``slow`` are slow."""
    return [
        pytest.param(system, name, marks=pytest.mark.slow if f"{system}-{name}".startswith(slow) else ())
        for system in SYSTEMS
        for name in names
    ]


@pytest.fixture(scope="session")
def system(request: pytest.FixtureRequest) -> System:
    """A tree, a configuration and a velocity; by its name among ``SYSTEMS``."""
    return SYSTEMS[request.param]()


@pytest.fixture(scope="session")
def swinging() -> System:
    return hanging_chain()


@pytest.fixture(scope="session")
def mixed() -> System:
    return floating_tree()


@pytest.fixture(scope="session")
def one_step():
    return take_step
