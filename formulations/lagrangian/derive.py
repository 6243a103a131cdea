"""Derivation of a step's equations from a system and a method, by exact differentiation."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import sympy
from sympy import Expr, Matrix, Rational, Symbol

from biped.errors import InputError
from formulations.lagrangian.system import System, rates

Vector = Sequence[Expr]

H = Symbol("h", real=True)
# Relative size above which a discrete gradient's correction is evaluated as a difference, and below as the first term
# of its series; the next term is then smaller than the difference's rounding error.
RESOLVED = 1e3 * 2.0**-52
# Added to a denominator, since both branches are evaluated: negligible beside a square, finite to the power −3.
NOTHING = sympy.Float(1e-90)


@dataclass(frozen=True)
class Equations:
    """Equations of a step and of evaluations between steps, in the symbols ``q, p, z, v, w, r, c`` and the step h.

    Attributes:
        names: names of the coordinates.
        q, p, z, v, w, r, c: symbols of the state (q, p), a step's unknowns, the velocity, the velocity with
            multipliers, the residual, and the parameters.
        motions: number of unknowns that are not multipliers.
        residual: residual of a step: momentum rows, then constraints divided by h.
        end_q, end_p: state after the step, as functions of its unknowns.
        guess: first guess of the unknowns, from the velocity.
        start_p, second_p: momenta at both ends of a step from q with discrete velocity v, without constraint forces;
            empty for a method without discrete Lagrangian.
        velocity: residual whose root w is the velocity for momentum p.
        momentum: D₂L(q, v).
        tangent_momentum: p − Dᵀg μ, for the root w = (v, μ).
        observed: recorded quantities by name, the energy first.
        constraints, constraint_jacobian: g(q) and Dg(q).
        hidden: True if velocities satisfy the hidden constraints Dg v = 0.
        projects: True if a step ends with a projection on the hidden constraints.
        multiplier_scale: factor from the step's multipliers to those of the continuous equations.
    """

    names: tuple[str, ...]
    q: Sequence[Symbol]
    p: Sequence[Symbol]
    z: Sequence[Symbol]
    v: Sequence[Symbol]
    w: Sequence[Symbol]
    r: Sequence[Symbol]
    c: Sequence[Symbol]
    motions: int
    residual: Vector
    end_q: Vector
    end_p: Vector
    guess: Vector
    start_p: Vector
    second_p: Vector
    velocity: Vector
    momentum: Vector
    tangent_momentum: Vector
    observed: dict[str, Expr]
    constraints: Vector
    constraint_jacobian: Matrix
    hidden: bool
    projects: bool
    multiplier_scale: float


def symbols(letter: str, count: int) -> tuple[Symbol, ...]:
    """Return ``count`` real symbols, such as ``q_0``, ``q_1``, …"""
    return tuple(Symbol(f"{letter}_{i}", real=True) for i in range(count))


def written_out(system: System) -> tuple[Expr, tuple[Symbol, ...], tuple[Symbol, ...], Symbol]:
    """Return the user's discrete Lagrangian 𝕃, and its arguments y, x and h as unique symbols."""
    assert system.discrete_lagrangian is not None
    end, start = symbols("end of step ", system.size), symbols("start of step ", system.size)
    length = Symbol("length of step", real=True)
    return sympy.sympify(system.discrete_lagrangian(end, start, length)), end, start, length


def gradient(expression: Expr, variables: Sequence[Symbol]) -> Matrix:
    """Return the partial derivatives of ``expression`` with respect to ``variables``, as a column."""
    return Matrix([sympy.diff(expression, variable) for variable in variables])


