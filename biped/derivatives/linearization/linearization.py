"""Linearizations: eigenvalues, damping, modes and their descriptions, controllability, and files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.io import savemat

from biped.derivatives.linearization.kinks import Kink
from biped.model import Model
from biped.presentation import as_html, as_text
from contact.arrays import Floats, Integers

Complexes = np.ndarray[tuple[int, ...], np.dtype[np.complex128]]

#: Smallest share of a mode that its description mentions.
WORTH = 0.08


@dataclass(frozen=True)
class Mode:
    """A mode of a linearization: an eigenvalue or complex pair, and the coordinates that move.

    Attributes:
        eigenvalue: eigenvalue λ of the linearization's ``A``; of a complex pair, the one with positive imaginary part.
        rate: s = ln λ / T [1/s], with the linearization's ``period`` T; its imaginary part is the angular frequency.
        shares: names and participations (sum 1) of the coordinates, the largest first: the sum of ``|w_i v_i|`` over
            a coordinate's states (displacement, momentum, actuator torque), with left and right eigenvectors w and v.
    """

    eigenvalue: complex
    rate: complex
    shares: tuple[tuple[str, float], ...]

    @property
    def size(self) -> float:
        """Absolute value ``|λ|``."""
        return abs(self.eigenvalue)

    @property
    def decay(self) -> float:
        """Decay rate [1/s]; negative if the mode grows."""
        return -self.rate.real

    @property
    def frequency(self) -> float:
        """Frequency of the oscillation [Hz]."""
        return abs(self.rate.imag) / (2.0 * np.pi)

    @property
    def damping(self) -> float:
        """Damping ratio: 1 without oscillation, 0 if undamped, negative if the mode grows."""
        return -self.rate.real / abs(self.rate) if self.rate != 0.0 else 1.0

    @property
    def words(self) -> str:
        """Description of the mode."""
        moves = ", ".join(f"{name} {share:.0%}" for name, share in self.shares if share >= WORTH) or "many at once"
        if self.size == 0.0:
            return f"vanishes after one period: {moves}"
        how = "grows" if self.decay < 0.0 else "dies away"
        pace = f"{how} with a time constant of {1.0 / abs(self.decay):.3g} s" if self.decay else "stays"
        swing = f", swinging at {self.frequency:.3g} Hz (damping ratio {self.damping:.3g})" if self.frequency else ""
        return f"{pace}{swing}: {moves}"


@dataclass(frozen=True, eq=False)
class Linearization:
    """The linearization x' = A x + B u at a state, exact for one step or one control period with its controller.

    The state x has displacements of joints (for a floating root a translation and a rotation vector in world axes),
    generalized momenta, and anchors of the friction springs of contact points. With actuator lag it also has the
    actuators' torques, with delayed sensors the displacements and momenta of earlier control ticks.

    **Anchors.** A sticking point keeps its anchor a, a' = a, which acts on the other states like a constant parameter.
    The anchor of a point that slides or has no contact affects only itself. So A is block triangular, and ``dynamic``
    is A without these anchors; they only add the eigenvalue one for each kept anchor, and the eigenvalues of the
    dragged anchors. The anchor of a point at the limit of the friction cone acts and moves; ``dynamic`` includes it.

    Attributes:
        A: (x, x) derivatives of x' with respect to the state x.
        B: (x, u) derivatives of x' with respect to the inputs u.
        states: names of the states x.
        state_units: units of the states x.
        inputs: names of the inputs u, which are torques added to those of the joints.
        input_units: units of the inputs u.
        period: [s] length of the step or control period.
        time: [s] time of the state.
        moved: change of the state in the period, without actuator torques and earlier ticks: zero at an equilibrium. If
            it is not zero, A and B hold for deviations from the simulated motion.
        modes: (steps, nc) contact modes, held fixed in each time step or part of a divided step.
        regimes: (steps, nc) regimes of contact forces (``contact.regimes``).
        kinks: distances from kinks, states at which the step or period is not smooth; the nearest first.
        closed_loop: True if the controller's torques respond to the state, False if they are held constant.
        model: the simulated model.
    """

    A: Floats
    B: Floats
    states: tuple[str, ...]
    state_units: tuple[str, ...]
    inputs: tuple[str, ...]
    input_units: tuple[str, ...]
    period: float
    time: float
    moved: Floats
    modes: Integers
    regimes: Integers
    kinks: tuple[Kink, ...]
    closed_loop: bool
    model: Model

    def __repr__(self) -> str:
        return as_text(self._title, self._facts)

    def _repr_html_(self) -> str:
        return as_html(self._title, self._facts)

    @property
    def _title(self) -> str:
        what = "closed loop" if self.closed_loop else "torques held"
        return f"linearization of {self.model.name} at {self.time:g} s, {what}, {self.period:g} s"

    @property
    def _facts(self) -> list[tuple[str, str]]:
        slow = self.slowest
        return [
            ("states", f"{len(self.states)}, of which {len(self.kept)} move and act"),
            ("inputs", str(len(self.inputs))),
            ("greatest |λ|", f"{self.spectral_radius:.6f}, margin {self.margin:.3g}"),
            ("slowest mode", slow.words if slow else "none"),
            ("change of the state", f"{float(np.abs(self.moved).max()):.3g} at most"),
        ]

    @cached_property
    def kept(self) -> tuple[int, ...]:
        """Indices of the states that move and act: all except anchors that are held or have no effect."""
        anchors = [k for k, name in enumerate(self.states) if name.startswith("anchor_")]
        held = {k for k in anchors if self.A[k, k] == 1.0 and not np.delete(self.A[k], k).any() and not self.B[k].any()}
        idle = {k for k in anchors if not np.delete(self.A[:, k], [k, *self._twin(k)]).any()}
        return tuple(k for k in range(len(self.states)) if k not in held | idle)

    def _twin(self, k: int) -> list[int]:
        """Return the index of the other coordinate of an anchor."""
        name = self.states[k]
        other = (
            name.replace("anchor_x_", "anchor_y_") if "anchor_x_" in name else name.replace("anchor_y_", "anchor_x_")
        )
        return [self.states.index(other)]

    @property
    def dynamic(self) -> Floats:
        """A of the ``kept`` states."""
        return self.A[np.ix_(self.kept, self.kept)]

    @property
    def input_matrix(self) -> Floats:
        """B of the ``kept`` states."""
        return self.B[list(self.kept)]

    @cached_property
    def eigenvalues(self) -> Complexes:
        """Eigenvalues of ``dynamic``, the greatest first."""
        return self.eigenvectors[0]

    @cached_property
    def eigenvectors(self) -> tuple[Complexes, Complexes, Complexes]:
        """Eigenvalues of ``dynamic``, the greatest first, right eigenvectors in columns, left eigenvectors in rows.

        The product of the row and the column of an eigenvalue is one.
        """
        values, right = np.linalg.eig(self.dynamic)
        order = np.argsort(-np.abs(values), kind="stable")
        values, right = values[order].astype(np.complex128), right[:, order].astype(np.complex128)
        return values, right, np.linalg.pinv(right)

    @property
    def spectral_radius(self) -> float:
        """Greatest ``|λ|``; small deviations die away if it is below one."""
        return float(np.abs(self.eigenvalues[0]))

    @property
    def margin(self) -> float:
        """Stability margin, 1 − greatest ``|λ|``; the system is stable if it is above zero."""
        return 1.0 - self.spectral_radius

    @property
    def is_stable(self) -> bool:
        """True if small deviations die away."""
        return self.margin > 0.0

    @cached_property
    def mode_list(self) -> tuple[Mode, ...]:
        """All modes, the slowest (or the fastest growing) first; one for each complex pair."""
        values, right, left = self.eigenvectors
        groups = [self._group(k) for k in self.kept]
        modes = []
        for k in range(len(values)):
            if values[k].imag < 0.0:
                continue
            parts: dict[str, float] = {}
            for group, share in zip(groups, np.abs(left[k] * right[:, k]), strict=True):
                parts[group] = parts.get(group, 0.0) + float(share)
            total = sum(parts.values())
            shares = sorted(((name, share / total) for name, share in parts.items()), key=lambda item: -item[1])
            eigenvalue = complex(values[k])
            rate = np.log(eigenvalue) / self.period if eigenvalue != 0.0 else complex(-np.inf)
            modes.append(Mode(eigenvalue, complex(rate), tuple(shares)))
        return tuple(modes)

    def _group(self, k: int) -> str:
        """Return the name of the joint or of the root's motion that a state belongs to."""
        name = self.states[k].split("[")[0].removeprefix("held_torque_").removeprefix("torque_")
        return name.removeprefix("p_")

    @property
    def slowest(self) -> Mode | None:
        """Mode with the greatest ``|λ|``."""
        return self.mode_list[0] if self.mode_list else None

    @cached_property
    def scaling(self) -> Floats:
        """Scales of the kept states: the square roots of the diagonal of ``gramian``."""
        balanced = np.sqrt(np.maximum(np.diag(self.gramian), 0.0))
        return np.where(balanced > 0.0, balanced, 1.0)

    @cached_property
    def gramian(self) -> Floats:
        """Controllability Gramian B Bᵀ + A B Bᵀ Aᵀ + …, with as many terms as states."""
        A, column = self.dynamic, self.input_matrix
        total = np.zeros_like(A)
        for _ in range(len(A)):
            total += column @ column.T
            column = A @ column
        return total

    def uncontrollable(self, tolerance: float = 1e-8) -> tuple[complex, ...]:
        """Return the eigenvalues of modes that no input can move.

        Hautus's test: [A − λ 1, B] loses rank at λ. The controllability matrix [B, AB, …] of this many states would
        have no correct digits. States are scaled by ``scaling``.

        Args:
            tolerance: ratio of the least to the greatest singular value at or below which the rank is lost.
        """
        scale = self.scaling
        A = self.dynamic * scale / scale[:, None]
        B = self.input_matrix / scale[:, None]
        eigenvalues = []
        for value in self.eigenvalues:
            test = np.linalg.svd(np.hstack([A - value * np.eye(len(A)), B]), compute_uv=False)
            if test[-1] <= tolerance * test[0]:
                eigenvalues.append(complex(value))
        return tuple(eigenvalues)

    @property
    def controllability_rank(self) -> int:
        """Number of modes that inputs can move, among the kept states."""
        return len(self.kept) - len(self.uncontrollable())

    def table(self) -> pd.DataFrame:
        """Return a table with a row for each mode: ``|λ|``, decay, frequency, damping ratio, and a description."""
        rows = [
            {
                "real": mode.eigenvalue.real,
                "imaginary": mode.eigenvalue.imag,
                "size": mode.size,
                "decay_per_s": mode.decay,
                "frequency_hz": mode.frequency,
                "damping_ratio": mode.damping,
                "what": mode.words,
            }
            for mode in self.mode_list
        ]
        return pd.DataFrame(rows)

    def system(self) -> tuple[Floats, Floats, Floats, Floats, float]:
        """Return (A, B, C, D, T) of the kept states, the arguments of ``control.ss``."""
        A, B = self.dynamic, self.input_matrix
        return A, B, np.eye(len(A)), np.zeros((len(A), B.shape[1])), self.period

    def _arrays(self) -> dict[str, Any]:
        A, B, C, D, period = self.system()
        kept = list(self.kept)
        return {
            "A": A, "B": B, "C": C, "D": D, "period": period, "time": self.time, "eigenvalues": self.eigenvalues,
            "A_full": self.A, "B_full": self.B, "moved": self.moved, "contact_modes": self.modes,
            "states": _texts([self.states[k] for k in kept]),
            "state_units": _texts([self.state_units[k] for k in kept]),
            "states_full": _texts(self.states), "inputs": _texts(self.inputs), "input_units": _texts(self.input_units),
        }  # fmt: skip

    def save(self, path: str | Path) -> Path:
        """Write the linearization to ``.npz`` (NumPy), ``.mat`` (MATLAB, Octave) or ``.json``; return the path.

        Raises:
            ValueError: the path has another suffix.
            OSError: the file cannot be written.
        """
        path = Path(path)
        arrays = self._arrays()
        if path.suffix == ".npz":
            np.savez(path, **arrays)
        elif path.suffix == ".mat":
            savemat(path, {name: value.astype(object) if _is_text(value) else value for name, value in arrays.items()})
        elif path.suffix == ".json":
            path.write_text(json.dumps({name: _plain(value) for name, value in arrays.items()}, indent=1))
        else:
            raise ValueError(f"{path}: the file name must end in .npz, .mat or .json")
        return path


def _texts(names: Sequence[str]) -> Any:
    return np.array(list(names), dtype=str)


def _is_text(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind == "U"


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray) and np.iscomplexobj(value):
        return {"real": value.real.tolist(), "imaginary": value.imag.tolist()}
    return value.tolist() if isinstance(value, np.ndarray) else value
