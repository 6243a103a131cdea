"""A scene in PyBullet: the model, the floor, a thrown box, and the contacts between them."""

import ctypes
import os
import sys
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biped.disturbances import Throw
from biped.errors import InputError
from biped.model.legs import foot_under
from contact import Floor
from experiments.engines.engine import Case, struck_box
from experiments.engines.pybullet.urdf import Solid, principal_axes, principal_urdf

if TYPE_CHECKING:
    from experiments.engines.pybullet.adapter import Pybullet


@cache
def pybullet() -> Any:
    """Return the module; suppress the build date that it writes to standard error on import."""
    with silenced(2):
        import pybullet as module

        return module


class Client:
    """PyBullet's functions and constants, bound to a new client, which is disconnected when this object is deleted."""

    def __init__(self) -> None:
        self._module = pybullet()
        self.number = self._module.connect(self._module.DIRECT)
        if self.number < 0:
            raise InputError("PyBullet allows no more simulations in this process: delete some of them")
        self.close = weakref.finalize(self, self._module.disconnect, self.number)

    def __getattr__(self, name: str) -> Any:
        member = getattr(self._module, name)
        self.__dict__[name] = partial(member, physicsClientId=self.number) if callable(member) else member
        return self.__dict__[name]


@contextmanager
def silenced(descriptor: int) -> Iterator[None]:
    """Suppress C output to the standard output (1) or the standard error (2)."""
    (sys.stdout if descriptor == 1 else sys.stderr).flush()
    libc = ctypes.CDLL(None) if os.name == "posix" else None  # on other systems its buffer may be written later
    kept = os.dup(descriptor)
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), descriptor)
        yield
    finally:
        if libc is not None:
            libc.fflush(None)
        os.dup2(kept, descriptor)
        os.close(kept)


#: [m] radius of the sphere at a contact point; its centre is this far above the point in the home configuration.
POINT_RADIUS = 1e-3
#: [m/s], [rad/s] limit of all velocities, instead of Bullet's 100: only an exploding simulation reaches it.
FASTEST = 1e6

# Collision groups: feet with the floor, a thrown box with its target.
_FLOOR, _FOOT, _TARGET, _PROJECTILE = 1, 2, 4, 8
_TOUCHES = {_FLOOR: _FOOT, _FOOT: _FLOOR, _TARGET: _PROJECTILE, _PROJECTILE: _TARGET}


@dataclass(frozen=True)
class BulletWorld:
    """Numbers by which a client identifies bodies and links."""

    robot: int  # PyBullet's number of the model
    floor: int  # PyBullet's number of the floor
    projectile: int  # PyBullet's number of the thrown box, or -1
    links: tuple[int, ...]  # link number of each of the model's bodies; -1 is the base
    points: tuple[int, ...]  # link number of each contact point on a floor with patches


def build_world(client: Client, settings: "Pybullet", case: Case) -> BulletWorld:
    client.resetSimulation()
    _set_parameters(client, settings, case)
    robot = _load(client, principal_urdf(case.model, _solids(case, settings.soles)), case.model.is_floating)
    names = [client.getBodyInfo(robot)[0].decode()]
    joints = range(client.getNumJoints(robot))
    names += [client.getJointInfo(robot, k)[12].decode() for k in joints]
    links = tuple(names.index(body) - 1 for body in case.model.body_names)
    points = tuple(names.index(_link_of(point)) - 1 for point in case.model.contact_names) if case.patches else ()
    for link in points:
        set_up_foot(client, robot, link, settings, case, case.floor)
    _set_up_links(client, robot, settings, case, links)
    floor = client.createMultiBody(0.0, client.createCollisionShape(client.GEOM_PLANE))
    client.changeDynamics(floor, -1, lateralFriction=1.0, restitution=0.0)
    client.setCollisionFilterGroupMask(floor, -1, _FLOOR, _TOUCHES[_FLOOR])
    projectile = -1 if case.throw is None else _add_throw(client, case.throw, settings)
    return BulletWorld(robot, floor, projectile, links, points)


def _link_of(point: str) -> str:
    """Return the name of the link of a contact point."""
    return f"contact point {point}"


def _set_parameters(client: Client, settings: "Pybullet", case: Case) -> None:
    client.setGravity(*case.model.gravity)
    client.setRealTimeSimulation(0)
    client.setPhysicsEngineParameter(
        fixedTimeStep=case.step,
        numSubSteps=0,
        numSolverIterations=settings.iterations,
        solverResidualThreshold=settings.residual,
        enableConeFriction=int(settings.cone),
        deterministicOverlappingPairs=1,
    )
    if settings.contact == "matched":
        # Penetration is pushed out by our spring alone (feet), or not at all (the block, which bounces).
        client.setPhysicsEngineParameter(contactERP=0.0, contactSlop=0.0, restitutionVelocityThreshold=0.0)


