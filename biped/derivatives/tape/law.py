"""A compiled control law as a tape: torques from configuration, momentum, and the numbers of the law.

Linearizations and gradients take the derivatives of a law from here.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numpy as np
from numba.core.errors import NumbaError

from biped.derivatives.tape.kernels import Tape, evaluate_tape
from biped.derivatives.tape.recorder import Recorder
from biped.errors import InputError
from biped.kernels.loop.closed_loop import control
from biped.kernels.loop.measurement import Measurement
from biped.kernels.tree.dynamics import TreeData, new_tree_data, rates_from_momentum, turn_inertias
from biped.kernels.tree.kinematics import Poses, place_bodies
from biped.kernels.tree.tree import FLOATING, Tree
from biped.kernels.variational.equations import displace
from contact.arrays import Floats
from contact.piecewise import Signals

#: Place of a number: indices in nested tuples, then in a flattened array at their end.
Path = tuple[int, ...]


#: First index of a path: a number of the law or of the tree, as in ``law_and_tree``.
LAW, TREE = 0, 1

#: Number of tapes that are kept, by law and by branches.
MOST_TAPES = 16


def leaves_of(value: Any, path: Path = ()) -> Iterator[tuple[Path, float]]:
    """Yield all finite real numbers of nested named tuples and their arrays, with their paths.

    Whole numbers, functions of time and trees are left out.
    """
    if isinstance(value, (Signals, Tree)):
        return
    if isinstance(value, tuple):
        for place, item in enumerate(value):
            yield from leaves_of(item, (*path, place))
    elif isinstance(value, np.ndarray) and value.dtype == np.float64:
        for place, number in enumerate(value.ravel().tolist()):
            if math.isfinite(number):
                yield (*path, place), number
    elif isinstance(value, float) and math.isfinite(value):
        yield path, value


def law_and_tree(law: Any, tree: Tree) -> tuple[Any, tuple[Any, ...]]:
    """Return everything except the state on which the torques depend, law and tree, for ``leaves_of``."""
    return law, tuple(tree)


def note_law(
    law: Any, tree: Tree, q: Floats, momentum: Floats, recorded: int, chosen: Sequence[Path], time: float | None = None
) -> Tape:
    """Run the kernels of a law in the interpreter at a state, and record their operations.

    The tape's arguments are q (nq), displacements of q (nv, zero), p (nv), and the chosen numbers of law and tree.

    Args:
        law: the named tuple of a compiled law.
        tree: the plant that the law assumes.
        q: (nq,) configuration.
        momentum: (nv,) generalized momentum.
        recorded: number of values that the law records.
        chosen: paths of numbers in ``leaves_of(law_and_tree(law, tree))`` that are arguments too.
        time: [s] the only time at which the tape is valid; if None, the law must not depend on time.

    Raises:
        InputError: an operation has no exact derivative, or depends on time.
    """
    recorder, nv, nc = Recorder(), len(momentum), tree.contact_body.shape[0]
    at, delta, p = recorder.arguments(q), recorder.arguments(np.zeros(nv)), recorder.arguments(momentum)
    known = dict(leaves_of(law_and_tree(law, tree)))
    inputs = {path: recorder.argument(known[path]) for path in chosen}
    plain = _noting(tree, inputs, (TREE,))
    plant = Tree(*plain)
    try:
        motion = _tree_data(len(tree.parent), nv, nc)
        here = _objects(at)
        place_bodies(plant, here, motion.poses)
        moved, shift = _objects(at), _objects([0.0] * 3)
        displace(plant, motion.poses, here, shift, 1.0, _objects(delta), moved, shift)
        if tree.kind[0] == FLOATING:
            for axis in range(3):
                moved[axis] = at[axis] + shift[axis]
        place_bodies(plant, moved, motion.poses)
        turn_inertias(plant, motion.poses, motion.inertia)
        rates_from_momentum(plant, _objects(p), motion)
        unknown = np.full((nc, 3), np.nan, dtype=object)
        unset = np.full(nv, np.nan, dtype=object)
        clock = _objects([recorder.argument(0.0) if time is None else time])
        contacts = np.zeros(nc, np.int64)
        measurement = Measurement(plant, clock, moved, motion, unknown, contacts, unset, unset, unset, unset)
        torque = _objects([0.0] * nv)
        control(_noting(law, inputs, (LAW,)), measurement, torque, _objects([0.0] * recorded))
    except (TypeError, NumbaError) as error:
        raise InputError(
            f"{type(law).__name__} has no exact gradient: compute torques from configuration and velocity, not time, "
            f"by + − × ÷ and functions of the module contact.analytic only ({str(error).splitlines()[0]})"
        ) from error
    return recorder.tape([*at, *delta, *p, *inputs.values()], torque.tolist())


class LawTapes:
    """The tapes of a law, one for each choice of branches; laws that differ only in numbers share tapes.

    All ``leaves_of`` the law are arguments: one tape serves all gains and set points.

    Args:
        law: the named tuple of the law before its first call, which changes the workspace in it.
        tree: the plant that the law assumes.
        recorded: number of values that the law records.
        by_tree: True if the numbers of the tree are arguments too.
    """

    def __init__(self, law: Any, tree: Tree, recorded: int, by_tree: bool = False) -> None:
        self._law, self._tree, self._recorded = law, tree, recorded
        leaves = {p: x for p, x in leaves_of(law_and_tree(law, tree)) if by_tree or p[0] == LAW}
        self.paths, self._numbers = tuple(leaves), np.array(list(leaves.values()))
        self._key = type(law), self.paths, rest_of(law), rest_of(tuple(tree) if by_tree else tree), recorded

    def at(self, q: Floats, momentum: Floats) -> Tape:
        """Return a new tape, evaluated at this state with the numbers of the law and its branches there.

        Raises:
            InputError: the law has no exact derivative.
        """
        given = np.concatenate([q, np.zeros(len(momentum)), momentum, self._numbers])
        with _access:
            known = tuple(_tapes.get(self._key, ()))
        for tape in known:
            copy = _copy_with(tape, given)
            if evaluate_tape(copy):
                return copy
        noted = note_law(self._law, self._tree, q, momentum, self._recorded, self.paths)
        with _access:
            _tapes[self._key] = (noted, *_tapes.pop(self._key, ()))[:MOST_TAPES]
            while len(_tapes) > MOST_TAPES:
                del _tapes[next(iter(_tapes))]
        copy = _copy_with(noted, given)
        evaluate_tape(copy)
        return copy


_tapes: dict[Hashable, tuple[Tape, ...]] = {}
_access = threading.Lock()


def _copy_with(known: Tape, given: Floats) -> Tape:
    """Return a copy of a tape with the given arguments."""
    copy = known._replace(value=known.value.copy(), weight=known.weight.copy(), gradient=known.gradient.copy())
    copy.value[: len(given)] = given
    return copy


def rest_of(value: Any) -> Hashable:
    """Return everything in a law except its ``leaves_of``, as a key: laws with equal keys share tapes."""
    if isinstance(value, (Signals, Tree)):
        return tuple(array.tobytes() for array in value)
    if isinstance(value, tuple):
        return type(value), *map(rest_of, value)
    if isinstance(value, np.ndarray):
        if value.dtype == np.float64:
            value = np.where(np.isfinite(value), 0.0, value)
        return value.dtype.str, value.shape, value.tobytes()
    return None if isinstance(value, float) and math.isfinite(value) else value


def _objects(values: Any) -> Any:
    objects = np.empty(len(values), dtype=object)
    objects[:] = [float(x) if isinstance(x, np.floating) else x for x in values]
    return objects


def _tree_data(n: int, nv: int, nc: int) -> TreeData:
    """Return tree data whose arrays can hold ``Noted`` numbers."""
    plain: Any = new_tree_data(n, nv, nc)
    make: Any = TreeData
    data: TreeData = make(*(_noting(item, {}, ()) if not isinstance(item, Poses) else _poses(item) for item in plain))
    return data


def _poses(plain: Poses) -> Poses:
    return Poses(*(item.astype(object) for item in plain))


def _noting(value: Any, inputs: dict[Path, Any], path: Path) -> Any:
    """Return a copy of nested named tuples with arrays of objects, with the numbers ``inputs`` at their paths."""
    if isinstance(value, Signals):
        return value
    if isinstance(value, tuple):
        items = [_noting(item, inputs, (*path, place)) for place, item in enumerate(value)]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, np.ndarray) and value.dtype == np.float64:
        objects = value.astype(object)
        for where, number in inputs.items():
            if where[:-1] == path:
                objects.ravel()[where[-1]] = number
        return objects
    return inputs.get(path, value)
