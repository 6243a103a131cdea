"""Lagrangian systems: SymPy expressions of coordinates, their rates, and parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import sympy

from biped.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from biped.runs.march import Progress
    from formulations.lagrangian.integrate import Trajectory

#: Function 𝕃(y, x, h) of the configurations y at the end and x at the start of a step, and of its length h.
DiscreteLagrangian = Callable[[tuple[sympy.Symbol, ...], tuple[sympy.Symbol, ...], sympy.Symbol], sympy.Expr]


def rate(coordinate: sympy.Symbol) -> sympy.Symbol:
    """Return the symbol of a coordinate's time derivative: ``v_x`` for ``x``."""
    return sympy.Symbol(f"v_{coordinate.name}", real=True)


def rates(coordinates: Iterable[sympy.Symbol]) -> tuple[sympy.Symbol, ...]:
    """Return the symbols of several coordinates' time derivatives."""
    return tuple(rate(coordinate) for coordinate in coordinates)


@dataclass(frozen=True)
class Chart:
    """Generalized coordinates s and the map ψ(s) from them to the coordinates of a system (Wendlandt 1997, 2.3.2).

    Attributes:
        coordinates: generalized coordinates s.
        map: expressions ψ(s), one for each coordinate of the system; they must satisfy the constraints.
    """

    coordinates: Sequence[sympy.Symbol]
    map: Sequence[sympy.Expr]


