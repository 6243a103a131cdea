"""An engine in place of an integrator: it takes the time steps, biped runs the controller and the energy balance."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from biped.control.controller import Impedance
from biped.disturbances import Disturbances
from biped.disturbances.throw import EVERYTHING
from biped.dynamics import forward_kinematics
from biped.errors import InputError
from biped.integrators import Recursive
from biped.integrators.explicit.interrupts import interrupts_afterwards
from biped.integrators.integrator import Integrator
from biped.kernels.loop.closed_loop import World
from biped.kernels.loop.projectile import ARMED
from biped.kernels.state.simulation_state import STEP_LENGTH, STEPS, TIME_ORIGIN
from biped.kernels.state.status import OK
from biped.kernels.variational.equations import reference_point
from biped.kernels.variational.free_body import body_velocities
from biped.metrics import measure_again
from biped.model import Model
from biped.model.geometry import quaternion_matrix
from biped.model.inertia import is_solid
from biped.runs.events import impacts_of
from biped.runs.run import Run
from contact import RUBBER, Floor
from contact.arrays import Floats
from contact.ground import END, START, is_moving, place_frame
from experiments.engines.engine import Applied, Case, Engine, Simulation
from experiments.engines.kernels import external
from experiments.engines.kernels.external import FloorState
from experiments.engines.registry import ENGINES, engine_named
from kernelcache.kernels import packed


@dataclass
class Impact:
    """Impact of the thrown box, over all its steps."""

    time: float  # [s] start of the impact
    place: Floats  # (3,) [m] position of the impact in the world
    velocity: Floats  # (3,) [m/s] velocity of the box relative to its target before the impact
    impulse: Floats  # (3,) [N·s] impulse on the target so far


class EngineIntegrator(Integrator):
    """Integrator that steps the simulated system in an external engine; made anew for each run.

    Controllers, sensors, actuators, detection of falls, recorded rows and energy balance are the same as with biped's
    integrators (``biped.integrators.integrator``).
    """

    paper: ClassVar[str] = ""
    coordinates: ClassVar[str] = "the engine's"
    order: ClassVar[int] = 1
    cost: ClassVar[str] = ""
    steps_from_python: ClassVar[bool] = True
    can_go_back: ClassVar[bool] = False
    is_engine: ClassVar[bool] = True

    @property
    def files(self) -> tuple[Path, ...]:
        """Files on which the results depend, other than the model's."""
        return self.engine.files

    @property
    def takes_passive_joints(self) -> bool:
        return self.engine.takes_passive_joints

    @property
    def takes_moving_floor(self) -> bool:
        return self.engine.takes_moving_floor

    def __init__(self, engine: Engine) -> None:
        engine.check_installed()
        self.engine = engine
        self.seconds, self.steps = 0.0, 0  # [s] computing time of the engine's steps so far, and their number
        self._taken: tuple[Model, Floor, Disturbances] | None = None
        self._simulation: Simulation | None = None
        # world and the packed world, floor and arrival, packed once: packing takes longer than a step
        self._references: tuple[World, tuple[Any, ...]] | None = None
        self.impact: Impact | None = None  # impact that is not over and has no event yet

    def engines_with(self, ability: str) -> Sequence[str]:
        return [name for name in ENGINES if getattr(engine_named(name), ability, False)]

    def explained(self, error: str) -> str:
        """Return the reason why a run ended: the engine's reason if it gives one, or else ``error``."""
        reason = "" if self._simulation is None else " ".join(self._simulation.failure.split())
        return f"{self.engine.title}: {reason}" if reason else error

    @property
    def name(self) -> str:
        return self.engine.name

    def method(self, model: Model) -> Any:
        return Recursive().method(model)

    def bind(self, model: Model, floor: Floor, disturbances: Disturbances) -> None:
        """Begin a run; raises InputError for features of the model and scene that the engine does not support."""
        if disturbances.patches and not self.engine.takes_patches:
            raise InputError(
                f"{self.engine.title} does not support patches on the floor: leave them out, or use PyBullet, MuJoCo "
                "or one of biped's integrators"
            )
        if any(f.friction != RUBBER.friction for f in (floor, *(patch.floor for patch in disturbances.patches))):
            raise InputError(
                f"{self.engine.title} has its own friction law: leave floor.friction = {RUBBER.friction}, or use one "
                "of biped's integrators"
            )
        if model.tree.armature.any() and not self.engine.takes_armature:
            raise InputError(
                f"{self.engine.title} does not simulate the joints' armature in {model.name!r}: load the model "
                "without it, or use MuJoCo or one of biped's integrators"
            )
        if disturbances.throw is not None and disturbances.throw.target == EVERYTHING:
            raise InputError(
                f"in {self.engine.title}, block.target must name one body; or use one of biped's integrators"
            )
        thin = [body.name for body in model.bodies if not is_solid(body.inertia)]
        if thin:
            raise InputError(
                f"{self.engine.title} needs bodies with mass and inertia; {', '.join(map(repr, thin))} of "
                f"{model.name!r} lack mass or moments of inertia: set them, or use one of biped's integrators"
            )
        self._taken, self._simulation, self._references = (model, floor, disturbances), None, None

    def take_steps(self, world: World, steps: int) -> int:
        """Take time steps in the engine, instead of ``Loop.rollout``; zero steps only load the kernels."""
        if self._simulation is None:
            self._begin(world)
        if steps == 0:
            external.velocities_now(world)
            external.begin_step(world, self._floor, 0)
            return int(external.end_step(world, self._floor, self._arrival, 0.0, 0))
        if self._references is None or self._references[0] is not world:
            self._references = world, packed(world, self._floor, self._arrival)
        reason = OK
        with interrupts_afterwards():
            for _ in range(steps):
                reason = self._step(world, *self._references[1])
                if reason != OK:
                    break
        return reason

    def _begin(self, world: World) -> None:
        assert self._taken is not None
        model, floor, disturbances = self._taken
        arrays, step = world.state, float(world.state.clock[STEP_LENGTH])
        external.velocities_now(world)
        self._arrival, self._floor = external.new_arrival(model.nq, model.nv, model.nc), _floor_so_far(world, step)
        self._simulation = self.engine.start(Case.of(model, floor, step, _impedance(model, arrays), disturbances))
        self._lag, self._armed = self.engine.velocity_offset, world.projectile.status[ARMED] == 1
        if self._armed:
            state = world.projectile.state
            velocity, omega = body_velocities(state, world.projectile.mass[0], world.projectile.inertia[0])
            self._arrival.projectile[:] = (*state[:7], *velocity, *omega)
        self._arrival.v[:] = self._arrival.before[:] = world.scratch.motion.rates
        self._simulation.place(arrays.q.copy(), world.scratch.motion.rates.copy(), self._arrival.projectile.copy())

    def _step(self, world: World, there: Any, floor: Any, arrived: Any) -> int:
        assert self._simulation is not None
        arrays, arrival = world.state, self._arrival
        forces = _applied(world) if external.begin_step(there, floor, 1) else ()
        begin = time.perf_counter()
        if self._simulation.case.has_special_floor:
            self._simulation.set_floor(self._floor)
        self._simulation.step(arrays.torque, forces)
        self.seconds += time.perf_counter() - begin
        self.steps += 1
        flying = arrival.projectile.copy() if self._armed else arrival.projectile
        self._simulation.read(arrival)
        if self._armed:
            self._follow_projectile(world, flying)
        return int(external.end_step(there, floor, arrived, self._lag, 1))

    def _follow_projectile(self, world: World, before: Floats) -> None:
        """Update the state of the thrown box, and log an impact when it is over."""
        projectile, arrival = world.projectile, self._arrival
        now = _time(world)
        if np.any(arrival.impact):
            if self.impact is None:
                self.impact = Impact(now, arrival.impact_place.copy(), self._approach(world, before), np.zeros(3))
            self.impact.impulse += arrival.impact
        elif self.impact is not None:
            external.log_impact(world, self.impact.time, self.impact.impulse, self.impact.place, self.impact.velocity)
            self.impact = None
        R = quaternion_matrix(arrival.projectile[3:7])
        projectile.state[:7] = arrival.projectile[:7]
        projectile.state[7:10] = projectile.mass[0] * arrival.projectile[7:10]
        projectile.state[10:13] = R @ projectile.inertia[0].reshape(3, 3) @ np.transpose(R) @ arrival.projectile[10:13]

    def _approach(self, world: World, box: Floats) -> Floats:
        """Return the velocity [m/s] of the thrown box relative to its target at the contact, before the step."""
        assert self._taken is not None
        model, _, disturbances = self._taken
        assert disturbances.throw is not None
        external.velocities_now(world)
        motion = forward_kinematics(model, world.state.q, world.scratch.motion.rates)
        i, place = model.body_index(disturbances.throw.target), self._arrival.impact_place
        struck = motion.velocity[i] + np.cross(motion.angular_velocity[i], place - motion.position[i])
        return np.asarray(box[7:10] + np.cross(box[10:13], place - box[:3]) - struck)


