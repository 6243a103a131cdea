"""Work against precision: references, grids of step sizes, the cheapest methods, and the command around them."""

import math
import re
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from biped.dynamics import energy, forward_kinematics
from biped.errors import InputError, IntegrationError
from experiments.cli import main
from experiments.timing import Spread
from experiments.work_precision import problems
from experiments.work_precision.case import TREE, Forms, Motion, Problem, Reference, StepSize, chart_start, reference
from experiments.work_precision.step_sizes import (
    MEASURING,
    Budget,
    Comparison,
    Curve,
    Measurement,
    cheapest_lines,
    compare,
    measure,
    ranked_methods,
)
from formulations.lagrangian import double_spherical_pendulum

FEW = Budget(4, 2, 60.0)


def curve(name, scale, order=2, cost=1e-6, count=8, systems=TREE, floor=1e-13):
    """A method whose error is scale·hᵒʳᵈᵉʳ and whose cost is cost/h, exactly."""
    steps = [0.1 / 2**k for k in range(count)]
    made = tuple(
        Measurement(StepSize(h), scale * h**order, 0.0, 1.0, cost=Spread.of([cost / h, 2.0 * cost / h])) for h in steps
    )
    return Curve(name, systems, SimpleNamespace(order=order), floor, made)


class TestCurves:
    def test_the_order_is_the_slope_of_errors_that_tell_one(self):
        made = curve("a", 1.0)
        assert made.order == pytest.approx(2.0)
        assert curve("a", 1.0, order=4).order == pytest.approx(4.0)
        parts = replace(made, measurements=tuple(replace(m, retried=0.5) for m in made.measurements))
        silent = (parts, curve("a", 1e6), curve("a", 1e-12, floor=1e-10), curve("a", 1.0, count=2))
        assert [one.order for one in silent] == [None] * 4

    def test_costs_follow_a_power_law_between_steps(self):
        for error in (1e-3, 3e-5):  # h = √error
            assert curve("a", 1.0).cost_at(error) == pytest.approx(1e-6 / math.sqrt(error))
        assert curve("a", 1.0).cost_at(1e-12) is None
        assert Curve("a", TREE, None, 0.0, ()).cost_at(1.0) is None


def compared(*curves):
    return Comparison(CIRCLE, None, curves)


class TestCheapest:
    def test_one_method_that_is_the_cheapest_everywhere(self):
        lines = cheapest_lines(compared(curve("fast", 1.0), curve("slow", 1.0, cost=3e-6)))
        assert [line[0] for line in lines] == ["1e-02", "1e-03", "1e-04", "1e-05", "1e-06"]
        assert {line[1] for line in lines} == {"fast"}
        assert {line[3:] for line in lines} == {("slow", "3.0")}

    def test_a_higher_order_is_the_cheapest_where_it_is_fine(self):
        lines = cheapest_lines(compared(curve("second", 1.0, cost=1e-6), curve("fourth", 1.0, order=4, cost=5e-6)))
        names = [line[1] for line in lines]
        assert names == sorted(names, reverse=True)  # second first, then fourth
        assert set(names) >= {"second", "fourth"}

    def test_nothing_is_said_of_methods_that_get_nowhere(self):
        assert cheapest_lines(compared()) == []
        assert cheapest_lines(compared(curve("a", 1e9))) == []
        assert ranked_methods(compared(curve("a", 1e9)), 1e-2) == []


@dataclass(frozen=True)
class Spiral:
    """A point on a circle, by methods that are off by hᵒʳᵈᵉʳ; no simulation, and nothing to compile."""

    systems: str = TREE

    @property
    def reference(self):
        places = np.stack([np.cos([0.5, 1.0]), np.sin([0.5, 1.0]), [0.0, 0.0]], axis=1)[:, None, :]
        return Reference(np.zeros((2, 1)), places, np.ones(2), 1e-14)

    def methods(self):
        return {name: SimpleNamespace(order=2) for name in ("good", "failing", "refusing", "broken")}

    def grid(self, method, steps, interval):
        return tuple(StepSize(step) for step in steps)

    def move(self, method, size, duration, samples):
        if method == "refusing":
            raise InputError("it takes no circles")
        if method == "failing" and size.step > 0.03:
            raise IntegrationError("the step has no solution")
        off = np.nan if method == "broken" else size.step**2
        return Motion(self.reference.places + np.array([0.0, 0.0, off]), np.ones(2) + size.step, 1.0)

    def seconds(self, method, size, duration):
        return 1e-3 / size.step