class Derivation:
    """A system in internal symbols, so that the user's names cannot clash with generated code."""

    def __init__(self, system: System, *, generalized: bool = False) -> None:
        self.system = system
        n, self.c = system.size, symbols("c", len(system.parameters))
        given = dict(zip(system.parameters, self.c, strict=True))
        self._full_q, self._full_v = symbols("q", n), symbols("v", n)
        rename = dict(zip(system.coordinates, self._full_q, strict=True))
        rename |= dict(zip(rates(system.coordinates), self._full_v, strict=True)) | given
        self._rename = rename | dict(zip(system.invariants, symbols("invariant_", len(system.invariants)), strict=True))
        self.lagrangian = self.internal(system.full_lagrangian)
        self.g = Matrix([self.internal(row) for row in system.constraints])
        self.force = Matrix([self.internal(row) for row in system.forces or [0] * n])
        self.observed = {"energy": self._energy()}
        self.observed |= {name: self.internal(row) for name, row in system.conserved.items()}
        self.names = tuple(symbol.name for symbol in system.coordinates)
        self.q, self.v = self._full_q, self._full_v
        self.chart: Callable[[Sequence[Expr]], Matrix] | None = None
        if generalized:
            self._take_chart(given)
        self.p = symbols("p", len(self.q))

    def internal(self, expression: Expr | float) -> Expr:
        """Return an expression in internal symbols."""
        return sympy.sympify(expression).xreplace(self._rename)

    def at(self, expression: Expr, q: Sequence[Expr], v: Sequence[Expr]) -> Expr:
        """Return an expression at configuration ``q`` and velocity ``v``."""
        place = dict(zip(self._full_q, q, strict=True)) | dict(zip(self._full_v, v, strict=True))
        return expression.subs(place, simultaneous=True)

    def _energy(self) -> Expr:
        """Return the energy, D₂L·v − L."""
        v = self._full_v
        return sum(x * sympy.diff(self.lagrangian, x) for x in v) - self.lagrangian

    def _take_chart(self, given: dict[Symbol, Symbol]) -> None:
        chart = self.system.chart
        if chart is None:
            raise InputError("generalized-dvp needs System.chart: generalized coordinates and their map to coordinates")
        count = len(chart.coordinates)
        s, ds = symbols("q", count), symbols("v", count)
        places = [Symbol(f"s_{i}", real=True) for i in range(count)]
        rename = dict(zip(chart.coordinates, places, strict=True)) | given
        psi = Matrix([sympy.sympify(row).xreplace(rename) for row in chart.map])

        def mapped(at: Sequence[Expr]) -> Matrix:
            return psi.subs(dict(zip(places, at, strict=True)), simultaneous=True)

        velocity = mapped(s).jacobian(s) * Matrix(ds)
        self.observed = {name: self.at(row, mapped(s), velocity) for name, row in self.observed.items()}
        self.observed |= dict(zip(self.names, mapped(s), strict=True))
        self.full_lagrangian, self.chart = self.lagrangian, mapped
        self.lagrangian = self.at(self.lagrangian, mapped(s), velocity)
        self.names = tuple(symbol.name for symbol in chart.coordinates)
        self.q, self.v, self.g = s, ds, Matrix([])

    def velocity_rows(self, hidden: bool) -> tuple[tuple[Symbol, ...], Vector]:
        """Return w = (v, μ) and the residual (D₂L(q, v) + Dᵀg μ − p, Dg v); without constraints unless ``hidden``."""
        held = self.g.jacobian(self.q) if hidden and len(self.g) else Matrix.zeros(0, len(self.q))
        w = symbols("w", len(self.q) + held.rows)
        v, mu = Matrix(w[: len(self.q)]), Matrix(w[len(self.q) :])
        slope = gradient(self.lagrangian, self.v).subs(dict(zip(self.v, v, strict=True)), simultaneous=True)
        rows = slope - Matrix(self.p)
        if held.rows:
            rows = Matrix([*(rows + held.T * mu), *(held * v)])
        return w, list(rows)

    def equations(
        self,
        z: Sequence[Symbol],
        residual: Vector,
        end_q: Vector,
        end_p: Vector,
        *,
        motions: int,
        guess: Vector,
        ends: tuple[Vector, Vector] = ((), ()),
        hidden: bool = True,
        projects: bool = False,
        multiplier_scale: float = 1.0,
    ) -> Equations:
        """Return the equations of a method, given those of its step."""
        w, velocity = self.velocity_rows(hidden)
        n = len(self.q)
        jacobian = self.g.jacobian(self.q) if len(self.g) else Matrix.zeros(0, n)
        normal = jacobian.T * Matrix(w[n:]) if len(w) > n else Matrix.zeros(n, 1)
        return Equations(
            names=self.names,
            q=self.q, p=self.p, z=z, v=self.v, w=w, r=symbols("r", len(z)), c=self.c,
            motions=motions,
            residual=residual, end_q=end_q, end_p=end_p,
            guess=guess, start_p=ends[0], second_p=ends[1],
            velocity=velocity,
            momentum=list(gradient(self.lagrangian, self.v)),
            tangent_momentum=list(Matrix(self.p) - normal),
            observed=self.observed,
            constraints=list(self.g), constraint_jacobian=jacobian,
            hidden=hidden, projects=projects, multiplier_scale=multiplier_scale,
        )  # fmt: skip


def _need_constant_mass(system: System, method: str) -> None:
    if system.mass is None:
        raise InputError(f"{method} needs a constant mass matrix: give mass and potential in place of lagrangian")


