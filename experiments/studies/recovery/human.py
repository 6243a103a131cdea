"""Optimal recovery of an experiment's human: the push of one direction, its limits, and what proves a recovery."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from biped import dynamics
from biped.control.controller import Controller
from biped.disturbances import Push
from biped.errors import InputError, IntegrationError
from biped.model.strength import human_torques
from biped.recovery.cost import Standing, places_of
from biped.recovery.optimizer import tracking_gains
from biped.recovery.plan import PlanThenLaw, RecoveryPlan
from biped.recovery.rollout import HeldTorques, NotLinearizedError, Path
from biped.runs.run import Run
from biped.runs.state import State
from biped.runs.verdict import RECOVERED
from biped.simulation.scene import Scene
from biped.simulation.session import Session
from contact.arrays import Floats
from controllers.whole_body import WholeBodyController
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import Value

#: Of a deviation from the plan that its feedback takes for as bad as another: [m] and [rad] of the root, [rad] of
#: joints, and [√J] of momenta; and of a joint's torque limit, what it adds for that.
PLACE, TURN, JOINT, MOTION, TORQUE = 0.02, 0.05, 0.1, 2.0, 0.2
#: [m] A foot that stands elsewhere by more in the end has stepped: the verdict ``recovered`` allows 50 mm.
FOOT_MOVED = 0.02
#: [m] Nor may a point that bears so much of the weight have slipped farther on the way.
FOOT_SLID, BEARS = 0.03, 0.02
#: [s] from the end of the plan to the end of the run that judges it.
AFTER = 2.0


@dataclass(frozen=True)
class Horizon:
    """The time grid of plans."""

    duration: float = 1.0  #: [s] from the push's start on; then the law goes on
    period: float = 4e-3  #: [s] for which torques are held
    step: float = 2e-3  #: [s] in optimizing; what proves a recovery is simulated in half and in a quarter of it


@dataclass(frozen=True, eq=False)
class Proof:
    """The proof that a push is recovered from."""

    plan: RecoveryPlan  # torques, trajectory and feedback
    runs: Mapping[float, Run]  # of the plan and the law after it, by the step [s]
    moved: float  # [m] by how much the point of a foot that has moved most has, at the end of them
    slid: float  # [m] how far a point that bore weight was from where it stood, at most


class HumanPush:
    """A push in one direction of an experiment: ``biped.recovery.search.Problem``.

    The impulse and azimuth of its push in the ``changes`` do not matter: ``azimuth`` [rad] is where the push drives it.
    The ``law`` stands before the push, and goes on after the plan.
    """

    def __init__(
        self, experiment: Experiment, changes: Mapping[str, Value], azimuth: float,
        law: Controller | None = None, horizon: Horizon | None = None,
    ) -> None:  # fmt: skip
        self.law = WholeBodyController() if law is None else law
        self.horizon = Horizon() if horizon is None else horizon
        self.azimuth = azimuth
        built = experiment.build({**changes, "push.impulse": 1.0, "push.azimuth": azimuth, "initial.jitter": 0.0})
        if len(built.disturbances) != 1 or not isinstance(built.disturbances[0], Push):
            raise InputError("optimal recovery is from one push that acts alone: leave other disturbances out")
        self.push, self._built = built.disturbances[0], built
        self.model = built.model
        strong = human_torques(self.model)
        if set(strong) != set(self.model.joint_names):
            raise InputError(
                f"no torque limits are known of {self.model.name!r}: optimal recovery is that of the human"
            )
        self.high: Floats = np.array([strong[joint] for joint in self.model.joint_names])
        self.low: Floats = -self.high
        ticks = round(self.horizon.duration / self.horizon.period)
        self.cost = Standing(self.model, self.start.q, ticks, self.horizon.period, self.high)
        self.ticks = ticks
        nv = self.model.nv
        inverse = np.linalg.inv(dynamics.mass_matrix(self.model, self.start.q))
        scale = np.array([PLACE] * 3 + [TURN] * 3 + [JOINT] * (nv - 6))
        self.state_weight = np.zeros((2 * nv, 2 * nv))
        self.state_weight[:nv, :nv], self.state_weight[nv:, nv:] = np.diag(scale**-2.0), inverse / MOTION**2
        self.torque_weight = np.diag((TORQUE * self.high) ** -2.0)

    def scene(self, impulse: float, step: float | None = None) -> Scene:
        """The scene from the experiment's start under the law, with a push of ``impulse`` [N·s]."""
        h = self.horizon
        return replace(
            self._built, controller=self.law, disturbances=(replace(self.push, impulse=impulse),),
            step=h.step if step is None else step, duration=self.push.start + h.duration + AFTER,
        )  # fmt: skip

    @cached_property
    def start(self) -> State:
        """Where it stands when the push begins."""
        session = Session(self.scene(1.0))
        session.advance(round(self.push.start / session.period))
        return session.state.copy()

    def held(self, impulse: float) -> HeldTorques:
        """The human under torques that are held, from the push on."""
        return HeldTorques(self.scene(impulse), self.start, self.horizon.period)

    def path_of_law(self, impulse: float) -> Path:
        """The law's path in the time of a plan, its torques held as long as a plan's, and within the limits."""
        controller: Controller = replace(self.law, period=self.horizon.period)  # type: ignore[type-var]
        session = Session(replace(self.scene(impulse), controller=controller, state=self.start))
        u = np.zeros((self.ticks, len(self.high)))
        held = self.held(impulse)
        for k in range(self.ticks):
            if not session.has_ended:
                session.advance(1)
            u[k] = session.state.arrays.torque[held.joints.dofs]
        q, p, anchor = (np.zeros((self.ticks + 1, size)) for size in (self.model.nq, self.model.nv, 2 * self.model.nc))
        limits = np.broadcast_to(self.low, u.shape), np.broadcast_to(self.high, u.shape)
        found = held.follow(Path(q, p, anchor, u), limits=limits)
        if found is None:
            raise InputError(f"the law cannot be followed for {self.horizon.duration:g} s at {impulse:g} N·s")
        return found

    def judged(self, impulse: float, held: HeldTorques, path: Path) -> Proof | None:
        """The plan and the law, simulated in half and in a quarter of the optimizer's step; None if one run fails."""
        try:
            gains = tracking_gains(held, path, self.state_weight, self.torque_weight)
        except NotLinearizedError:
            return None
        facts = {"azimuth": self.azimuth, "impulse": impulse, "step": self.horizon.step, "cost": self.cost.value(path)}
        plan = RecoveryPlan(self.start.time, self.horizon.period, path, gains, self.low, self.high, facts)
        runs, moved, slid = {}, 0.0, 0.0
        for step in (0.5 * self.horizon.step, 0.25 * self.horizon.step):
            run = self.replayed(plan, step)
            if run is None or run.summary["verdict"] != RECOVERED:
                return None
            moved, slid = max(moved, self.feet_moved(run)), max(slid, self.feet_slid(run))
            if not self.stays(run):
                return None
            runs[step] = run
        return Proof(plan, runs, moved, slid)

    def replayed(self, plan: RecoveryPlan, step: float) -> Run | None:
        """A plan with the law before and after it, in steps of so many seconds; None if a step has no solution."""
        scene = self.scene(float(plan.facts["impulse"]), step)
        try:
            return replace(scene, controller=PlanThenLaw(plan, self.law)).run()
        except IntegrationError:
            return None

    def stays(self, run: Run) -> bool:
        """Whether the feet stand where they stood in the end, and have not slipped far on the way."""
        return self.feet_moved(run) <= FOOT_MOVED and self.feet_slid(run) <= FOOT_SLID

    def feet_moved(self, run: Run) -> float:
        """[m] By how much the contact point that has moved most has, sideways, at the end of a run."""
        assert run.state is not None
        there = places_of(self.model, run.state.q[None], jacobians=False).contact[0]
        return float(np.linalg.norm((there - self.cost.contact)[:, :2], axis=1).max())

    def feet_slid(self, run: Run) -> float:
        """[m] How far a contact point that bears weight is from where it stood when the push begins, at most."""
        points = self.model.contact_names
        bears = BEARS * self.model.total_mass * -float(self.model.tree.gravity[2])
        forces = run.frame[[f"contact_{point}_fz" for point in points]].to_numpy()
        away = np.stack([
            np.hypot(*(run.frame[[f"contact_{point}_x", f"contact_{point}_y"]].to_numpy() - there[:2]).T)
            for point, there in zip(points, self.cost.contact, strict=True)
        ], axis=1)  # fmt: skip
        return float(away[forces > bears].max())

    def law_recovers(self, impulse: float, step: float | None = None) -> bool:
        """Whether the law by itself recovers from a push, in the place where it stood."""
        run = self.scene(impulse, 0.5 * self.horizon.step if step is None else step).run()
        return run.summary["verdict"] == RECOVERED

    def law_limit(self, tolerance: float = 0.25, by: float = 4.0) -> float:
        """[N·s] The largest push tried below which the law recovers from all that were, by a grid and a bisection."""
        low = 0.0
        while self.law_recovers(low + by):
            low += by
        high = low + by
        while high - low > tolerance:
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self.law_recovers(middle) else (low, middle)
        return low