CIRCLE = Problem("circle", "a point goes round", "nobody", "the point", 1.0, 2, 0.1, 6, lambda: Forms((Spiral(),), ()))


@pytest.fixture
def circle(monkeypatch):
    """The only problem there is, and its methods."""
    monkeypatch.setattr(problems, "PROBLEMS", {"circle": CIRCLE, "line": replace(CIRCLE, name="line")})


class TestGrid:
    def test_every_method_is_measured(self):
        done = []
        comparison = compare(CIRCLE, FEW, (), done.append)
        by_name = {curve.method: curve for curve in comparison.curves}
        assert done[-1] == 1.0
        assert done == sorted(done)
        assert sum(part > MEASURING for part in done) > 10  # timings report too
        assert by_name["good"].order == pytest.approx(2.0)
        good = by_name["good"].measurements
        assert [m.error for m in good] == pytest.approx([0.01 / 4**k for k in range(4)])
        assert [m.energy_error for m in good] == pytest.approx([0.1 / 2**k for k in range(4)])
        assert good[0].seconds == pytest.approx(1e-2)
        assert [why for _, why in by_name["failing"].failures] == ["the step has no solution"] * 2
        assert len(by_name["failing"].measurements) == 2
        assert [why for _, why in by_name["broken"].failures] == ["the motion is not finite"] * 4
        assert comparison.refusals == {"refusing": "it takes no circles"}

    def test_a_grid_ends_where_it_takes_too_long(self):
        measured = measure(CIRCLE, Spiral(), "good", None, Budget(None, 1, 0.03))
        assert len(measured.measurements) == 3  # 0.01, 0.02 and 0.04 s
        assert [c.method for c in compare(CIRCLE, FEW, ("go*",), lambda _: None).curves] == ["good"]


class TestCommand:
    def test_it_writes_figures_a_table_and_a_page_that_needs_no_other(self, circle, tmp_path, capsys):
        assert main(["work-precision", "circle", "--out", str(tmp_path), "--quick"]) == 0
        page = (tmp_path / "work-precision.html").read_text(encoding="utf-8")
        resources = re.findall(r"""(?:src|href|srcset|data|action)\s*=\s*["']([^"']*)""", page)
        assert any(link.startswith("data:image/png") for link in resources)
        assert all(link.startswith(("data:image/png;base64,", "#")) for link in resources)
        assert f"biped work-precision circle --out {tmp_path} --quick" in page
        assert "refusing: it takes no circles" in page
        assert "1e-02</td>" in page
        assert re.search(r"1e-02 +good +", capsys.readouterr().out)
        table = pd.read_csv(tmp_path / "work-precision.csv")
        assert set(table["method"]) == {"good", "failing", "broken"}
        assert (tmp_path / "circle.png").stat().st_size > 1000

    def test_ctrl_c_keeps_the_problems_that_are_done(self, circle, tmp_path, monkeypatch):
        def interrupted():
            raise KeyboardInterrupt

        monkeypatch.setitem(problems.PROBLEMS, "line", replace(CIRCLE, name="line", forms=interrupted))
        assert main(["work-precision", "--out", str(tmp_path), "--quick", "--no-figures"]) == 130
        page = (tmp_path / "work-precision.html").read_text(encoding="utf-8")
        assert "Not done: line." in page
        assert '<section id="circle">' in page
        assert not list(tmp_path.glob("*.png"))

    @pytest.mark.parametrize(
        ("arguments", "told"),
        [
            (["cirle"], "unknown problem 'cirle'; the nearest are circle"),
            (["zzz"], "there are circle, line"),
            (["--method", "recursiv"], "unknown method 'recursiv'; the nearest are recursive"),
        ],
    )
    def test_unknown_names_are_told(self, circle, tmp_path, refusal, arguments, told):
        assert told in refusal("work-precision", *arguments, "--out", tmp_path / "new")
        assert not (tmp_path / "new").exists()