def _variational(
    derivation: Derivation,
    step_lagrangian: Expr,
    forces: tuple[Matrix, Matrix],
    u: Sequence[Symbol],
    *,
    projects: bool = False,
    multiplier_scale: float = 1.0,
) -> Equations:
    """Return the equations for a discrete Lagrangian Λ(q, u) = 𝕃(q + h u, q), with forces' impulses at both ends.

    The derivatives h D₁𝕃 = ∂Λ/∂u and −h D₂𝕃 = ∂Λ/∂u − h ∂Λ/∂q avoid cancellation.
    """
    q, n, k = Matrix(derivation.q), len(derivation.q), len(derivation.g)
    z = symbols("z", n + k)
    multipliers = Matrix(z[n:])
    left, right = forces
    end = gradient(step_lagrangian, u) + right
    start = gradient(step_lagrangian, u) - H * gradient(step_lagrangian, derivation.q) - left
    renamed = dict(zip(u, z, strict=False))
    y = q + H * Matrix(z[:n])
    residual = Matrix(derivation.p) - start.subs(renamed, simultaneous=True)
    if k:
        residual += derivation.g.jacobian(derivation.q).T * multipliers * H
        at_end = derivation.g.subs(dict(zip(derivation.q, y, strict=True)), simultaneous=True) / H
        residual = Matrix([*residual, *at_end])
    carried = Matrix(symbols("r", n + k)[:n])
    as_v = dict(zip(u, derivation.v, strict=True))
    return derivation.equations(
        z, list(residual), list(y), list(end.subs(renamed, simultaneous=True) + carried), motions=n,
        guess=[*derivation.v, *[sympy.S.Zero] * k],
        ends=(list(start.subs(as_v, simultaneous=True)), list(end.subs(as_v, simultaneous=True))), projects=projects,
        multiplier_scale=multiplier_scale,
    )  # fmt: skip


def _discrete(system: System, x: Sequence[Expr], y: Sequence[Expr], c: dict[Symbol, Symbol]) -> Expr:
    """Return the user's 𝕃(y, x, h) at configurations ``y`` and ``x``, with parameters renamed by ``c``."""
    written, second, first, length = written_out(system)
    strange = written.free_symbols - {*first, *second, length, *c}
    if strange:
        raise InputError(f"discrete_lagrangian contains {sorted(map(str, strange))}, neither arguments nor parameters")
    place = dict(zip(first, x, strict=True)) | dict(zip(second, y, strict=True))
    return written.xreplace(c | {length: H}).subs(place, simultaneous=True)


def midpoint(system: System) -> Equations:
    """Return the equations of the midpoint rule, (2.23) with forces (5.2)."""
    derivation = Derivation(system)
    u = symbols("u", system.size)
    middle = [x + H * w / 2 for x, w in zip(derivation.q, u, strict=True)]
    if system.discrete_lagrangian is None:
        law = derivation.at(derivation.lagrangian, middle, u)
    else:
        y = [x + H * w for x, w in zip(derivation.q, u, strict=True)]
        law = _discrete(system, derivation.q, y, dict(zip(system.parameters, derivation.c, strict=True)))
        if law.is_polynomial(*derivation.q, *u):
            law = sympy.expand(law)  # 1/h cancels
    impulse = derivation.at(derivation.force, middle, u) * H / 2
    return _variational(derivation, law, (impulse, impulse), u)


def first_order(system: System) -> Equations:
    """Return the equations of the first-order method (2.45); forces are evaluated at the point of the potential's."""
    derivation = Derivation(system)
    u = symbols("u", system.size)
    y = [x + H * w for x, w in zip(derivation.q, u, strict=True)]
    law = derivation.at(derivation.lagrangian, y, u)
    return _variational(derivation, law, (Matrix.zeros(system.size, 1), derivation.at(derivation.force, y, u) * H), u)


def generalized(system: System) -> Equations:
    """Return the equations in generalized coordinates (2.41), (2.42); forces act along the chart at both ends."""
    derivation = Derivation(system, generalized=True)
    assert derivation.chart is not None
    u = symbols("u", len(derivation.q))
    y = [x + H * w for x, w in zip(derivation.q, u, strict=True)]
    start, end = derivation.chart(derivation.q), derivation.chart(y)
    middle, chord = (start + end) / 2, (end - start) / H
    if system.discrete_lagrangian is None:
        law = derivation.at(derivation.full_lagrangian, middle, chord)
    else:
        law = _discrete(system, start, end, dict(zip(system.parameters, derivation.c, strict=True)))
    along = derivation.chart(derivation.v).jacobian(derivation.v)
    impulse = derivation.at(derivation.force, middle, chord) * H / 2
    at_start = along.subs(dict(zip(derivation.v, derivation.q, strict=True)), simultaneous=True).T * impulse
    at_end = along.subs(dict(zip(derivation.v, y, strict=True)), simultaneous=True).T * impulse
    return _variational(derivation, law, (at_start, at_end), u)


