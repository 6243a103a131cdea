"""The closed loop of an experiment that goes on for as long as it is asked to, and is meddled with on the way."""

from dataclasses import replace

import numpy as np

from biped.control.controller import Controller
from biped.disturbances import Disturbance, Force, Push, Throw
from biped.dynamics import forward_kinematics
from biped.errors import InputError
from biped.model import Model
from biped.model.geometry import Vector3, quaternion_matrix
from biped.simulation.driver import Announce
from biped.simulation.scene import Scene
from biped.simulation.session import Session
from controllers.workspace import WorkspaceController, WorkspaceGains
from experiments.catalogue.open_registry import is_own
from experiments.catalogue.parameters.fields import object_from
from experiments.catalogue.parameters.parameter import Value

#: [m] edges of the block of the thesis's experiment 2, a cube of 1.8 kg as dense as water.
EDGES = (0.1216, 0.1216, 0.1216)
#: [m] A thrown box that has fallen this far below the floor is gone: the floor does not stop it.
GONE = -2.0


class Loop:
    """Simulated time, taken in whole control ticks; between two of them gains change, and pushes and blocks come.

    What the experiment sets itself, such as a push at a time or a moving floor, keeps acting. Left alone, it is bit for
    bit what ``simulate`` does, since any change continues the same ``State``.

    Args:
        setup: of the experiment.
        announce: called with a sentence before the kernels are compiled for the first time.
    """

    def __init__(self, setup: Scene, announce: Announce | None = None) -> None:
        self.setup = setup
        self.controller: Controller | None = setup.controller  # the one that acts now
        self.restart()
        self._session.warm_up(announce)

    def restart(self) -> None:
        """Begin anew, with the present controller and without what was thrown in on the way."""
        self._law_error: str | None = None  # of somebody's own
        self.disturbances: tuple[Disturbance, ...] = tuple(self.setup.disturbances)  # that act now
        self._session = Session(replace(self.setup, controller=self.controller))
        self.state = self._session.state

    @property
    def model(self) -> Model:
        return self._session.model

    @property
    def tick(self) -> float:
        """[s] between two looks of the controller."""
        return self._session.period

    @property
    def time(self) -> float:
        return self.state.time

    @property
    def fell_at(self) -> float | None:
        return None if self._session.ending is None else self._session.ending.fell_at

    @property
    def error(self) -> str | None:
        return self._law_error if self._session.ending is None else self._session.ending.error

    @property
    def has_ended(self) -> bool:
        """Whether it fell, or a step had no solution; only ``restart`` helps."""
        return self._session.has_ended or self._law_error is not None

    @property
    def gains(self) -> WorkspaceGains | None:
        return self.controller.gains if isinstance(self.controller, WorkspaceController) else None

    def advance(self, ticks: int) -> int:
        """Take so many control ticks, fewer if it ends; how many were taken. An error of somebody's own law ends it."""
        try:
            return self._session.advance(ticks)
        except Exception as error:
            if is_own(type(self.controller)):
                raise
            self._law_error = f"{type(self.controller).__name__}: {type(error).__name__}: {error}"
            return 0

    def set_parameter(self, name: str, value: Value) -> None:
        """Let a field of the controller be this from now on; raises InputError where that is impossible."""
        self.set_controller(object_from(self.controller, {name: value}))

    def set_gains(self, gains: WorkspaceGains) -> None:
        self.set_controller(replace(self._workspace(), gains=gains))

    def set_target(self, position: Vector3) -> None:
        """Let the root's set point be here [m] from now on."""
        self.set_controller(replace(self._workspace(), target_position=position))

    def set_controller(self, controller: Controller | None) -> None:
        """Let this controller act from now on; it needs the period of the one before."""
        self.controller = controller
        self._continue()

    def push(
        self,
        direction: Vector3,
        impulse: float,
        duration: float = 0.1,
        body: str | None = None,
        point: Vector3 = (0.0,) * 3,
    ) -> Push:
        """Push a body, the root if not said, from now on; arguments and errors are those of ``Push``.

        Raises:
            InputError: as ``Push``; or it fell.
        """
        push = Push(body or self.model.root.name, direction, impulse, self.time, duration, point=point)
        self._add(push)
        return push

    def throw(
        self,
        direction: Vector3,
        speed: float,
        height: float | None = None,
        mass: float = 1.8,
        size: Vector3 = EDGES,
        flight: float = 0.2,
    ) -> Throw:
        """Throw a box at a body from now on, in place of the one that was thrown before.

        Args:
            direction: (3,) of its motion when it arrives, world axes; its length does not matter.
            speed: [m/s] when it arrives.
            height: [m] above the floor where it is aimed at; the middle of the body's box if not given.
            mass: [kg].
            size: (3,) [m] edges.
            flight: [s] until its centre would be where it is aimed at.

        Returns:
            What was added.

        Raises:
            InputError: as ``Throw``; there is nothing to hit; it would start inside of it; or it fell.
        """
        target = self._target()
        x, y, z = self.middle_of_target()
        aim = (x, y, z if height is None else height)
        gravity = -float(self.model.gravity[2])
        box = Throw.at(aim, speed, direction, mass=mass, size=size, flight=flight, gravity=gravity, target=target)
        before = self.disturbances
        projectile, throw = self.state.projectile, self.state.throw
        self.state.projectile = self.state.throw = None
        self.disturbances = tuple(d for d in before if not isinstance(d, Throw))
        try:
            self._add(box)
        except InputError:
            self.disturbances, self.state.projectile, self.state.throw = before, projectile, throw
            raise
        return box

    def _target(self) -> str:
        bodies = [shape.body for shape in self.model.shapes]
        if not bodies:
            raise InputError(f"model {self.model.name!r} has no box that a block could hit")
        return self.model.root.name if self.model.root.name in bodies else bodies[0]

    def middle_of_target(self) -> Vector3:
        """[m] where the middle of the box that blocks are thrown at is now."""
        body = self._target()
        index, shape = self.model.body_index(body), next(shape for shape in self.model.shapes if shape.body == body)
        motion = forward_kinematics(self.model, self.state.q)
        arm = np.subtract(shape.center, self.model.bodies[index].com)
        x, y, z = (motion.position[index] + quaternion_matrix(motion.orientation[index]) @ arm).tolist()
        return x, y, z

    def _workspace(self) -> WorkspaceController:
        if not isinstance(self.controller, WorkspaceController):
            raise InputError("this experiment has no workspace controller, whose gains could be changed")
        return self.controller

    def _add(self, disturbance: Disturbance) -> None:
        if self.has_ended:
            raise InputError("it has fallen: restart first")
        before = self.disturbances
        self.disturbances = (*before, disturbance)
        try:
            self._continue()
        except InputError:
            self.disturbances = before
            raise

    def _continue(self) -> None:
        if self.has_ended:
            return
        self.disturbances = tuple(d for d in self.disturbances if self._lasts(d))
        self._session = self._session.changed(controller=self.controller, disturbances=self.disturbances)
        self.state = self._session.state

    def _lasts(self, disturbance: Disturbance) -> bool:
        """Whether it can still do anything; a floor stays where it moved to."""
        if isinstance(disturbance, (Push, Force)):
            return disturbance.ends > self.time
        if isinstance(disturbance, Throw) and self.state.throw == disturbance and self.state.projectile is not None:
            return bool(self.state.projectile[2] > GONE)
        return True
