"""Generation of a module's text from equations, for compilation by Numba."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import sympy
from sympy import Expr, Matrix, Symbol
from sympy.printing.pycode import PythonCodePrinter

from biped.errors import InputError
from formulations.lagrangian.derive import Equations

LOOP = Path(__file__).with_name("kernels") / "loop.py"
_EQUATIONS = re.compile(
    r"^from formulations\.lagrangian\.kernels\.equations import \(.*?^\)\n", re.MULTILINE | re.DOTALL
)
# All other imports, and the text after them.
_IMPORTS = re.compile(r".*?^((?:from [^\n]*\n)+)(.*)", re.MULTILINE | re.DOTALL)
# Largest power that is written as a product.
_MULTIPLIED_OUT = 4


class _Printer(PythonCodePrinter):  # type: ignore[misc]
    """Printer of Python code with powers as products and quotients: 1/0 is infinite, while 0 ** -1 would raise."""

    def _print_Pow(self, expr: Expr, rational: bool = False) -> str:  # noqa: N802 - SymPy's name
        base, exponent = expr.base, expr.exp
        if exponent.is_number and exponent.is_negative:
            return f"(1.0/({self._print(sympy.Pow(base, -exponent, evaluate=False))}))"
        if exponent.is_Integer and base.is_Symbol and exponent <= _MULTIPLIED_OUT:
            return f"({'*'.join([self._print(base)] * int(exponent))})"
        return str(super()._print_Pow(expr, rational))


_PRINTER = _Printer({"fully_qualified_modules": True, "strict": False})


def _printed(expression: Expr) -> str:
    text = str(_PRINTER.doprint(expression))
    if "Not supported" in text:
        names = [line.lstrip("# ") for line in text.splitlines() if line.lstrip().startswith("#")][1:]
        raise InputError(
            f"{', '.join(dict.fromkeys(names))} cannot be compiled: write the system in elementary functions, "
            "smooth enough to be differentiated twice"
        )
    return text


def function(
    name: str, arguments: str, unpacked: Mapping[str, Sequence[Symbol]], outputs: Mapping[str, Sequence[Expr] | Matrix]
) -> str:
    """Return the text of a kernel that sets the arrays ``outputs``: vectors from sequences, matrices from matrices."""
    targets: list[str] = []
    expressions: list[Expr] = []
    for array, values in outputs.items():
        for index, value in enumerate(values):
            place = f"{index // values.cols}, {index % values.cols}" if isinstance(values, Matrix) else str(index)
            targets.append(f"{array}[{place}]")
            expressions.append(sympy.sympify(value))
    shared, reduced = sympy.cse(expressions, symbols=sympy.numbered_symbols("t"))
    used = set().union(*(expression.free_symbols for expression in expressions)) if expressions else set()
    lines = [f"@kernel\ndef {name}({', '.join(arguments.split())}):"]
    for array, members in unpacked.items():
        lines += [f"    {symbol} = {array}[{i}]" for i, symbol in enumerate(members) if symbol in used]
    lines += [f"    {symbol} = {_printed(value)}" for symbol, value in shared]
    lines += [f"    {target} = {_float(value)}" for target, value in zip(targets, reduced, strict=True)]
    return "\n".join(lines if len(lines) > 1 else [*lines, "    pass"]) + "\n"


def _float(value: Expr) -> str:
    return repr(float(value)) if value.is_number else _printed(value)


def module_text(equations: Equations) -> str:
    """Return the text of the module for a system's equations under one method, with the stepping loop."""
    e = equations
    linear = all(sympy.diff(row, a, b) == 0 for row in e.velocity for a in e.w for b in e.w)
    constants = {
        "SIZE": len(e.q), "UNKNOWNS": len(e.z), "MOTIONS": e.motions, "VELOCITY_ROWS": len(e.w),
        "LINEAR_VELOCITY": linear, "OBSERVED": len(e.observed), "PROJECTS": e.projects,
        "MULTIPLIER_SCALE": e.multiplier_scale,
    }  # fmt: skip
    state = {"q": e.q, "p": e.p, "c": e.c}
    residual = Matrix(e.residual)
    velocity = Matrix(e.velocity)
    step = state | {"z": e.z}
    motion = {"q": e.q, "v": e.v, "c": e.c}
    of_w = state | {"w": e.w}
    functions = [
        function("set_equations", "q p z h c r A", step, {"r": list(residual), "A": residual.jacobian(e.z)}),
        function("set_end", "q p z r h c y p_end", step | {"r": e.r}, {"y": e.end_q, "p_end": e.end_p}),
        function("set_guess", "q v c z", motion, {"z": e.guess}),
        function("set_velocity_equations", "q p w c r A", of_w, {"r": list(velocity), "A": velocity.jacobian(e.w)}),
        function("set_tangent", "q p w c p_end", of_w, {"p_end": e.tangent_momentum}),
        function("set_momentum", "q v c p", motion, {"p": e.momentum}),
        function("set_observed", "q p v c observed", motion | {"p": e.p}, {"observed": list(e.observed.values())}),
        function("set_first_momenta", "q v h c p p_end", motion, {"p": e.start_p, "p_end": e.second_p}),
        function("set_constraints", "q c g G", motion, {"g": e.constraints, "G": e.constraint_jacobian}),
    ]
    head = '"""Generated by formulations.lagrangian."""\n\nimport math\n'
    values = "\n".join(f"{name} = {value!r}" for name, value in constants.items())
    names = f"NAMES = {e.names!r}\nOBSERVED_NAMES = {tuple(e.observed)!r}\nCONSTRAINTS = {len(e.constraints)}"
    names += f"\nSTARTS_FROM_TWO = {bool(e.start_p)}\nHIDDEN = {e.hidden}"
    match = _IMPORTS.match(_EQUATIONS.sub("", LOOP.read_text(encoding="utf-8")))
    assert match is not None
    imports, loop = match.groups()
    return "\n\n".join([head + "\n" + imports, values, names, *functions, loop])