def _trapezoidal(system: System, **more: float | bool) -> Equations:
    derivation = Derivation(system)
    u = symbols("u", system.size)
    y = [x + H * w for x, w in zip(derivation.q, u, strict=True)]
    law = (derivation.at(derivation.lagrangian, derivation.q, u) + derivation.at(derivation.lagrangian, y, u)) / 2
    forces = derivation.at(derivation.force, derivation.q, u) * H / 2, derivation.at(derivation.force, y, u) * H / 2
    return _variational(derivation, law, forces, u, **more)  # type: ignore[arg-type]


def shake(system: System) -> Equations:
    """Return the equations of SHAKE (2.32)."""
    _need_constant_mass(system, "shake")
    return _trapezoidal(system)


def rattle(system: System) -> Equations:
    """Return the equations of RATTLE (2.33) … (2.37); its multiplier γ is twice SHAKE's, half of which acts first."""
    _need_constant_mass(system, "rattle")
    return _trapezoidal(system, projects=True, multiplier_scale=2.0)


def discrete_gradient(law: Expr, invariants: dict[Symbol, Expr], q: Sequence[Symbol], u: Sequence[Symbol]) -> Matrix:
    """Return Gonzalez's discrete gradient of ``law`` between q and q + h u.

    Terms with invariants get a discrete gradient with respect to the invariants, times the invariants' gradient at the
    middle of the step, which is exact since invariants are quadratic.
    """
    free = sympy.expand(law)
    terms = sympy.Add.make_args(free)
    with_invariants = [term for term in terms if term.free_symbols & set(invariants)]
    plain = sympy.Add(*[term for term in terms if not term.free_symbols & set(invariants)])
    result = _plain_discrete_gradient(plain, q, u)
    if not with_invariants:
        return result
    grouped = sympy.Add(*with_invariants)
    used = [symbol for symbol in (*q, *invariants) if symbol in grouped.free_symbols]
    ends = {symbol: symbol for symbol in q} | invariants
    shift = {x: x + H * w for x, w in zip(q, u, strict=True)}
    middle = {x: x + H * w / 2 for x, w in zip(q, u, strict=True)}
    starts = [ends[symbol] for symbol in used]
    steps = [
        sympy.expand((expression.subs(shift, simultaneous=True) - expression) / H)  # quadratic: 1/h cancels
        for expression in starts
    ]
    slots = symbols("slot", len(used))
    inner = _plain_discrete_gradient(grouped.subs(dict(zip(used, slots, strict=True))), slots, symbols("du", len(used)))
    inner = inner.subs(
        dict(zip(slots, starts, strict=True)) | dict(zip(symbols("du", len(used)), steps, strict=True)),
        simultaneous=True,
    )
    outer = Matrix([[sympy.diff(e, x).subs(middle, simultaneous=True) for x in q] for e in starts])
    return result + outer.T * inner


def _plain_discrete_gradient(law: Expr, q: Sequence[Symbol], u: Sequence[Symbol]) -> Matrix:
    """Return ∇f at the middle, corrected along the displacement so that it gives f(q + h u) − f(q)."""
    middle = {x: x + H * w / 2 for x, w in zip(q, u, strict=True)}
    shift = {x: x + H * w for x, w in zip(q, u, strict=True)}
    at_middle = gradient(law, q).subs(middle, simultaneous=True)
    missing = law.subs(shift, simultaneous=True) - law - H * at_middle.dot(Matrix(u))
    squared = sum(w * w for w in u)
    if law.is_polynomial(*q):
        missing = sympy.expand(missing)
        if missing == 0:
            return at_middle
        factor = sympy.Piecewise((sympy.expand(missing / H) / (squared + NOTHING), squared > 0), (0, True))
        return at_middle + factor * Matrix(u)
    first = _third_difference(law, q, u).subs(middle, simultaneous=True)
    rounding = RESOLVED * _subtracted(law, q, at_middle)
    resolved = sympy.Or(sympy.Abs(missing) > rounding, sympy.Abs(H**3 * first) > rounding)
    factor = sympy.Piecewise((missing / H / (squared + NOTHING), resolved), (H**2 * first / (squared + NOTHING), True))
    return at_middle + factor * Matrix(u)


