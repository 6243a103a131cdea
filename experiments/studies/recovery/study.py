"""Optimal recovery in many directions: searched one after the other, kept in a folder, and put into a table."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path as FilePath
from typing import Any

import numpy as np
import pandas as pd

from biped.errors import InputError
from biped.inputs.files import replace_file
from biped.model import Model
from biped.recovery.plan import RecoveryPlan
from biped.recovery.rollout import Path
from biped.recovery.search import Attempt, Settings, search
from biped.runs.verdict import RECOVERED
from contact.arrays import Floats
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import Value
from experiments.studies.limits import push_under
from experiments.studies.recovery.human import Horizon, HumanPush
from experiments.studies.threshold.directions import evenly

#: What a folder has of each direction.
ROW, PLAN, RUN = "row.json", "plan.npz", "run"
#: The first push, as a part of what the law recovers from.
FIRST = 0.95
#: Of that, pushes for which what the law does is a plan to begin with: what is found is to be no less.
BY_LAW = (1.0, 0.98, 0.96)
#: By column: unit and meaning.
COLUMNS = {
    "direction": ("°", "where the push drives it: 0 forwards, 90 to its left"),
    "impulse": ("N·s", "the largest push found that it recovers from without a step"),
    "law": ("N·s", "the largest that the law by itself recovers from"),
    "share_of_law": ("1", "what the law reaches of the largest found"),
    "limit": ("N·s", "of the inverted pendulum"),
    "limit_hips": ("N·s", "of the pendulum with the hips as a flywheel"),
    "share": ("1", "the largest found as a part of the pendulum's limit"),
    "moved": ("m", "how far the foot that moved most stands from where it stood"),
    "slid": ("m", "how far a point that bore weight was from where it stood, at most, on the way"),
    "peak_torque": ("1", "greatest torque of the plan as a part of the joint's limit"),
    "in_air": ("s", "for which no point touched the floor, from the push on"),
    "rate": ("rad/s", "greatest rate of a joint, in the run"),
    "iterations": ("1", "of the optimizer"),
    "mirrored": ("", "whether its plan is that of the other side, replayed"),
}


@dataclass(frozen=True)
class Study:
    """A study of the largest pushes from which the best controls recover, by direction."""

    experiment: Experiment  # with a push
    changes: Mapping[str, Value] = field(default_factory=dict)  # of its parameters
    directions: int = 24  # evenly around the human; those to its right are the mirror images of those to its left
    horizon: Horizon = field(default_factory=Horizon)  # of plans
    settings: Settings = field(default_factory=Settings)  # of each search

    @property
    def azimuths(self) -> list[float]:
        """[°] Those that are searched: the front first, then ever finer, so that a part of them tells most."""
        left = [azimuth for azimuth in evenly(self.directions) if azimuth <= 180.0]
        return sorted(left, key=lambda azimuth: ([azimuth % step == 0.0 for step in (90, 45, 30, 15)].index(True)
                                                 if azimuth % 15.0 == 0.0 else 4, azimuth))  # fmt: skip

    def described(self) -> dict[str, Any]:
        """All that decides the result, by which a folder is recognized."""
        return {"experiment": self.experiment.name, "changes": dict(self.changes), "horizon": asdict(self.horizon),
                "settings": asdict(self.settings)}  # fmt: skip


#: Called after each attempt: direction [°], attempt, the law's limit [N·s].
Report = Callable[[float, Attempt, float], None]


def run_study(study: Study, folder: FilePath, report: Report | None = None) -> Iterator[float]:
    """Search the directions that a folder does not have yet; gives each [°] as it is done."""
    _claimed(study, folder)
    for azimuth in study.azimuths:
        here = folder_of(folder, azimuth)
        if not (here / ROW).exists():
            _searched(study, azimuth, here, report)
        if 0.0 < azimuth < 180.0:
            other = 360.0 - azimuth
            if other in evenly(study.directions) and not (folder_of(folder, other) / ROW).exists():
                _replayed_mirrored(study, here, other, folder_of(folder, other))
        yield azimuth


def has_results(folder: FilePath) -> bool:
    """Whether a direction is done."""
    return any(folder.glob(f"*/{ROW}"))


def table_of(folder: FilePath) -> pd.DataFrame:
    """A row for each direction that a folder has, units in ``attrs["units"]``."""
    rows = [_saved(file) for file in sorted(folder.glob(f"*/{ROW}"))]
    if not rows:
        raise InputError(f"{folder} has no direction yet: run `biped recovery --out {folder}`")
    table = pd.DataFrame(rows).sort_values("direction", ignore_index=True)
    table.attrs["units"] = {name: unit for name, (unit, _) in COLUMNS.items()}
    return table[[name for name in COLUMNS if name in table]]


def _saved(file: FilePath) -> dict[str, Any]:
    try:
        return dict(json.loads(file.read_text(encoding="utf-8")))
    except ValueError as error:
        raise InputError(f"{file}: damaged ({error})") from None


def folder_of(folder: FilePath, azimuth: float) -> FilePath:
    """The folder of a direction [°]."""
    return folder / f"{azimuth:06.2f}".replace(".00", "")


def _claimed(study: Study, folder: FilePath) -> None:
    file, mine = folder / "study.json", study.described()
    if file.exists():
        if _saved(file) != json.loads(json.dumps(mine)):
            raise InputError(f"{folder} has the recoveries of another study: give another folder by --out")
        return
    folder.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(mine, indent=1), encoding="utf-8")


def _searched(study: Study, azimuth: float, here: FilePath, report: Report | None) -> None:
    problem = HumanPush(study.experiment, study.changes, float(np.radians(azimuth)), horizon=study.horizon)
    law = problem.law_limit()
    first = FIRST * law
    best, last = _by_law(problem, law), None
    for last in search(problem, first, problem.path_of_law(first), study.settings):
        if last.proof is not None and (best is None or last.impulse > best.impulse):
            best = last
        if report is not None:
            report(azimuth, last, law)
    assert last is not None
    if best is None or best.proof is None:
        raise InputError(f"no recovery was found at {azimuth:g}° from {first:g} N·s, which the law recovers from")
    row = {"direction": azimuth, "impulse": best.impulse, "law": law, "iterations": last.iterations, "mirrored": False}
    _kept(study, problem, best.proof.plan, best.proof.runs[min(best.proof.runs)], row, here)


def _by_law(problem: HumanPush, law: float) -> Attempt | None:
    """The law's attempt near the largest push that it recovers from, as a plan within the torques' limits."""
    for part in BY_LAW:
        impulse = part * law
        path, held = problem.path_of_law(impulse), problem.held(impulse)
        proof = problem.judged(impulse, held, path)
        if proof is not None:
            return Attempt(impulse, path, problem.cost.value(path), None, proof, 0)
    return None


def _replayed_mirrored(study: Study, here: FilePath, azimuth: float, there: FilePath) -> None:
    """The other side: the mirrored plan has to recover, too, or the direction is left out."""
    problem = HumanPush(study.experiment, study.changes, float(np.radians(azimuth)), horizon=study.horizon)
    plan = mirrored(problem.model, RecoveryPlan.load(here / PLAN))
    steps = (0.5 * study.horizon.step, 0.25 * study.horizon.step)
    runs = [problem.replayed(plan, step) for step in steps]
    for run in runs:
        if run is None or run.summary["verdict"] != RECOVERED or not problem.stays(run):
            return
    row = _saved(here / ROW)
    _kept(study, problem, plan, runs[-1], row | {"direction": azimuth, "mirrored": True}, there)


def _kept(study: Study, problem: HumanPush, plan: RecoveryPlan, run: Any, row: dict[str, Any], here: FilePath) -> None:
    """Plan, run and row; the row last, so that what is there is whole."""
    limit = push_under(study.experiment, {**study.changes, "push.azimuth": problem.azimuth}).limit
    here.mkdir(parents=True, exist_ok=True)
    plan.save(here / PLAN)
    run.save(here / RUN)
    pushed = run.frame[run.frame["time"] > plan.begins]
    forces = pushed[[f"contact_{point}_fz" for point in problem.model.contact_names]].to_numpy()
    rates = run.frame[[f"rate_{joint}" for joint in problem.model.joint_names]].to_numpy()
    every = float(np.diff(run.frame["time"].to_numpy()[:2])[0])
    whole = {
        **row, "share_of_law": row["law"] / row["impulse"], "limit": limit.pendulum, "limit_hips": limit.hips,
        "share": row["impulse"] / limit.pendulum, "moved": problem.feet_moved(run), "slid": problem.feet_slid(run),
        "peak_torque": float((np.abs(plan.path.u) / plan.high).max()),
        "in_air": float((forces <= 0.0).all(axis=1).sum() * every), "rate": float(np.abs(rates).max()),
    }  # fmt: skip
    replace_file(here / ROW, json.dumps({name: whole[name] for name in COLUMNS}, indent=1).encode())


#: What left and right do to a vector in world axes: positions, and what turns.
_PLACE, _TURN = np.array([1.0, -1.0, 1.0]), np.array([-1.0, 1.0, -1.0])
_SIDES = {"left_": "right_", "right_": "left_"}


def mirrored(model: Model, plan: RecoveryPlan) -> RecoveryPlan:
    """Return the plan with left and right swapped."""
    other, sign = _joints(model)
    root = np.concatenate([_PLACE, _TURN])
    swap = np.concatenate([np.arange(6), 6 + other])
    signs = np.concatenate([root, sign])
    q = plan.path.q.copy()
    q[:, :3] *= _PLACE
    q[:, 4:7] *= _TURN
    q[:, 7:] = plan.path.q[:, 7 + other] * sign
    p = plan.path.p[:, swap] * signs
    nv = len(signs)
    both = np.concatenate([swap, nv + swap])
    gains = plan.gains[:, other][:, :, both] * sign[None, :, None] * np.concatenate([signs, signs])
    path = Path(q, p, np.zeros_like(plan.path.anchor), plan.path.u[:, other] * sign)
    low, high = plan.low[other] * sign, plan.high[other] * sign
    facts = plan.facts | {"azimuth": -float(plan.facts["azimuth"])}
    return replace(plan, path=path, gains=gains, low=np.minimum(low, high), high=np.maximum(low, high), facts=facts)


def _joints(model: Model) -> tuple[np.ndarray[tuple[int, ...], np.dtype[np.int64]], Floats]:
    """Each joint's twin on the other side, and the sign with which its angle is mirrored."""
    names = list(model.joint_names)
    other, sign = [], []
    for name in names:
        side = next((side for side in _SIDES if name.startswith(side)), None)
        twin = None if side is None else _SIDES[side] + name.removeprefix(side)
        if twin not in names:
            raise InputError(f"joint {name!r} has no twin on the other side: {model.name!r} cannot be mirrored")
        axis = np.asarray(model.bodies[model.joint_index(name)].joint.axis)
        other.append(names.index(twin))
        sign.append(float(np.dot(_TURN * axis, np.asarray(model.bodies[model.joint_index(twin)].joint.axis))))
    if not np.allclose(np.abs(sign), 1.0):
        raise InputError(f"joints of {model.name!r} are no mirror images of one another")
    return np.array(other, dtype=np.int64), np.array(sign)
