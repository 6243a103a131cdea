"""How many robot files load, and whether they are what Pinocchio reads: python tests/robot_files.py FOLDER …

Every URDF under the folders is loaded as it is, and where that is refused, with options: repaired links, a root on the
ground. What loads is compared with Pinocchio's own reading of the file, in random states: mass matrix, gravity, bias,
forward dynamics; and let fall for 0.1 s, its momentum compared with gravity's impulse. Relative errors, the worst of
three states. The files are others', so that this is a script and not a test; the tests have twins of their patterns.
"""

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from biped import dynamics
from biped.model import Model, ModelError, load_mjcf, load_urdf
from biped.model.urdf.document import parse, source_text, without_shapes
from biped.runs.state import State
from biped.simulation.simulate import simulate

#: Tried in this order, once a file is refused as it is.
WAYS: tuple[dict[str, Any], ...] = (
    {}, {"repair": "merge"}, {"repair": "inertia"}, {"floating": False}, {"floating": True},
    {"floating": False, "repair": "inertia"}, {"floating": True, "repair": "inertia"},
)  # fmt: skip
COLUMNS = ("mass matrix", "gravity", "bias", "forward dynamics", "momentum")
FALL = 0.1
READERS = {".urdf": load_urdf, ".xml": load_mjcf}


def files(folders: list[str]) -> Iterator[Path]:
    for folder in folders:
        for path in sorted(Path(folder).rglob("*")):
            if path.suffix == ".urdf" or (path.suffix == ".xml" and "<mujoco" in path.read_text(errors="replace")):
                yield path


def loaded(path: Path) -> tuple[Model | None, dict[str, Any], str]:
    """The model, the options that it took, and why it was refused without them."""
    reason = ""
    for way in WAYS:
        try:
            return READERS[path.suffix](path, **way), way, reason
        except ModelError as error:
            reason = reason or str(error)
    return None, {}, reason


