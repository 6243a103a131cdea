"""Figure 9a's chain of loops in MuJoCo, which closes loops softly: the energy that it keeps."""

from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement, tostring

import numpy as np

from biped.inputs.extras import need
from biped.model import box_inertia
from contact.arrays import Floats
from formulations.assembly.examples import THICKNESS, four_bar_chain


class Energies(NamedTuple):
    """Energies of a motion [J], (rows,)."""

    kinetic: Floats
    total: Floats

    @property
    def lost(self) -> float:
        """What is lost from start to end, over the greatest kinetic energy."""
        return float((self.total[0] - self.total[-1]) / self.kinetic.max())

    @property
    def range(self) -> float:
        """Most less least, over the greatest kinetic energy."""
        return float(np.ptp(self.total) / self.kinetic.max())


def ours(segments: int, step: float, steps: int) -> Energies:
    """Energies of the chain by our integrator."""
    assembly, start = four_bar_chain(segments)
    frame = assembly.simulate(steps * step, step, start).frame
    return Energies(*(frame[name].to_numpy() for name in ("kinetic_energy", "energy")))


def in_mujoco(segments: int, step: float, steps: int, *, method: str = "Euler", closed: bool = True) -> Energies:
    """Energies of the chain in MuJoCo, with all that it has for solvers by default.

    Args:
        segments: of the chain.
        step: [s]
        steps: of which the energy is taken where each begins.
        method: MuJoCo's name of the integrator; ``Euler`` is its default.
        closed: whether the loops are; without, the branches swing each for itself.

    Raises:
        MissingExtraError: MuJoCo is not installed.
    """
    need("mujoco")
    import mujoco

    engine = mujoco.MjModel.from_xml_string(mjcf(segments, step, method, closed=closed))
    data, found = mujoco.MjData(engine), np.empty((steps + 1, 2))
    assembly, start = four_bar_chain(segments)
    first = assembly.simulate(step, step, start).frame.iloc[0]
    for k in range(engine.njnt):
        data.qpos[k] = first[f"angle_{engine.joint(k).name}"]
    for row in found:
        mujoco.mj_forward(engine, data)  # since a step's last stage overwrites them
        row[:] = data.energy  # potential and kinetic
        mujoco.mj_step(engine, data)
    return Energies(found[:, 1], found.sum(axis=1))


def mjcf(segments: int, step: float, method: str, *, closed: bool) -> str:
    """Return ``assembly.examples.four_bar_chain`` as MuJoCo reads it: a tree, and points that are to meet."""
    root = Element("mujoco")
    SubElement(SubElement(root, "option", timestep=str(step), integrator=method), "flag", energy="enable")
    hung, at = SubElement(root, "worldbody"), "0 0 0"
    equality = SubElement(root, "equality")
    for k in range(1, segments + 1):
        lower = {}
        for side in ("left", "right"):
            upper = _link(hung, f"{side}_{k}", f"top_{side}_{k}", at)
            lower[side] = _link(upper, f"{side}_lower_{k}", f"middle_{side}_{k}", "0 0 -1")
        if closed:
            SubElement(equality, "connect", body1=f"left_lower_{k}", body2=f"right_lower_{k}", anchor="0 0 -1")
        hung, at = lower["left"], "0 0 -1"
    return tostring(root, encoding="unicode")


def _link(parent: Element, name: str, hinge: str, at: str) -> Element:
    """A link of 1 m and 1 kg that hangs on a hinge about x at its upper end."""
    inertia = box_inertia(1.0, (THICKNESS, THICKNESS, 1.0))
    body = SubElement(parent, "body", name=name, pos=at)
    SubElement(body, "joint", name=hinge, type="hinge", axis="1 0 0")
    SubElement(body, "inertial", pos="0 0 -0.5", mass="1", diaginertia=" ".join(str(inertia[i][i]) for i in range(3)))
    return body
