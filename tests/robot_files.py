"""Whether robots' files are what MuJoCo and Pinocchio read: make robots, or python -m tests.robot_files FOLDER …

Every URDF and MJCF under the folders is loaded as it is, and where that is refused, with options: repaired links, a
root on the ground. An MJCF is compared with MuJoCo (``tests.mjcf_twin``). A URDF is compared with Pinocchio's own
reading of the file, in random states: mass matrix, gravity, bias, forward dynamics. Relative errors, the worst of three
states. The files are others', so that this is a script and not a test; the tests have twins of their patterns.
"""

import sys
import warnings
from collections.abc import Iterator
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from biped import Model, ModelError, dynamics, load_mjcf, load_urdf
from biped.model.urdf.document import parse, source_text, without_shapes
from tests.mjcf_twin import Twin as MujocoTwin

#: Tried in this order, once a file is refused as it is.
WAYS: tuple[dict[str, Any], ...] = (
    {}, {"repair": "merge"}, {"repair": "inertia"}, {"floating": False}, {"floating": True},
    {"floating": False, "repair": "inertia"}, {"floating": True, "repair": "inertia"},
)  # fmt: skip
READERS = {".urdf": load_urdf, ".xml": load_mjcf}
#: Relative, of what two programs compute of one robot in double precision.
TOLERANCE = 1e-10
PAGE = Path("docs", "robots-checked.md")
MARK = "<!-- make robots -->"
#: Where packages have robots, and the names of their distributions.
PACKAGES = {
    "gymnasium": ("envs/mujoco/assets", "gymnasium"), "dm_control": ("suite", "dm_control"),
    "loco_mujoco": ("environments/data", "loco-mujoco"), "pybullet_data": ("", "pybullet"),
}  # fmt: skip


def files(folders: list[str]) -> Iterator[Path]:
    for folder in folders:
        for path in sorted(Path(folder).rglob("*")):
            if "random_urdfs" in path.parts:  # a thousand things like one another
                continue
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
        for frame in whole.frames:  # links and joints may share names, which Pinocchio does not tell apart
            frame.name = frame.name if frame.type == pin.FrameType.JOINT else f"{frame.name} (link)"
        rest = pin.neutral(whole)
        for name, mimic in mimics.items():
            if whole.existJointName(name):
                joint, at = whole.joints[whole.getJointId(name)], mimic.offset
                rest[joint.idx_q : joint.idx_q + joint.nq] = at if joint.nq == 1 else (np.cos(at), np.sin(at))
        # Links that were merged are on joints that ours lacks: these are locked at zero, as ours are.
        gone = [i for i in range(1, whole.njoints) if whole.names[i] not in (*model.joint_names, "floating")]
        self.model = pin.buildReducedModel(whole, gone, rest) if gone else whole
        self.model.gravity = pin.Motion(np.array(model.gravity), np.zeros(3))
        self.data = self.model.createData()

    def state(self, model: Model, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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


def error(ours: np.ndarray, theirs: np.ndarray, least: float = 1e-12) -> float:
    return float(np.abs(ours - theirs).max() / max(least, np.abs(theirs).max()))


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
            error(dynamics.inverse_dynamics(model, ours, still, none), weight, 9.81e-3 * model.total_mass),  # at 1 mm
            error(dynamics.inverse_dynamics(model, ours, v, none), bias),
            error(T @ ours_a + turning, theirs),
        ]
        worst = np.maximum(worst, found)
    return worst.tolist()


def compared(path: Path, model: Model, floating: bool | None) -> float:
    """The largest relative difference from MuJoCo's or Pinocchio's own reading."""
    if path.suffix == ".xml":
        return max(MujocoTwin(path, model, floating).errors(np.random.default_rng(0)).values())
    return max(compare(path, model))


def row(path: Path, shown: str) -> tuple[bool, str]:
    """Whether a file is as the other reads it or refused, and its row in the table."""
    model, way, reason = loaded(path)
    reason = reason.replace(str(path), path.name).replace(str(path.parent), "…").replace("|", "/")
    if model is None:
        return True, f"| `{shown}` | | | refused: {reason} |"
    others = way.get("repair") == "inertia"  # than the file's, so that there is nothing to compare
    worst = 0.0 if others else compared(path, model, way.get("floating"))
    options = ", ".join(f"`{key}={value!r}`" for key, value in way.items())
    kinds = (note.removeprefix("not simulated: ").partition(": ")[0].partition(", ")[0] for note in model.notes)
    said = "; ".join(dict.fromkeys(kinds)).replace("<", "&lt;").replace("|", "/")
    return (
        worst < TOLERANCE,
        f"| `{shown}` | {model.nv} | {'' if others else f'{worst:.0e}'} | {f'with {options}. ' if way else ''}{said} |",
    )


def table(folders: dict[str, Path]) -> tuple[int, list[str]]:
    """How many files differ, and the lines of a table of all in these folders, by what they are called."""
    lines, off = ["| file | freedoms | difference | |", "|---|---|---|---|"], 0
    for name, folder in folders.items():
        for path in files([str(folder)]):
            try:
                agrees, line = row(path, f"{name}/{path.relative_to(folder)}")
            except Exception as error:  # what is not foreseen is what this looks for
                agrees, line = False, f"| `{name}/{path.name}` | | | **{type(error).__name__}**: {error} |"
            off += not agrees
            lines.append(line)
            print(line, flush=True)
    return off, lines


def installed() -> dict[str, Path]:
    """Folders of robots in packages that are installed, with the versions of these, and our examples."""
    found = {"examples": Path("examples")}
    for package, (inside, distribution) in PACKAGES.items():
        spec = find_spec(package)
        if spec is not None and spec.submodule_search_locations:
            folder = Path(spec.submodule_search_locations[0], inside)
            found[f"{distribution} {version(distribution)}"] = folder
    return found


def main() -> None:
    """Write the table of installed packages into the page; of folders that are named, only print it."""
    warnings.simplefilter("ignore")
    named = [Path(folder) for folder in sys.argv[1:]]
    off, lines = table({folder.name: folder for folder in named} or installed())
    if not named:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(MARK)
        PAGE.write_text(f"{before}{MARK}\n{chr(10).join(lines)}\n\n{MARK}{rest.partition(MARK)[2]}", encoding="utf-8")
    print(f"{len(lines) - 2} files; {off} differ by more than {TOLERANCE:g}")
    sys.exit(bool(off))


if __name__ == "__main__":
    main()