class TestReferences:
    def test_a_known_motion(self):
        """A harmonic oscillator: its reference is the sine, to its own estimate of its error and rounding."""
        times = np.linspace(0.5, 5.0, 10)

        def rate(_, state):
            return np.array([state[1], -state[0]])

        def place(state):
            return np.array([[state[0], 0.0, 0.0]])

        truth = reference(rate, np.array([0.0, 1.0]), times, place, lambda state: float(0.5 * state @ state))
        assert np.abs(truth.places[:, 0, 0] - np.sin(times)).max() < 1e-11
        assert truth.error < 1e-9
        np.testing.assert_allclose(truth.energy, 0.5, rtol=1e-11)

    @pytest.mark.parametrize("problem", [problems.FREE_BODY, problems.PENDULUM, problems.CHAIN, problems.FLIGHT])
    def test_references_conserve_energy_and_the_recursive_integrator_converges_to_them(self, problem):
        """The equations of the references share no code with the integrator's."""
        for case in (cases := problem.forms().cases):
            assert case.reference.error < 1e-9
            scale = np.abs(case.reference.energy).max()
            assert np.ptp(case.reference.energy) < 1e-9 * scale
            assert case.reference.places.shape[0] == problem.samples
        tree = cases[0]
        fine = replace(problem, coarsest=problem.coarsest / 8)
        measured = measure(fine, tree, "recursive", tree.methods()["recursive"], FEW)
        assert measured.order == pytest.approx(2.0, abs=0.05)

    @pytest.mark.slow
    def test_the_standing_human_sticks_and_the_recursive_integrator_converges(self):
        (case,) = problems.STANDING.forms().cases
        measured = measure(problems.STANDING, case, "recursive", case.methods()["recursive"], FEW)
        assert measured.order == pytest.approx(2.0, abs=0.05)


class TestPendulum:
    def test_it_starts_as_printed_and_on_its_constraints(self):
        q, v = problems.pendulum_start()
        system = double_spherical_pendulum()
        values = {**dict(zip(system.coordinates, q, strict=True)), **system.parameters}
        assert [float(g.subs(values)) for g in system.constraints] == pytest.approx([0.0, 0.0], abs=1e-12)
        assert q[:2] == pytest.approx([2.820, 0.025])
        assert q[2] < 0.0 > q[5]
        rod, swing = q[3:] - q[:3], v[3:] - v[:3]
        assert [q[:3] @ v[:3], rod @ swing] == pytest.approx([0.0, 0.0], abs=1e-12)

    def test_the_tree_has_the_same_places_and_velocities(self):
        model, state = problems.pendulum_tree()
        q, v = problems.pendulum_start()
        motion = forward_kinematics(model, state.q, state.arrays.cache.rate)
        np.testing.assert_allclose(motion.position.ravel(), q, atol=1e-12)
        np.testing.assert_allclose(motion.velocity.ravel(), v, atol=1e-12)
        point_masses = 0.5 * np.repeat(problems.MASSES, 3) @ v**2
        spin = sum(
            0.2 * m * problems.BALL**2 * w @ w for m, w in zip(problems.MASSES, motion.angular_velocity, strict=True)
        )
        assert energy(model, state.q, state.arrays.cache.rate).kinetic == pytest.approx(point_masses + spin, rel=1e-12)

    def test_generalized_coordinates_start_at_the_same_place(self):
        system = double_spherical_pendulum()
        q, v = problems.pendulum_start()
        s, ds = chart_start(system, q, v)
        (a1, b1, *_), (l1, _) = s, problems.RODS
        assert [l1 * math.sin(a1) * math.cos(b1), l1 * math.sin(b1)] == pytest.approx(q[:2], abs=1e-10)
        assert l1 * math.cos(b1) * ds[1] == pytest.approx(v[1], abs=1e-9)

    def test_a_start_outside_of_the_chart_is_refused(self):
        from formulations.lagrangian import rigid_body

        with pytest.raises(InputError, match="cannot be expressed"):
            chart_start(rigid_body((1.0, 2.0, 3.0)), np.array([-0.6, 0.8, 0.0, 0.0]), np.zeros(4))