@dataclass(frozen=True, eq=False)
class System:
    """Lagrangian system on a linear space, with holonomic constraints (Wendlandt 1997, section 2.3.1).

    Give either ``mass`` (and ``potential``), for L = q̇ᵀ M q̇/2 − V(q) (2.29), or ``lagrangian``. Results have the units
    of the given values; use SI. Numbers such as (2.29) are equations of Wendlandt 1997.

    Attributes:
        coordinates: symbols of the coordinates q; their names are the columns of a trajectory.
        mass: constant mass matrix M, or its diagonal.
        potential: potential V(q), which may also contain ``invariants``.
        lagrangian: Lagrangian L(q, q̇), with ``rate(q)`` for q̇.
        constraints: expressions g(q), which the motion keeps at zero.
        forces: generalized forces F(q, q̇), one for each coordinate (5.2).
        discrete_lagrangian: function 𝕃(y, x, h) that ``midpoint-dvp`` and ``generalized-dvp`` use in place of (2.23),
            such as (2.51). They may differ where q does not satisfy the constraints.
        chart: generalized coordinates, for ``generalized-dvp``.
        conserved: conserved quantities by name, expressions in q and q̇, recorded in addition to the energy.
        invariants: quadratic functions of q, by the symbols that stand for them in ``potential``. For these terms,
            ``energy-momentum`` also conserves the momenta of symmetries that leave the invariants unchanged.
        parameters: symbols and their values [SI]. New values need no compilation.
        inertia: (3, 3) [kg·m²] inertia, in body axes, of a free rigid body whose coordinates are a unit quaternion;
            only for ``rigid-energy-momentum``.

    Raises:
        InputError: arguments are missing or contradict each other, or an expression has an unknown symbol.
    """

    coordinates: Sequence[sympy.Symbol]
    mass: Any = None
    potential: sympy.Expr | float = 0
    lagrangian: sympy.Expr | None = None
    constraints: Sequence[sympy.Expr] = ()
    forces: Sequence[sympy.Expr] | None = None
    discrete_lagrangian: DiscreteLagrangian | None = None
    chart: Chart | None = None
    conserved: Mapping[str, sympy.Expr] = field(default_factory=dict)
    invariants: Mapping[sympy.Symbol, sympy.Expr] = field(default_factory=dict)
    parameters: Mapping[sympy.Symbol, float] = field(default_factory=dict)
    inertia: Any = None

    def __post_init__(self) -> None:
        names = [symbol.name for symbol in self.coordinates]
        if not names or len(set(names)) != len(names):
            raise InputError(f"coordinates {names}: there must be at least one, and no name may occur twice")
        self._check_expressions()
        if (self.mass is None) == (self.lagrangian is None):
            raise InputError("a system needs either mass (and potential) or lagrangian, but not both")
        if self.lagrangian is not None and self.potential != 0:
            raise InputError("lagrangian must include the potential energy: leave out potential")
        if self.forces is not None and len(self.forces) != self.size:
            raise InputError(f"{len(self.forces)} forces: there must be one for each of {self.size} coordinates")
        if len(self.constraints) >= self.size:
            raise InputError(f"{len(self.constraints)} constraints: there must be fewer than coordinates ({self.size})")
        self._check_chart()
        self._check_columns(names)
        self._check_symbols()
        for symbol, value in self.parameters.items():
            if not math.isfinite(value):
                raise InputError(f"parameter {symbol} = {value!r}: it must be finite")
        for name, expression in self.invariants.items():
            if not (sympy.sympify(expression).is_polynomial(*self.coordinates) and self._degree(expression) <= 2):
                raise InputError(f"invariant {name} = {expression}: it must be quadratic in the coordinates")

    def _degree(self, expression: sympy.Expr) -> int:
        return int(sympy.Poly(expression, *self.coordinates).total_degree())

    def _check_expressions(self) -> None:
        """Check that expressions are SymPy expressions and that each symbol has one meaning."""
        several: dict[str, Any] = {"constraints": self.constraints, "forces": self.forces or ()}
        for name, given in several.items():
            if isinstance(given, sympy.Basic) and not isinstance(given, (sympy.Tuple, sympy.MatrixBase)):
                raise InputError(f"{name} = {given}: it must be a list of one or more expressions")
        single: dict[str, Any] = {"potential": [self.potential], "lagrangian": [self.lagrangian or 0]}
        mappings: dict[str, Any] = {"conserved": self.conserved.values(), "invariants": self.invariants.values()}
        for name, expressions in (several | single | mappings).items():
            for given in expressions:
                expression = sympy.sympify(given)
                if not isinstance(expression, sympy.Expr) or expression.has(sympy.oo, -sympy.oo, sympy.zoo, sympy.nan):
                    raise InputError(f"{name} contains {given}: it must be a finite expression; write a = b as a - b")
        roles = [*self.coordinates, *rates(self.coordinates), *self.parameters, *self.invariants]
        twice = sorted({str(symbol) for symbol in roles if roles.count(symbol) > 1})
        if twice:
            raise InputError(f"{', '.join(twice)}: a symbol can only be one of coordinate, rate, parameter, invariant")

    def _check_chart(self) -> None:
        if self.chart is None:
            return
        free = self.size - len(self.constraints)
        if len(self.chart.map) != self.size or len(self.chart.coordinates) != free:
            raise InputError(
                f"the chart maps {len(self.chart.coordinates)} coordinates to {len(self.chart.map)}: "
                f"it must map {free} (number of coordinates minus constraints) to {self.size}"
            )

    def _check_columns(self, names: list[str]) -> None:
        """Check that no two columns of a trajectory have the same name."""
        charted = [symbol.name for symbol in self.chart.coordinates] if self.chart else []
        states = [f"{prefix}{name}" for name in (*names, *charted) for prefix in ("", "p_", "v_")]
        columns = ["time", "energy", *states, *self.conserved]
        twice = sorted({name for name in columns if columns.count(name) > 1})
        if twice:
            raise InputError(f"{', '.join(twice)}: two columns of a trajectory would have this name; rename one")

    def _check_symbols(self) -> None:
        places = set(self.coordinates)
        known = places | set(self.parameters)
        allowed = {
            "mass": (set(self.parameters), list(self.mass_matrix) if self.mass is not None else []),
            "potential": (known | set(self.invariants), [self.potential]),
            "lagrangian": (known | set(rates(self.coordinates)), [] if self.lagrangian is None else [self.lagrangian]),
            "constraints": (known, self.constraints),
            "forces": (known | set(rates(self.coordinates)), self.forces or ()),
            "conserved": (known | set(rates(self.coordinates)), self.conserved.values()),
            "invariants": (known, self.invariants.values()),
            "inertia": (set(self.parameters), list(sympy.Matrix(self.inertia)) if self.inertia is not None else []),
            "chart": (set(self.parameters) | set(self.chart.coordinates if self.chart else ()), self.chart_map),
        }
        for name, (symbols, expressions) in allowed.items():
            for expression in expressions:
                strange = sympy.sympify(expression).free_symbols - symbols
                if strange:
                    raise InputError(
                        f"{name} contains {', '.join(sorted(map(str, strange)))}: it may contain only "
                        f"{', '.join(sorted(map(str, symbols))) or 'numbers'}"
                    )

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return len(self.coordinates)

    @property
    def chart_map(self) -> tuple[sympy.Expr, ...]:
        """Expressions ψ of the chart, one for each coordinate; empty without a chart."""
        return () if self.chart is None else tuple(sympy.sympify(row) for row in self.chart.map)

    @cached_property
    def mass_matrix(self) -> sympy.Matrix:
        """Mass matrix M; for a Lagrangian, D₂₂L."""
        if self.mass is None:
            v = rates(self.coordinates)
            return sympy.hessian(self.lagrangian, v)
        given = sympy.Matrix(self.mass)
        matrix = sympy.diag(*given) if 1 in given.shape else given
        if matrix.shape != (self.size, self.size):
            raise InputError(f"the mass matrix has shape {matrix.shape}: it must be square, a row per coordinate")
        return matrix

    @cached_property
    def full_lagrangian(self) -> sympy.Expr:
        """Lagrangian L(q, q̇), with invariants replaced by their expressions."""
        if self.lagrangian is not None:
            return sympy.sympify(self.lagrangian)
        v = sympy.Matrix(rates(self.coordinates))
        return sympy.sympify((v.T * self.mass_matrix * v)[0, 0] / 2 - self.plain_potential)

    @property
    def plain_potential(self) -> sympy.Expr:
        """Potential V(q), with invariants replaced by their expressions."""
        return sympy.sympify(self.potential).subs(dict(self.invariants))

    @property
    def parameter_values(self) -> NDArray[np.float64]:
        """Values of the parameters, in the order of ``parameters``."""
        import numpy as np

        return np.array(list(self.parameters.values()), dtype=np.float64)

    def integrate(
        self,
        method: str,
        q0: ArrayLike,
        v0: ArrayLike | None = None,
        *,
        step: float,
        duration: float,
        q1: ArrayLike | None = None,
        every: int = 1,
        composition: Sequence[float] = (1.0,),
        progress: Progress | None = None,
    ) -> Trajectory:
        """Simulate from a configuration and a velocity, or from two configurations one step apart.

        Args:
            method: name of a method of ``LAGRANGIAN_METHODS``.
            q0: initial values of the coordinates or, for ``generalized-dvp``, of the chart's coordinates.
            v0: initial rates; the initial momentum is ∂L/∂q̇ at (q0, v0).
            step: [s] length h of a time step.
            duration: [s] duration, a whole number of time steps.
            q1: configuration after the first step, in place of ``v0``, as for a two-step method; the momenta follow
                from the discrete Legendre transforms.
            every: number of time steps from one recorded row to the next.
            composition: weights of the substeps of each step, which add up to 1; only for symmetric methods.
            progress: function that is called with the completed fraction (0 to 1).

        Raises:
            InputError: the start is impossible or does not fit the method; the message says what is allowed.
            IntegrationError: the equations of a step could not be solved; the message gives time and residual.
        """
        from formulations.lagrangian.integrate import integrate

        return integrate(
            self, method, q0, v0, q1=q1, step=step, duration=duration, every=every,
            composition=composition, progress=progress,
        )  # fmt: skip