def _impedance(model: Model, arrays: Any) -> Impedance:
    values: dict[str, dict[str, float]] = {"stiffness": {}, "damping": {}, "rest": {}}
    for joint in model.joint_names:
        dof = model.dof(joint)
        if arrays.stiffness[dof] or arrays.damping[dof]:
            values["stiffness"][joint] = float(arrays.stiffness[dof])
            values["damping"][joint] = float(arrays.damping[dof])
            values["rest"][joint] = float(arrays.setpoint[dof])
    return Impedance(values["stiffness"], values["damping"], values["rest"])


def _time(world: World) -> float:
    """Return the time [s]."""
    return float(world.state.clock[TIME_ORIGIN] + world.state.clock[STEP_LENGTH] * world.state.counts[STEPS])


def _floor_so_far(world: World, step: float) -> FloorState:
    """Return the floor's motion in the step before the first, from which engines compute its acceleration."""
    floor, now = external.new_floor_state(world.ground.region), _time(world)
    if is_moving(world.ground):
        place_frame(world.ground, START, now - step)
        place_frame(world.ground, END, now)
        external.set_floor_state(world.ground, floor, step)
    return floor


def _applied(world: World) -> list[Applied]:
    pushes, h = world.pushes, world.state.clock[STEP_LENGTH]
    origin = np.array(reference_point(world.tree, world.state.q))
    return [
        Applied(int(pushes.body[j]), pushes.impulse[j] / h, origin + pushes.left[j])
        for j in range(len(pushes.body))
        if pushes.impulse[j].any()
    ]


def complete(run: Run, integrator: EngineIntegrator) -> None:
    """Add the engine's name to a run, and the event of an impact that lasted until its end."""
    engine = integrator.engine
    if integrator.impact is not None:
        (target,) = (acted["target"] for acted in run.disturbances if acted["kind"] == "throw")
        _add_impact(run, integrator.impact, target)
    run.summary["engine"] = {"name": engine.name, "version": engine.version, "settings": engine.settings}
    measure_again(run)


def _add_impact(run: Run, impact: Impact, target: str) -> None:
    """Add the event of an impact that is not over at the end of the run."""
    import pandas as pd  # a quarter of a command's start

    row = [impact.time, "impact", target, *impact.impulse, *impact.place, *impact.velocity]
    run.events = pd.concat([run.events, pd.DataFrame([row], columns=run.events.columns)]).sort_values("time")
    run.summary["events"]["impacts"] = impacts_of(run.events)