def _load(client: Client, text: str, floats: bool) -> int:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.urdf"
        path.write_text(text, encoding="utf-8")
        flags = client.URDF_USE_INERTIA_FROM_FILE | client.URDF_MAINTAIN_LINK_ORDER
        return int(client.loadURDF(str(path), useFixedBase=not floats, flags=flags))


def _solids(case: Case, soles: str) -> list[Solid]:
    model = case.model
    solids = []
    if soles == "points":
        for point in model.contact_points:
            x, y, z = point.position
            link = _link_of(point.name) if case.patches else ""
            solids.append(Solid(point.body, (POINT_RADIUS,), (x, y, z + POINT_RADIUS), link=link))
    else:
        soles_of = (box for box in model.shapes if foot_under(model, box.body) is not None)
        solids += [Solid(box.body, box.size, box.center, box.rotation) for box in soles_of]
    if case.throw is not None:
        if case.throw.target in {solid.body for solid in solids}:
            raise InputError(
                f"block.target = {case.throw.target!r}: in PyBullet, a body that touches the floor cannot be hit by a "
                "thrown block; name another body"
            )
        box = struck_box(model, case.throw)
        solids.append(Solid(box.body, box.size, box.center, box.rotation))
    return solids


def _set_up_links(client: Client, robot: int, settings: "Pybullet", case: Case, links: tuple[int, ...]) -> None:
    model = case.model
    joints = [link for link in links if link >= 0]
    if joints:  # turn off PyBullet's default motors in all joints
        client.setJointMotorControlArray(robot, joints, client.VELOCITY_CONTROL, forces=[0.0] * len(joints))
    standing = {point.body for point in model.contact_points} if not case.patches else set()
    # The base last: when a link is changed, PyBullet also writes its inertia into the base.
    for body, link in sorted(zip(model.bodies, links, strict=True), key=lambda pair: -pair[1]):
        client.changeDynamics(
            robot, link, localInertiaDiagonal=principal_axes(body)[0].tolist(), jointDamping=0.0, rollingFriction=0.0,
            spinningFriction=0.0, lateralFriction=1.0, restitution=1.0,
        )  # fmt: skip
        if body.name in standing:
            set_up_foot(client, robot, link, settings, case, case.floor)
            continue
        group = _TARGET if case.throw is not None and body.name == case.throw.target else 0
        client.setCollisionFilterGroupMask(robot, link, group, _TOUCHES.get(group, 0))
    # Settings of the whole tree need a separate call: PyBullet ignores a link's friction in the same call.
    let_move(client, robot, -1, settings.damping)


def let_move(client: Client, body: int, link: int, damping: float, **dynamics: Any) -> None:
    """Let a body move freely: with this damping, at any speed, without being deactivated at rest."""
    client.changeDynamics(
        body, link, linearDamping=damping, angularDamping=damping, maxJointVelocity=FASTEST,
        activationState=client.ACTIVATION_STATE_DISABLE_SLEEPING, **dynamics,
    )  # fmt: skip


def set_up_foot(client: Client, robot: int, link: int, settings: "Pybullet", case: Case, floor: Floor) -> None:
    """Let a link touch a floor of the case, with its contact law."""
    client.setCollisionFilterGroupMask(robot, link, _FOOT, _TOUCHES[_FOOT])
    client.changeDynamics(robot, link, lateralFriction=floor.mu_s, restitution=0.0)
    if settings.contact == "matched":
        stiffness, damping = case.spring_and_damper(floor)
        client.changeDynamics(robot, link, contactStiffness=stiffness, contactDamping=damping)
    client.changeDynamics(robot, link, frictionAnchor=int(settings.anchor))


def _add_throw(client: Client, throw: Throw, settings: "Pybullet") -> int:
    half = [0.5 * edge for edge in throw.size]
    shape = client.createCollisionShape(client.GEOM_BOX, halfExtents=half)
    projectile = int(client.createMultiBody(throw.mass, shape))
    contact = {"lateralFriction": throw.friction, "restitution": throw.restitution}
    let_move(client, projectile, -1, settings.damping, **contact, rollingFriction=0.0, spinningFriction=0.0)
    if settings.contact == "matched":
        client.changeDynamics(projectile, -1, contactProcessingThreshold=0.0)
    client.setCollisionFilterGroupMask(projectile, -1, _PROJECTILE, _TOUCHES[_PROJECTILE])
    return projectile
