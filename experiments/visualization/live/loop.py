"""Closed loop of an experiment that runs without end and can be changed while it runs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from biped.control.controller import Controller
from biped.disturbances import Actuators, Disturbance, Force, Push, Sensors, Throw
from biped.dynamics import forward_kinematics
from biped.errors import InputError
from biped.model import Model
from biped.model.geometry import Vector3, quaternion_matrix
from biped.runs.recording import Recording
from biped.runs.run import Run
from biped.runs.summary import Ending
from biped.runs.verdict import FELL, verdict_line
from biped.signals import Signal
from biped.simulation.collapse import limp, parts_in_floor
from biped.simulation.driver import Announce
from biped.simulation.scene import Scene
from biped.simulation.session import Session
from controllers.workspace import WorkspaceController, WorkspaceGains
from experiments.catalogue.parameters.fields import object_from
from experiments.catalogue.parameters.parameter import Value
from experiments.lookup.open_registry import is_project_code
from experiments.visualization.live.tape import Tape

#: [m] edges of the block in the thesis's experiment 2, a cube of 1.8 kg with the density of water.
EDGES = (0.1216, 0.1216, 0.1216)
#: [m] depth below the floor at which a thrown box is removed: the floor does not stop it.
GONE = -2.0
#: [s] simulated time between checks for a fall.
SLICE = 0.01
#: [s] duration of a pull that is not released.
LONG = 1e6
#: Groups of parameters that take effect without a restart.
AT_ONCE = ("floor", "sensors", "actuators")


class Loop:
    """Simulation that advances by whole control periods, between which gains, pushes and thrown boxes may change.

    The experiment's disturbances, such as a timed push or a moving floor, continue to act. Without changes the result
    equals that of ``simulate`` bit for bit. After a fall, or when a named point of the body (``Model.body_points``) is
    below the floor, the body continues limp, without a controller.

    Args:
        setup: scene to simulate.
        announce: function that is called with a sentence before kernels are compiled for the first time.
        build: function that returns the scene for changed parameters; None: ``set_setting`` raises an error.

    Attributes:
        fell_at: time of the fall [s]; None before a fall.
        fall: text with the verdict on the fall and its reason; empty before a fall.
    """

    def __init__(
        self,
        setup: Scene,
        announce: Announce | None = None,
        build: Callable[[Mapping[str, Value]], Scene] | None = None,
    ) -> None:
        self.setup = setup
        self.settings: dict[str, Value] = {}  # changed values
        self.controller: Controller | None = setup.controller  # the active controller
        self._build = build
        if announce is not None and setup.controller is not None:
            setup.controller.warm_up(setup.model, announce)
        self.restart()
        self._session.warm_up(announce)

    def restart(self) -> None:
        """Restart with the present controller and settings, without added disturbances.

        Raises:
            UnsettledError: the run must begin at rest, but the body does not come to rest; the loop is unchanged.
        """
        session = Session(replace(self.setup, controller=self.controller))
        self._law_error: str | None = None  # error of a user's controller
        self.fell_at: float | None = None
        self.fall = ""
        self._touched: tuple[Ending, str] | None = None  # a fall without a limit: a body part touches the floor
        self.disturbances: tuple[Disturbance, ...] = tuple(self.setup.disturbances)  # active now
        self._acted = list(self.disturbances)  # all since the start
        self._session = session
        self.tick = self._session.period  # [s] control period
        self.state = self._session.state
        self._clear = self._session.save().state  # last state before a possible fall
        self._tape, self._limp = Tape(), Tape()
        self._pull: Force | None = None

    @property
    def model(self) -> Model:
        return self._session.model

    @property
    def time(self) -> float:
        return self.state.time

    @property
    def error(self) -> str | None:
        return self._law_error if self._session.ending is None else self._session.ending.error

    @property
    def has_ended(self) -> bool:
        """End of the loop: a step had no solution, or a user's controller failed; only ``restart`` continues."""
        return self._session.has_ended or self._law_error is not None

    @property
    def latest(self) -> Recording | None:
        """Most recently recorded rows; None before the first rows."""
        return (self._limp or self._tape).latest

    @property
    def gains(self) -> WorkspaceGains | None:
        return self.controller.gains if isinstance(self.controller, WorkspaceController) else None

    # --- time ---

    def advance(self, ticks: int) -> int:
        """Advance by ``ticks`` control ticks; return how many were done (fewer if the loop ended)."""
        slices, left = max(1, round(SLICE / self.tick)), ticks
        while left > 0 and not self.has_ended:
            due = min(left, slices)
            try:
                taken = self._session.advance(self._session_ticks(due), keep=True)
            except Exception as error:
                if is_project_code(type(self.controller)):
                    raise
                self._law_error = f"{type(self.controller).__name__}: {type(error).__name__}: {error}"
                break
            left -= due if taken == self._session_ticks(due) else taken
            self._record()
            self._watch()
            if taken < due and self.fell_at is None:
                break
        return ticks - left

    def _session_ticks(self, ticks: int) -> int:
        """Return the number of session ticks with the same duration; a limp body's session has another period."""
        return max(1, round(ticks * self.tick / self._session.period))

    def _record(self) -> None:
        (self._tape if self.fell_at is None else self._limp).add(self._session.recorded())

    def _watch(self) -> None:
        """Continue limp after a fall."""
        if self.fell_at is not None or self.error is not None:
            return
        ending, now = self._session.ending, self._session.save().state
        parts = parts_in_floor(now)
        if ending is None and not parts:
            self._clear = now
            return
        if ending is None:
            ending = Ending(FELL, now.time)
            self._touched = ending, f"{parts[0].replace('_', ' ')} on the floor at {now.time:.4g} s"
        self.fell_at = now.time if ending.fell_at is None else ending.fell_at
        reason = ending.reason if self._touched is None else self._touched[1]
        self.fall = verdict_line({"verdict": ending.verdict, "reason": reason})
        if self.model.is_floating:
            scene = replace(self._session.scene, disturbances=self.disturbances)
            self._session = Session(limp(scene, self._clear, self.setup.duration))
            self.state = self._session.state

    def run(self) -> Run:
        """Return the run of the last two minutes at most; ``Run.after`` is the motion after a fall.

        Raises:
            InputError: nothing has been simulated yet.
        """
        if not self._tape:
            raise InputError("there is no run yet: advance the simulation first")
        acted = tuple(self._acted)
        ending, reason = self._touched or (None, "")
        run = self._tape.run(acted, ending)
        if reason:
            run.summary["reason"] = reason
        if self._limp:
            run.after = self._limp.run(acted)
        return run

    # --- changes ---

    def set_parameter(self, name: str, value: Value) -> None:
        """Set a field of the controller from now on; raise InputError if that is impossible."""
        self.set_controller(object_from(self.controller, {name: value}))

    def set_gains(self, gains: WorkspaceGains) -> None:
        """Set the gains of a workspace controller from now on; raise InputError for another controller."""
        if not isinstance(self.controller, WorkspaceController):
            raise InputError("gains can be set only for a workspace controller; for others use set_controller")
        self.set_controller(replace(self.controller, gains=gains))

    def set_controller(self, controller: Controller | None) -> None:
        """Set the controller from now on; its period must equal the period of the previous controller."""
        self.controller = controller
        self._continue()

    def push(self, direction: Vector3, impulse: float, duration: float = 0.1, body: str | None = None) -> Push:
        """Push a body, by default the root, from now on; for the arguments see ``Push``.

        Raises:
            InputError: as for ``Push``, or the loop has ended.
        """
        push = Push(body or self.model.root.name, direction, impulse, self.time, duration)
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
        """Throw a box at the root's box, or at the model's first box; a box that was thrown before is removed.

        Args:
            direction: (3,) direction of motion on arrival, world axes; the length is ignored.
            speed: [m/s] speed on arrival.
            height: [m] vertical position of the aim; None: height of the target's middle.
            mass: [kg] mass of the box.
            size: (3,) [m] edges of the box.
            flight: [s] time until the centre of the box would reach the aim.

        Returns:
            The added disturbance.

        Raises:
            InputError: as for ``Throw``; the model has no box; the start is inside it; or the loop has ended.
        """
        target = self._target()
        x, y, z = self.middle_of_target()
        aim = (x, y, z if height is None else height)
        gravity = -float(self.model.gravity[2])
        box = Throw.at(aim, speed, direction, mass=mass, size=size, flight=flight, gravity=gravity, target=target)
        with _restored_on_error(self, "disturbances"), _restored_on_error(self.state, "projectile", "throw"):
            self.state.projectile = self.state.throw = None
            self.disturbances = tuple(d for d in self.disturbances if not isinstance(d, Throw))
            self._add(box)
        return box

    def _target(self) -> str:
        bodies = [shape.body for shape in self.model.shapes]
        if not bodies:
            raise InputError(f"no block can be thrown at model {self.model.name!r}: its bodies have no shapes")
        return self.model.root.name if self.model.root.name in bodies else bodies[0]

    def middle_of_target(self) -> Vector3:
        """Return the present middle (3,) [m] of the box that is the target of throws, in world axes."""
        body = self._target()
        index, shape = self.model.body_index(body), next(shape for shape in self.model.shapes if shape.body == body)
        motion = forward_kinematics(self.model, self.state.q)
        arm = np.subtract(shape.center, self.model.bodies[index].com)
        x, y, z = (motion.position[index] + quaternion_matrix(motion.orientation[index]) @ arm).tolist()
        return x, y, z

    def pull(self, body: str, point: Vector3, force: Vector3) -> None:
        """Pull a body with a force [N], world axes, at a point [m], body axes from its CoM, until ``let_go``."""
        size = float(np.linalg.norm(force))
        if size == 0.0:
            self.let_go()
            return
        before = self._without_pull()
        signal = Signal.rectangle(size, self.time, LONG)
        self._pull = Force(body, force, signal, point)
        self.disturbances = (*before, self._pull)
        self._continue()

    def let_go(self) -> None:
        """End the pull."""
        if self._pull is not None:
            self.disturbances = self._without_pull()
            self._continue()

    def _without_pull(self) -> tuple[Disturbance, ...]:
        """Return the disturbances without the pull; the pull until now is kept for the saved run."""
        pull, self._pull = self._pull, None
        if pull is not None and self.time > pull.begins:
            done = Signal.rectangle(pull.signal.coefficients[0, 0], pull.begins, self.time - pull.begins)
            self._acted.append(replace(pull, signal=done))
        return tuple(d for d in self.disturbances if d is not pull)

    def set_setting(self, name: str, value: Value) -> bool:
        """Set a parameter of the experiment; return True if it takes effect now, False if after a restart.

        Raises:
            InputError: the value is not allowed, or the loop was made without ``build``.
        """
        if self._build is None:
            raise InputError(f"{name} cannot be changed, because this Loop was created without `build`")
        settings = self.settings | {name: value}
        setup = self._build(settings)
        at_once = name.partition(".")[0] in AT_ONCE
        if at_once:
            replaced = [d for d in setup.disturbances if isinstance(d, (Sensors, Actuators))]
            with _restored_on_error(self, "disturbances", "setup"):
                self.disturbances = (*_outside(self.disturbances), *replaced)
                self.setup = setup
                self._continue()
        self.setup, self.settings = setup, settings
        return at_once

    def _add(self, disturbance: Disturbance) -> None:
        if self.has_ended:
            raise InputError("the simulation has stopped: restart it first")
        with _restored_on_error(self, "disturbances"):
            self.disturbances = (*self.disturbances, disturbance)
            self._continue()
        self._acted.append(disturbance)

    def _continue(self) -> None:
        if self.has_ended:
            return
        self.disturbances = tuple(d for d in self.disturbances if self._lasts(d))
        if self.fell_at is None:
            changes = {"controller": self.controller, "disturbances": self.disturbances, "floor": self.setup.floor}
        else:  # no controller
            changes = {"disturbances": _outside(self.disturbances), "floor": self.setup.floor}
        self._session = self._session.changed(**changes)
        self.state = self._session.state

    def _lasts(self, disturbance: Disturbance) -> bool:
        """Return whether a disturbance can still act; a floor stays at its position."""
        if isinstance(disturbance, (Push, Force)):
            return disturbance.ends > self.time
        if isinstance(disturbance, Throw) and self.state.throw == disturbance and self.state.projectile is not None:
            return bool(self.state.projectile[2] > GONE)
        return True


@contextmanager
def _restored_on_error(changed: object, *names: str) -> Iterator[None]:
    """Restore attributes if a change within the context turns out to be impossible."""
    before = {name: getattr(changed, name) for name in names}
    try:
        yield
    except InputError:
        for name, value in before.items():
            setattr(changed, name, value)
        raise


def _outside(disturbances: Sequence[Disturbance]) -> tuple[Disturbance, ...]:
    """Return the disturbances without sensors and actuators."""
    return tuple(d for d in disturbances if not isinstance(d, (Sensors, Actuators)))
