"""State of a simulation: everything that is needed to continue it, bit for bit."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_type_hints
from zipfile import BadZipFile

import numpy as np
from numpy.typing import ArrayLike

from biped.disturbances.throw import Throw
from biped.errors import InputError
from biped.inputs.saved import built
from biped.kernels.state import simulation_state
from biped.kernels.tree.dynamics import kinetic_energy, mass_matrix, new_tree_data, potential_energy, set_tree_data
from biped.kernels.variational.equations import reference_point
from biped.model import Model
from biped.model.geometry import quaternion_matrix
from biped.presentation import as_html, as_text
from biped.runs.description import state_facts, state_title
from contact.arrays import Floats
from contact.modes import SLIDING

FORMAT = 5


class State:
    """State of a simulation: configuration, momentum, contacts, joint torques, energy balance.

    ``State.at`` makes a state; ``simulate(..., state=...)`` continues from it without changing it; ``save`` and
    ``State.load`` store it. A continued run gives the same numbers, bit for bit, as one without interruption.

    Attributes:
        model: model of the state.
        arrays: arrays that the compiled kernels read and write.
        projectile: state of a thrown box as in ``biped.kernels.loop.projectile``, or None.
        throw: the thrown box, or None.
        floor: pose of a moving floor as in ``contact.ground``, or None.
    """

    def __init__(
        self,
        model: Model,
        arrays: simulation_state.SimulationState,
        projectile: Floats | None = None,
        throw: Throw | None = None,
        floor: Floats | None = None,
    ) -> None:
        self.model = model
        self.arrays = arrays
        self.projectile = projectile
        self.throw = throw
        self.floor = floor

    def __repr__(self) -> str:
        return as_text(state_title(self), state_facts(self))

    def _repr_html_(self) -> str:
        return as_html(state_title(self), state_facts(self))

    @classmethod
    def at(cls, model: Model, q: ArrayLike | None = None, v: ArrayLike | None = None, time: float = 0.0) -> State:
        """Return the state of configuration ``q`` and velocity ``v``; by default the home configuration at rest.

        Points below the floor start in sliding contact.

        Raises:
            InputError: an array has the wrong length or numbers that are not finite.
        """
        arrays = simulation_state.new_simulation_state(model.nq, model.nv, model.nc)
        arrays.q[:] = _checked(q, model.neutral(), "q")
        _make_units(model, arrays.q)
        if not np.isfinite(time):
            raise InputError(f"time = {time!r}: it must be a finite number of seconds")
        velocity = _checked(v, np.zeros(model.nv), "v")
        arrays.clock[:] = (time, 0.0, 1.0)
        arrays.cache.rate[:] = velocity
        state = cls(model, arrays)
        if velocity.any():
            arrays.momentum[:] = state.mass() @ velocity
        places = state._open_ledger(velocity)
        arrays.anchor[:] = places[:, :2]
        arrays.mode[places[:, 2] < 0.0] = SLIDING
        arrays.contact_state[:] = arrays.mode
        return state

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return float(
            self.arrays.clock[simulation_state.TIME_ORIGIN]
            + self.arrays.clock[simulation_state.STEP_LENGTH] * self.arrays.counts[simulation_state.STEPS]
        )

    @property
    def steps(self) -> int:
        """Number of time steps since the start."""
        return int(self.arrays.counts[simulation_state.TOTAL_STEPS])

    @property
    def q(self) -> Floats:
        """Configuration (nq,)."""
        return self.arrays.q

    @property
    def momentum(self) -> Floats:
        """Generalized momentum (nv,)."""
        return self.arrays.momentum

    def set_step(self, step: float) -> None:
        """Set the time step [s]; if it changes, the clock counts from the present time."""
        if self.arrays.clock[simulation_state.STEP_LENGTH] != step:
            now = self.time
            self.arrays.clock[simulation_state.TIME_ORIGIN], self.arrays.clock[simulation_state.STEP_LENGTH] = now, step
            self.arrays.counts[simulation_state.STEPS] = 0
            if self.arrays.counts[simulation_state.TOTAL_STEPS] == 0:
                self.arrays.clock[simulation_state.LAST_STEP_LENGTH] = step

    def begin_anew(self, time: float = 0.0) -> None:
        """Restart clock [s], counters and energy balance; the motion, held torques and memories continue."""
        arrays = self.arrays
        arrays.clock[simulation_state.TIME_ORIGIN] = time
        lasting = [simulation_state.SENSED, simulation_state.PATIENCE, simulation_state.GIVEN]
        kept = arrays.counts[lasting]
        arrays.counts[:] = 0
        arrays.counts[lasting] = kept
        for array in arrays.ledger:
            array[:] = 0.0
        velocity: Floats = np.asarray(np.linalg.solve(self.mass(), self.momentum), dtype=np.float64)
        self._open_ledger(velocity)

    def exert_as(self, other: State) -> None:
        """Start with the actuator torques of another state, of a model with the same joints, instead of zero."""
        ours, theirs = self.arrays, other.arrays
        ours.torque[:], ours.effort[:] = theirs.torque, theirs.effort
        ours.counts[simulation_state.GIVEN] = theirs.counts[simulation_state.GIVEN]

    def mass(self) -> Floats:
        """Return the mass matrix M(q), (nv, nv)."""
        mass = np.zeros((self.model.nv, self.model.nv))
        mass_matrix(self.model.tree, self.q, new_tree_data(self.model.n, self.model.nv, self.model.nc), mass)
        return mass

    def _open_ledger(self, velocity: Floats) -> Floats:
        """Start the energy balance with the present energy; return the positions of the contact points (nc, 3) [m]."""
        tree = self.model.tree
        motion = new_tree_data(self.model.n, self.model.nv, self.model.nc)
        set_tree_data(tree, self.q, velocity, motion)
        origin = reference_point(tree, self.q)
        energy = kinetic_energy(tree, motion) + potential_energy(tree, motion.poses, origin)
        self.arrays.ledger.works[simulation_state.START] = energy
        places: Floats = np.asarray(origin) + motion.poses.contact
        return places

    def set_memory_shape(self, past: tuple[int, ...]) -> None:
        """Set the shape of the sensors' memory; a memory for another delay is cleared."""
        if self.arrays.past.shape != past:
            self.arrays = self.arrays._replace(past=np.zeros(past))
            self.arrays.counts[simulation_state.SENSED] = 0

    def carried_over(self, model: Model) -> State:
        """Return this state, before any time step, for a model with other masses: equal configuration and velocity.

        Raises:
            InputError: the state has taken steps.
        """
        if self.steps:
            raise InputError("a load must be present from the start: this state is from a run without it")
        state = State.at(model, *of_other_masses(self.q, self.arrays.cache.rate, self.model, model), self.time)
        state.exert_as(self)
        return state

    def copy(self) -> State:
        """Return an independent copy."""
        projectile, floor = (None if array is None else array.copy() for array in (self.projectile, self.floor))
        return State(self.model, _copied(self.arrays), projectile, self.throw, floor)

    __copy__ = copy

    def check_model(self, model: Model) -> None:
        """Check that the state belongs to ``model``; only gravity may differ.

        Raises:
            InputError: it is a state of another model.
        """
        if model is not self.model and fingerprint(model) != fingerprint(self.model):
            raise InputError(f"the state belongs to {_other_model(self.model.name, model)}")

    def save(self, path: str | Path) -> None:
        """Write the state to a NumPy archive.

        Raises:
            OSError: the file cannot be written.
        """
        arrays = dict(_flat(self.arrays))
        optional = {"thrown": self.projectile, "floor": self.floor}
        arrays |= {name: array for name, array in optional.items() if array is not None}
        header = {
            "format": FORMAT,
            "model": self.model.name,
            "fingerprint": fingerprint(self.model),
            "throw": None if self.throw is None else asdict(self.throw),
        }
        saved: dict[str, Any] = dict(arrays)
        with open(path, "wb") as file:
            np.savez(file, header=json.dumps(header), **saved)

    @classmethod
    def load(cls, path: str | Path, model: Model) -> State:
        """Read a state written by ``save``, for the same model.

        Raises:
            InputError: the file has no state, or a state of another model.
            OSError: the file cannot be read.
        """
        try:
            with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
                saved = dict(archive)
            header = json.loads(str(saved.pop("header")))
            if header.get("format") == FORMAT:
                arrays = _nested(simulation_state.SimulationState, saved)
            throw = built(Throw | None, header.get("throw"))
        except (ValueError, KeyError, TypeError, EOFError, RuntimeError, BadZipFile, zlib.error) as error:
            raise InputError(f"{path}: not a state saved by State.save ({error})") from error
        if header.get("format") != FORMAT:
            raise InputError(f"{path}: saved by another version (format {header.get('format')}, here {FORMAT})")
        if header.get("fingerprint") != fingerprint(model):
            raise InputError(f"{path}: the state belongs to {_other_model(header.get('model'), model)}")
        return cls(model, arrays, saved.get("thrown"), throw, saved.get("floor"))