def _third_difference(law: Expr, q: Sequence[Symbol], u: Sequence[Symbol]) -> Expr:
    """Return D³f[u, u, u]/24; times h³ it is the first term of f(q + h u) − f(q) − h ∇f·u about the middle."""
    derivative = law
    for _ in range(3):
        derivative = gradient(derivative, q).dot(Matrix(u))
    return derivative / 24


def _subtracted(law: Expr, q: Sequence[Symbol], slope: Matrix) -> Expr:
    """Return the scale of rounding errors in f(q + h u) − f(q): terms of f, and its change per relative change of q."""
    terms = sum(sympy.Abs(term) for term in sympy.Add.make_args(law))
    return terms + sum(sympy.Abs(x * row) for x, row in zip(q, slope, strict=True))


def energy_momentum(system: System) -> Equations:
    """Return the energy-momentum method (Gonzalez 1996): M u = (p + p')/2, p' = p − h ∇̄V + h ∇̄gᵀ λ + h F.

    u: mean velocity of a step h; p, p': momenta at its ends; ∇̄: discrete gradient; λ: multipliers of the constraints g.
    """
    _need_constant_mass(system, "energy-momentum")
    derivation = Derivation(system)
    n, k = system.size, len(derivation.g)
    z = symbols("z", n + k)
    u, multipliers = z[:n], Matrix(z[n:])
    q = derivation.q
    invariants = {derivation.internal(symbol): derivation.internal(row) for symbol, row in system.invariants.items()}
    potential = discrete_gradient(derivation.internal(system.potential), invariants, q, u)
    middle = [x + H * w / 2 for x, w in zip(q, u, strict=True)]
    push = H * (derivation.at(derivation.force, middle, u) - potential)
    y = Matrix(q) + H * Matrix(u)
    at_end: list[Expr] = []
    if k:
        held = Matrix([[*discrete_gradient(row, {}, q, u)] for row in derivation.g])
        push += H * held.T * multipliers
        at_end = list(derivation.g.subs(dict(zip(q, y, strict=True)), simultaneous=True) / H)
    mass = derivation.system.mass_matrix.applyfunc(derivation.internal)
    residual = Matrix(derivation.p) + push * Rational(1, 2) - mass * Matrix(u)
    return derivation.equations(
        z, [*residual, *at_end], list(y), list(Matrix(derivation.p) + push), motions=n,
        guess=[*derivation.v, *[sympy.S.Zero] * k], hidden=False,
    )  # fmt: skip


def quaternion_product(a: Sequence[Expr], b: Sequence[Expr]) -> list[Expr]:
    """Return the quaternion a ⋆ b, scalar first."""
    return [
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    ]


def conjugate(q: Sequence[Expr]) -> list[Expr]:
    """Return the conjugate quaternion q̄."""
    return [q[0], -q[1], -q[2], -q[3]]


def rigid_energy_momentum(system: System) -> Equations:
    """Return Π' − Π = −h ω × J ω with J ω = (Π + Π')/2 in body axes, and q' = q ⋆ cay(h ω)."""
    if system.inertia is None:
        raise InputError("rigid-energy-momentum needs System.inertia: see formulations.lagrangian.rigid_body")
    if system.forces is not None or system.potential != 0 or system.size != 4:
        raise InputError("rigid-energy-momentum needs a rigid body in unit quaternions without forces and potential")
    derivation = Derivation(system)
    inertia = Matrix(system.inertia).applyfunc(derivation.internal)
    z = symbols("z", 3)
    omega = Matrix(z)
    # Divide by |q|², so that rounding errors of |q| do not multiply the momentum at every step.
    squared = 2 * sum(x * x for x in derivation.q)
    spin = Matrix([x / squared for x in quaternion_product(conjugate(derivation.q), derivation.p)[1:]])
    middle = inertia * omega
    residual = spin - middle - H / 2 * omega.cross(middle)
    # In this form the residual left by Newton's method changes energy and momentum only by h times its size.
    end = spin - H * omega.cross(middle)
    length = sympy.sqrt(1 + H * H * omega.dot(omega) / 4)
    y = quaternion_product(derivation.q, [1 / length, *(H * omega / (2 * length))])
    end_p = [2 * x for x in quaternion_product(y, [sympy.S.Zero, *end])]
    guess = [2 * x for x in quaternion_product(conjugate(derivation.q), derivation.v)[1:]]
    return derivation.equations(z, list(residual), y, end_p, motions=3, guess=guess)


DERIVATIONS: dict[str, Callable[[System], Equations]] = {
    "midpoint-dvp": midpoint,
    "first-order-dvp": first_order,
    "generalized-dvp": generalized,
    "shake": shake,
    "rattle": rattle,
    "energy-momentum": energy_momentum,
    "rigid-energy-momentum": rigid_energy_momentum,
}
