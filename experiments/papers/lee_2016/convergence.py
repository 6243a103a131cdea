"""Figure 4 (a): error of one step over the iterations."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from biped.disturbances import compile_ground
from biped.integrators.lee.kernels.dense_newton import new_column_newton
from biped.integrators.lee.kernels.quasi_newton import Riqn, set_correction
from biped.integrators.lee.kernels.screw_body import ScrewBody
from biped.kernels.state.pushes import new_pushes
from biped.kernels.step.step import prepare
from biped.kernels.variational.equations import displace, new_scratch
from biped.kernels.variational.newton import evaluate
from biped.model import Model
from contact import RUBBER
from contact.arrays import Floats
from experiments.papers.criteria import stated, when
from experiments.papers.item import Finding, Outcome, Progress
from experiments.papers.lee_2016.runs import ASSUMPTIONS, STEP, lee_chain, random_start
from experiments.visualization.look import style
from experiments.visualization.look.writing import styled

BODIES, QUICK_BODIES = 50, 10
MOST = 40


class Search:
    """Search for the configuration at the end of one time step, iteration by iteration."""

    def __init__(self, model: Model, finder: Any, guess: Floats) -> None:
        self.model, self.finder = model, finder
        self.arrays = random_start(model).arrays
        self.scratch, self.pushes = new_scratch(model.n, model.nq, model.nv, 0), new_pushes(0)
        prepare(model.tree, self.arrays, self.scratch)
        self.scratch.shift[:] = 0.0
        self.scratch.q[:] = guess
        self.iteration = 0
        self.ground = compile_ground(RUBBER, model)

    def error(self) -> float:
        """Return the norm of the residual at the candidate [N·s]."""
        return float(evaluate(ScrewBody(), self.model.tree, self.ground, self.arrays, self.pushes, self.scratch, STEP))

    def correct(self) -> None:
        tree, scratch = self.model.tree, self.scratch
        set_correction(self.finder, tree, self.ground, self.arrays, scratch, ScrewBody(), STEP, self.iteration)
        displace(tree, scratch.next, scratch.q, scratch.shift, 1.0, scratch.delta, scratch.q, scratch.shift)
        self.iteration += 1

    def errors(self) -> list[float]:
        errors = [self.error()]
        while len(errors) <= MOST and np.isfinite(errors[-1]):
            self.correct()
            errors.append(self.error())
            if errors[-1] < 1e-6 and errors[-1] > 0.3 * errors[-2]:
                break
        return errors


def produce(quick: bool, progress: Progress) -> Outcome:
    model = lee_chain(QUICK_BODIES if quick else BODIES)
    finders = {"Newton": new_column_newton(model.n, model.nv), "RIQN": Riqn()}
    guesses = {"zero": model.neutral(), "current (IG1)": random_start(model).q.copy()}
    errors: dict[tuple[str, str], list[float]] = {}
    for guess, q in guesses.items():
        for name, finder in finders.items():
            errors[guess, name] = Search(model, finder, q).errors()
            progress(len(errors) / 4)
    table = pd.DataFrame({f"{name}, {guess} [N·s]": pd.Series(norms) for (guess, name), norms in errors.items()})
    table.insert(0, "iteration", range(len(table)))
    return Outcome(_findings(errors), _assumptions(model.n), {"Errors": table}, {"convergence": _draw(errors)})


def _assumptions(bodies: int) -> tuple[str, ...]:
    return (
        *ASSUMPTIONS,
        f"one time step of 1 ms of {bodies} bodies from the random state, with gravity; the error is the norm of e",
        "the paper's first guess is the zero configuration, the authors' program's is the current one: both are shown",
    )


_FAR = (
    "the solution is far from zero here, with joint angles up to π/2: Newton's method, without a line search, goes "
    "astray before it is near enough to converge quadratically; the configuration of the paper's chain is not known"
)


def reached(errors: list[float], level: float) -> float:
    """Return the first iteration with an error of at most ``level``; infinity if no error is."""
    return next((float(k) for k, error in enumerate(errors) if error <= level), float("inf"))


def order(errors: list[float]) -> float:
    """Return log(e_{k+1}/e_k) / log(e_k/e_{k−1}) at the last errors above rounding; NaN with fewer than three."""
    clean = [error for error in errors if 1e-7 < error < np.inf]
    steps = np.diff(np.log(clean))
    return float(steps[-1] / steps[-2]) if len(steps) > 1 else float("nan")


def _findings(errors: dict[tuple[str, str], list[float]]) -> tuple[Finding, ...]:
    findings = []
    for guess in ("zero", "current (IG1)"):
        newton, riqn = errors[guess, "Newton"], errors[guess, "RIQN"]
        counts = reached(newton, 1e-6), reached(riqn, 1e-6)
        agrees = counts[0] < counts[1] < np.inf
        findings.append(
            stated(f"iterations to 1e-6 N·s from the {guess} configuration, Newton and RIQN",
                   "RIQN converges more slowly than Newton's method", f"{counts[0]:g} and {counts[1]:g}",
                   when("RIQN converges, in more iterations", agrees), why=_FAR)
        )  # fmt: skip
    last = order(errors["current (IG1)", "Newton"]), order(errors["current (IG1)", "RIQN"])
    findings.append(_order("Newton", "quadratic", last[0], "above 1.5", last[0] > 1.5))
    findings.append(_order("RIQN", "less than quadratic", last[1], "1 ± 0.3", abs(last[1] - 1) < 0.3))
    return tuple(findings)


def _order(method: str, published: str, value: float, criterion: str, agrees: bool) -> Finding:
    """State the order of convergence; the finding differs if too few errors are above rounding."""
    known = bool(np.isfinite(value))
    ours = value if known else "none"
    note = "" if known else "fewer than three iterations have an error above rounding, or the error is not finite"
    return stated(f"order of the last iteration, {method}", published, ours, when(criterion, known and agrees), note)


def _draw(errors: dict[tuple[str, str], list[float]]) -> Figure:
    with styled():
        figure = Figure(figsize=style.SIZE)
        colors = {"Newton": style.RED, "RIQN": style.BLUE}
        for axes, guess in zip(figure.subplots(1, 2, sharey=True), ("zero", "current (IG1)"), strict=True):
            for name, color in colors.items():
                axes.semilogy(errors[guess, name], "o-", color=color, ms=3.5, label=name)
            axes.set_title(f"From the {guess} configuration")
            axes.set_xlabel("iteration")
            axes.legend()
        figure.axes[0].set_ylabel("norm of the residual [N·s]")
    return figure