def _other_model(name: Any, model: Model) -> str:
    """Describe, for a message, the other model to which a state belongs."""
    if name != model.name:
        return f"model {name!r}, not to {model.name!r}"
    return (
        f"another model {name!r}, with other masses or dimensions: loads are part of a model, "
        "Load(...).on(model); Run.load(folder).state has the model with its loads"
    )


def of_other_masses(q: Floats, v: Floats, model: Model, other: Model) -> tuple[Floats, Floats]:
    """Return a configuration and velocity for a model ``other`` that differs only in its bodies' masses.

    All bodies keep their poses; the position of a floating root is that of its centre of mass, which may differ.
    """
    q, v = q.copy(), v.copy()
    if model.is_floating:
        arm = quaternion_matrix(q[3:7]) @ np.subtract(other.root.com, model.root.com)
        q[0:3] += arm
        v[0:3] += np.cross(v[3:6], arm)
    return q, v


def fingerprint(model: Model) -> str:
    """Return a digest of everything in the model that a state depends on."""
    digest = hashlib.sha256(json.dumps([model.coordinate_names, model.contact_names]).encode())
    for name, array in model.tree._asdict().items():
        if name != "gravity" and (name != "armature" or array.any()):
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:16]


def _make_units(model: Model, q: Floats) -> None:
    """Check the quaternions of a configuration, and normalize them to the last digit."""
    for body, first in zip(model.bodies, model.tree.first_q, strict=True):
        if body.joint.kind in ("floating", "spherical"):
            start = int(first) + (3 if body.joint.kind == "floating" else 0)
            size = float(np.linalg.norm(q[start : start + 4]))
            if not abs(size - 1.0) < 1e-6:
                raise InputError(f"q: the quaternion of joint {body.joint.name!r} has length {size:g}: it must be 1")
            q[start : start + 4] /= size


def _flat(arrays: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield all arrays of nested named tuples, by dotted names."""
    for name, value in arrays._asdict().items():
        if isinstance(value, tuple):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _nested(kind: Any, arrays: Mapping[str, Any], prefix: str = "") -> Any:
    """Return the named tuple from the arrays of ``_flat``."""
    types = get_type_hints(kind)
    values = {
        name: _nested(types[name], arrays, f"{prefix}{name}.")
        if hasattr(types[name], "_fields")
        else np.ascontiguousarray(arrays[prefix + name])
        for name in kind._fields
    }
    return kind(**values)


def _copied(arrays: Any) -> Any:
    return type(arrays)(*(_copied(part) if isinstance(part, tuple) else part.copy() for part in arrays))


def _checked(value: ArrayLike | None, default: Floats, what: str) -> Floats:
    if value is None:
        return default
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{what} = {value!r}: it must be {default.shape[0]} numbers") from None
    if array.shape != default.shape:
        raise InputError(f"{what} has shape {array.shape}: this model needs {default.shape}")
    if not np.all(np.isfinite(array)):
        raise InputError(f"{what} has numbers that are not finite")
    return array