class Twin:
    """Pinocchio's own reading of a URDF, its joints that ours lacks locked at zero; T: from our velocities to its."""

    def __init__(self, path: Path, model: Model) -> None:
        root = (pin.JointModelFreeFlyer(), "floating") if model.is_floating else ()
        whole = pin.buildModelFromXML(without_shapes(source_text(path)), *root)
        mimics = {joint.name: joint.mimic for joint in parse(source_text(path)).joints if joint.mimic is not None}
        rest = pin.neutral(whole)
        for name, mimic in mimics.items():
            if whole.existJointName(name):
                rest[whole.joints[whole.getJointId(name)].idx_q] = mimic.offset
        # Links that were merged are on joints that ours lacks: these are locked at zero, as ours are.
        gone = [i for i in range(1, whole.njoints) if whole.names[i] not in (*model.joint_names, "floating")]
        self.model = pin.buildReducedModel(whole, gone, rest) if gone else whole
        self.model.gravity = pin.Motion(np.array(model.gravity), np.zeros(3))
        self.data = self.model.createData()

    def state(self, model: Model, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Its random configuration, ours, and T."""
        q, ours, T = pin.neutral(self.model), model.neutral(), np.zeros((model.nv, model.nv))
        if model.is_floating:
            turn = rng.standard_normal(4)
            turn /= np.linalg.norm(turn)
            q[:3], q[3:7] = rng.standard_normal(3), turn[[1, 2, 3, 0]]
            R = pin.Quaternion(q[3:7]).matrix()
            arm = R @ self.model.inertias[1].lever
            ours[:7] = [*(q[:3] + arm), *turn]
            T[:3, :3], T[3:6, 3:6] = R.T, R.T
            T[:3, 3:6] = R.T @ pin.skew(arm)
        for name in model.joint_names:
            angle, joint = rng.uniform(-1.0, 1.0), self.model.joints[self.model.getJointId(name)]
            q[joint.idx_q : joint.idx_q + joint.nq] = angle if joint.nq == 1 else (np.cos(angle), np.sin(angle))
            ours[model.coordinate(name)] = angle
            T[joint.idx_v, model.dof(name)] = 1.0
        return q, ours, T


def error(ours: np.ndarray, theirs: np.ndarray) -> float:
    return float(np.abs(ours - theirs).max() / max(1e-12, np.abs(theirs).max()))


def compare(path: Path, model: Model) -> list[float]:
    """Mass matrix, gravity, bias, forward dynamics: the worst of three states."""
    twin, rng, worst = Twin(path, model), np.random.default_rng(0), np.zeros(4)
    for _ in range(3):
        q, ours, T = twin.state(model, rng)
        v, torque = rng.standard_normal(model.nv), rng.standard_normal(model.nv)
        turning = np.zeros(model.nv)  # dT/dt v
        if model.is_floating:
            turning[:3] = -T[:3, :3] @ np.cross(v[3:6], v[:3])
        M = pin.crba(twin.model, twin.data, q)
        M = T.T @ (np.triu(M) + np.triu(M, 1).T) @ T
        still, none = np.zeros(model.nv), np.zeros(model.nv)
        weight = T.T @ pin.rnea(twin.model, twin.data, q, none, none)
        bias = T.T @ pin.rnea(twin.model, twin.data, q, T @ v, turning)
        theirs = pin.aba(twin.model, twin.data, q, T @ v, np.linalg.solve(T.T, torque))
        ours_a = dynamics.forward_dynamics(model, ours, v, torque)
        found = [
            error(dynamics.mass_matrix(model, ours), M),
            error(dynamics.inverse_dynamics(model, ours, still, none), weight),
            error(dynamics.inverse_dynamics(model, ours, v, none), bias),
            error(T @ ours_a + turning, theirs),
        ]
        worst = np.maximum(worst, found)
    return worst.tolist()


def within_limits(model: Model) -> np.ndarray:
    """(nq,) home, but for joints whose limits it is beyond."""
    q = model.neutral()
    for body in model.bodies:
        if body.joint.has_axis:
            place = model.coordinate(body.joint.name)
            q[place] = np.clip(q[place], body.joint.lower, body.joint.upper)
    return q


def falling(model: Model) -> float:
    """Of the momentum's change in a fall, what gravity did not do; NaN for a model on the ground."""
    if not model.is_floating:
        return np.nan
    free = model.without_contacts()
    v = np.zeros(free.nv)
    v[:6] = np.random.default_rng(1).standard_normal(6)
    state = State.at(free, within_limits(free), v)
    before = dynamics.momentum(free, state.q, v).angular
    linear = state.momentum[:3].copy()
    state = simulate(free, state=state, step=1e-3, duration=FALL, record_every=FALL).state
    fallen = state.momentum[:3] - linear - free.total_mass * FALL * np.array(free.gravity)
    com = dynamics.centre_of_mass(free, state.q)
    after = state.momentum[3:6] + np.cross(state.q[:3] - com, state.momentum[:3])
    return max(error(fallen + linear, linear), error(after, before))


def main() -> None:
    warnings.simplefilter("ignore")
    plain = with_options = total = 0
    for path in files(sys.argv[1:]):
        total += 1
        model, way, reason = loaded(path)
        if model is None:
            print(f"{path.name}: refused: {reason}")
            continue
        plain, with_options = plain + (not way), with_options + bool(way)
        numbers = [*compare(path, model), falling(model)] if path.suffix == ".urdf" else []
        repaired = "" if way.get("repair") != "inertia" else " (with other inertias than the file's)"
        line = "  ".join(f"{number:.0e}" for number in numbers)
        print(f"{path.name}: {model.nv} dofs  {line}  {way or ''}{repaired}{': ' + reason if reason else ''}")
    print(f"{total} files: {plain} load as they are, {with_options} with options; columns: {', '.join(COLUMNS)}")


if __name__ == "__main__":
    main()
