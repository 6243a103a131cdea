"""The short versions of what is recomputed of Brüdigam et al. 2024, but for times, which hang on a machine."""

import math

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import solve_ivp

from biped import IntegrationError, LeeRiqn, Recursive
from experiments.papers.bruedigam_2024 import PAPER, linkage, rehabilitation, spheres, tolerances
from experiments.papers.bruedigam_2024.cost import (
    UnflooredRiqn,
    in_minimal,
    loops_in_mujoco,
    loops_of_ours,
    pendulum_tree,
)
from experiments.papers.bruedigam_2024.drift import in_plane, pins_open
from experiments.papers.bruedigam_2024.energy import (
    cubes,
    double_energy,
    double_rates,
    euler,
    heun,
    single_energy,
    single_rates,
    stepped,
)
from experiments.papers.bruedigam_2024.graphs import depth_first, difference, grid, system_on
from experiments.papers.bruedigam_2024.linkage import Run, _findings, exact, ggl_linkage, ggl_motion, passages
from experiments.papers.bruedigam_2024.scaling import START, period, rod, small_period
from formulations.assembly import from_model
from formulations.assembly.examples import n_four_bar, pendulum, three_link_loop

#: Items of times alone, and those without statements.
APART, LISTS = ("figure-8a", "figure-8b", "figure-9a", "figure-9b", "figure-9c", "figure-9d"), ("misprints",)
#: How statements of times begin.
TIMES = ("power of", "a step of ours")
#: Statements that need not hold of ours, by item, with what the note of each says.
DIFFERING = {
    "figure-7d": ["the last free step ends"],
    "figure-10": ["which rounding leaves", "hundred links", "the opposite"],
    "figure-11": ["period of small swings", "displacements of the step before"],
    "figure-12": ["a step that does not converge", "uncompiled Matlab"],
    "figure-14": ["the program's sign"],
}


def test_every_statement_agrees_but_those_that_are_known_not_to(outcomes):
    for name, outcome in outcomes.items():
        assert outcome.tables
        assert bool(outcome.findings) is (name not in LISTS)
        notes = [found.note for found in outcome.findings if not (found.agrees or found.quantity.startswith(TIMES))]
        assert [note for note in notes if not any(part in note for part in DIFFERING.get(name, []))] == []


def test_the_names_of_items_are_those_of_figures():
    names = [item.name for item in PAPER.items]
    assert names == [
        "figure-7a", "figure-7b", "figure-7c", "figure-7d", "figure-8a", "figure-8b", "figure-9a", "figure-9b",
        "figure-9c", "figure-9d", "figure-10", "figure-11", "figure-12", "figure-13", "figure-14", "misprints",
    ]  # fmt: skip


def test_spheres_that_fall_on_a_floor_stay_above_it():
    """Figure 8b's chain: five of ours land and lie there."""
    depths, ended = spheres.depths(5, 300)
    assert depths.max() < 1e-9
    assert ended is None


def test_mujoco_s_chain_of_spheres_starts_where_ours_does():
    mujoco = pytest.importorskip("mujoco")
    engine = mujoco.MjModel.from_xml_string(spheres.mjcf(4))
    data = mujoco.MjData(engine)
    mujoco.mj_kinematics(engine, data)
    _, start = spheres.chain(4)
    assert_allclose(data.geom_xpos[1:], start.position, atol=1e-12)


def test_the_double_pendulum_s_equations_keep_its_energy():
    """Heun's method at a small step: an error of second order, which a wrong term would not leave."""
    start = (1.0, 2.0, 0.5, -0.7)
    lost = []
    for step in (1e-3, 5e-4):
        energy = double_energy(stepped(heun, double_rates, start, step, round(0.5 / step)))
        lost.append(abs(energy[-1] - energy[0]))
    assert lost[1] < 0.3 * lost[0] < 1e-4


def test_pendulums_in_equations_are_those_of_bodies():
    assembly = cubes(2)
    start = assembly.place({"joint_1": 0.4, "joint_2": 0.7}, rates={"joint_1": 1.0, "joint_2": -0.5})
    energy = assembly.simulate(0.01, 0.01, start).frame["energy"].iloc[0]
    assert_allclose(double_energy(np.array([[0.4, 1.1, 1.0, 0.5]])), energy, atol=1e-12)
    one = cubes(1)
    energy = one.simulate(0.01, 0.01, one.place({"joint_1": 0.4}, rates={"joint_1": 1.0})).frame["energy"].iloc[0]
    assert_allclose(single_energy(np.array([[0.4, 1.0]])), energy, atol=1e-12)


def test_euler_s_method_is_of_first_order():
    ends = [stepped(euler, single_rates(0.5), (1.0, 0.0), h, round(1.0 / h))[-1, 0] for h in (4e-3, 2e-3, 1e-3)]
    assert_allclose((ends[0] - ends[1]) / (ends[1] - ends[2]), 2.0, atol=0.1)


def test_methods_end_where_the_motion_has_no_bounds():
    assert len(stepped(euler, lambda state: (1e3 * state[0],), (1.0,), 1.0, 100)) < 5


def test_the_loop_in_the_plane_is_that_of_the_assembly():
    assembly, start = three_link_loop()
    linkage, q = in_plane(assembly, start)
    assert linkage.openness(q) < 1e-12
    assert np.linalg.matrix_rank(linkage.gradient(q)) == 8 == len(q) - 1
    step = 1e-4
    moved = assembly.simulate(step, step, start).position("coupler")[-1, 1:] - start.position[1, 1:]
    assert_allclose(2.0 * moved / step**2, linkage.accelerations(q, np.zeros(9))[3:5], rtol=1e-4)


def test_accelerations_keep_the_rates_of_gaps():
    """Second differences of the gaps along a motion with any rates are zero, if its rates keep them closed."""
    linkage, q = in_plane(*three_link_loop())
    v = np.linalg.svd(linkage.gradient(q))[2][-1]
    a, h = linkage.accelerations(q, v), 1e-4
    gaps = [linkage.gaps(q + v * t + 0.5 * a * t * t) for t in (-h, 0.0, h)]
    assert np.abs(gaps[0] - 2.0 * gaps[1] + gaps[2]).max() / h**2 < 1e-5
    free = [linkage.gaps(q + v * t) for t in (-h, 0.0, h)]
    assert np.abs(free[0] - 2.0 * free[1] + free[2]).max() / h**2 > 0.1


def test_the_loop_s_opponent_drifts_with_the_fourth_power_of_the_step():
    linkage, q = in_plane(*three_link_loop())
    coarse, fine = (pins_open(linkage, q, h, round(0.5 / h))[-1] for h in (0.01, 0.005))
    assert 12.0 < coarse / fine < 20.0


@pytest.mark.parametrize(("lengths", "links", "loops"), [((5, 2), 13, 4), ((4, 4), 24, 9), ((3, 3, 3), 54, 28)])
def test_grids_have_as_many_links_and_loops_as_ladders_nets_and_crystals(lengths, links, loops):
    pairs = grid(*lengths)
    assert len(set(pairs)) == len(pairs) == links
    assert links - math.prod(lengths) + 1 == loops


@pytest.mark.parametrize("lengths", [(1,), (5, 2), (4, 4), (3, 3, 3)])
def test_systems_on_grids_are_solved_as_their_dense_matrices(lengths):
    nodes = math.prod(lengths)
    case = system_on(nodes, grid(*lengths), np.random.default_rng(2))
    blocks = np.abs(case.dense.reshape(nodes, 6, nodes, 6)).max(axis=(1, 3)) > 0.0
    assert sorted(zip(*np.nonzero(np.triu(blocks, 1)), strict=True)) == sorted(case.pairs)
    assert difference(case) < 1e-13


def test_depth_first_order_fills_in_along_a_loop_once():
    loop = [(k, (k + 1) % 7) for k in range(7)]
    assert sorted(depth_first(7, loop)) == list(range(7))
    case = system_on(7, loop, np.random.default_rng(3))
    assert len(case.graph.other) - len(loop) == 7 - 3
    assert difference(case) < 1e-13


def test_the_period_of_a_rod_is_that_of_its_equation():
    """3 g/(2 l) sin θ for the angle's acceleration, until it is at rest on the other side."""
    rates = lambda _, y: (y[1], -1.5 * 9.81 / 0.25 * math.sin(y[0]))  # noqa: E731
    at_rest = lambda _, y: y[1]  # noqa: E731
    at_rest.direction = 1.0
    swing = solve_ivp(rates, (0.0, 2.0), [START, 0.0], "DOP853", rtol=1e-12, atol=1e-12, events=at_rest)
    assert_allclose(swing.t_events[0][0], 0.5 * period(0.5), rtol=1e-9)
    assert_allclose(period(0.5) / small_period(0.5), 1.18034, rtol=1e-5)


def test_a_rod_s_inertia_about_its_joint_is_that_of_the_paper():
    assembly = rod(0.5)
    start = assembly.place({"hinge": 0.0}, rates={"hinge": 2.0})
    kinetic = assembly.simulate(0.01, 0.01, start).frame["kinetic_energy"].iloc[0]
    assert_allclose(kinetic, 0.5 * (0.5 * 0.25**2 / 3.0) * 4.0, rtol=1e-12)


def test_the_linkage_is_where_other_programs_have_it():
    """Exudyn's example of the benchmark, converging as Δt²: the first bar's tip 10 s from the start."""
    coarse, fine = np.array([0.3284552113, 0.9445195467]), np.array([0.3284573768, 0.9445187937])
    angle = float(exact(np.array([0.0, 10.0]))[-1])
    assert_allclose([math.sin(angle), math.cos(angle)], fine + (fine - coarse) / 3.0, atol=2e-8)


def test_passages_are_where_bars_are_level():
    assert passages(np.array([0.0, 1.5, 1.6, 3.0, 4.6, 4.8])) == 2
    assert passages(np.array([-0.1, -1.6, -1.5])) == 2


def test_both_models_of_the_linkage_are_the_same():
    """Energies where they start, and a motion of second order from there."""
    assembly, start = n_four_bar(2)
    first = assembly.simulate(0.01, 0.01, start).frame.iloc[0]
    linkage = ggl_linkage(2)
    kinetic, potential = linkage.energy(linkage.position, linkage.mass * linkage.velocity)
    assert_allclose([first["kinetic_energy"], first["potential_energy"]], [kinetic, potential], atol=1e-12)
    assert_allclose([kinetic, potential], [1.5, 3.5 * 9.81], atol=1e-12)
    assert np.abs(linkage.constraints(linkage.position)).max() == 0.0
    assert np.abs(linkage.gradient(linkage.position) @ linkage.velocity).max() == 0.0


def test_the_opponent_converges_to_the_exact_motion_with_its_constraints_kept():
    """Of first order in general, and of second order from where nothing pulls, as here."""
    linkage = ggl_linkage(2)
    off = []
    for h in (4e-3, 2e-3):
        positions, momenta, unconverged = ggl_motion(linkage, h, round(0.4 / h))
        assert unconverged == 0
        off.append(math.atan2(*positions[-1, 2:4]) - float(exact(np.array([0.0, 0.4]))[-1]))
        for q, p in zip(positions, momenta, strict=True):
            assert np.abs(linkage.constraints(q)).max() < 1e-9
            assert np.abs(linkage.gradient(q) @ (p / linkage.mass)).max() < 0.1 * h
    assert_allclose(off[0] / off[1], 4.0, atol=0.1)


def ggl_run(error, astray, until=10.0, unconverged=0):
    """A made-up run of the linkage: its energy error and angle grow from the middle on, by so much."""
    time = np.linspace(0.0, until, 1001)
    late = np.maximum(time / until - 0.5, 0.0)
    angle = exact(time) + 1e-3 * time + astray * late
    return Run(time, angle, 50.0 + 0.1 * np.sin(time) + error * late, 0.0 * time, 1e-13 + 0.0 * time, 1.0, unconverged)


@pytest.mark.parametrize(("error", "astray"), [(9.0, 9.0), (0.0, 9.0), (9.0, 0.0)])
def test_an_opponent_that_keeps_its_energy_or_its_way_differs(error, astray):
    own, other, strict = ggl_run(0.0, 0.0), ggl_run(error, astray, unconverged=2), ggl_run(0.0, 0.0, 5.0, 1)
    found = _findings(own, other, strict, (own, own), exact(own.time))
    energy, angle = (next(f for f in found if f.quantity.startswith(b)) for b in ("mean energy", "angle of the GGL"))
    assert (energy.agrees, angle.agrees) == (error > 0.0, astray > 0.0)
    assert "2 of its steps do not converge" in angle.note
    assert "ends at 5 s" in angle.note


def test_a_step_that_does_not_converge_ends_the_motion_unless_it_is_accepted(monkeypatch):
    monkeypatch.setattr(linkage, "CORRECTIONS", 1)
    of = ggl_linkage(2)
    ended, accepted = (ggl_motion(of, 0.01, 5, accept=accept) for accept in (False, True))
    assert (len(ended[0]), ended[2]) == (1, 1)
    assert (len(accepted[0]), accepted[2]) == (6, 5)


def test_the_arm_lies_in_the_exoskeleton():
    """Shoulders and elbows of both at one place, and attachments at rest, but for the program's lower one."""
    assembly, start = rehabilitation.exoskeleton(rehabilitation.HIGH, spastic=False)
    assert max(assembly.openness(start).values()) < 1e-12
    first = assembly.simulate(0.001, 0.001, start).frame.iloc[0]
    attached = [name for name in first.index if name.startswith(("position_", "angle_")) and "attachment" in name]
    assert len(attached) == 6
    assert_allclose(first[attached].to_numpy(dtype=float), 0.0, atol=1e-12)
    other, start = rehabilitation.exoskeleton(rehabilitation.HIGH, spastic=False, lower_point=rehabilitation.PROGRAM)
    first = other.simulate(0.001, 0.001, start).frame.iloc[0]
    stretched = math.hypot(first["position_lower_attachment_slide_1"], first["position_lower_attachment_slide_2"])
    assert_allclose(stretched, rehabilitation.FITTING[1] - rehabilitation.PROGRAM[1], rtol=1e-12)


def test_torques_of_the_exoskeleton_converge_with_the_step():
    greatest = [
        np.abs(
            rehabilitation.elbow_torque(
                rehabilitation.rehabilitated(rehabilitation.HIGH, spastic=True, step=step), rehabilitation.HIGH
            )
        ).max()
        for step in (2e-3, 1e-3, 5e-4)
    ]
    assert abs(greatest[2] - greatest[1]) < abs(greatest[1] - greatest[0]) < 0.01 * greatest[2]


@pytest.mark.parametrize("kind", ["revolute", "spherical"])
def test_pendulums_in_minimal_coordinates_are_those_in_maximal_ones(kind):
    tree, assembly = from_model(pendulum_tree(3, kind)), pendulum(3, kind=kind)
    for one, other in zip(tree.bodies, assembly.bodies, strict=True):
        assert one.name == other.name
        assert_allclose([one.mass, *np.ravel(one.inertia)], [other.mass, *np.ravel(other.inertia)], rtol=1e-14)
    angles = (
        {"joint_1": 0.4, "joint_2": 0.3} if kind == "revolute" else {"joint_1": (0.4, 0, 0), "joint_2": (0, 0.3, 0)}
    )
    placed = [each.place(angles) for each in (tree, assembly)]
    assert_allclose(placed[0].position, placed[1].position, atol=1e-14)
    assert_allclose(placed[0].orientation, placed[1].orientation, atol=1e-14)


def test_the_pendulum_of_figure_10_moves_alike_in_both_coordinates():
    run = in_minimal(Recursive(tolerance=1e-12), 5, 100)
    motion = tolerances.in_maximal(1e-10, 5, 100)
    angles = run.frame[list(run.state.model.coordinate_names)].iloc[-1].to_numpy(dtype=float)
    assert_allclose(motion.frame[[f"angle_joint_{k}" for k in range(1, 6)]].iloc[-1], angles, atol=1e-8)


def test_the_search_without_a_floor_is_the_other_but_for_when_it_ends():
    """Where the tolerance is more than rounding: the same run, bit for bit. Where it is less: no step."""
    given = {"max_iterations": tolerances.MOST, "max_halvings": 0}
    runs = [in_minimal(kind(tolerance=1e-8, **given), 5, 50).frame for kind in (LeeRiqn, UnflooredRiqn)]
    assert_array_equal(*(run.to_numpy(dtype=float) for run in runs))
    assert len(in_minimal(LeeRiqn(tolerance=1e-18, **given), 5, 2).frame) == 2
    with pytest.raises(IntegrationError, match="does not converge"):
        in_minimal(UnflooredRiqn(tolerance=1e-18, **given), 5, 2)


def runs_of_figure_10(unfloored, floored="complete"):
    """A table of its runs: two tolerances of two pendulums, and what each of them ended as without a floor."""
    rows = [
        {"tolerance [N]": tolerance, "links": links, "method": method, "ended": ended}
        for (tolerance, links), ended in zip([(1e-6, 10), (1e-6, 100), (1e-8, 10), (1e-8, 100)], unfloored, strict=True)
        for method, ended in ((tolerances.UNFLOORED, ended), ("recursive", floored))
    ]
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("unfloored", "agrees"),
    [("as fail as fail", True), ("as as as as", False), ("fail as as as", False), ("as fail as as", False),
     ("fail fail fail fail", False)],
)  # fmt: skip
def test_failures_agree_where_they_grow_with_links_and_smaller_tolerances(unfloored, agrees):
    ended = [{"as": "complete"}.get(word, word) for word in unfloored.split()]
    plain, floored = tolerances._failed(runs_of_figure_10(ended))
    assert (plain.agrees, floored.agrees) == (agrees, False)
    assert tolerances._failed(runs_of_figure_10(ended, "fail"))[1].agrees


def test_mujoco_s_loops_begin_as_ours():
    pytest.importorskip("mujoco")
    step, first = 1e-3, loops_of_ours(2, 1e-3, 1)
    closed, opened = (loops_in_mujoco(2, step, 300, method="RK4", closed=closed) for closed in (True, False))
    for begun in (closed, opened):
        assert begun.kinetic[0] == 0.0
        assert_allclose(begun.total[0], first.total[0], atol=1e-12)
    assert opened.range < 1e-9
    assert closed.range > 1e-6


def chain_table(ends, mujoco_ends):
    """A table of figure 8b's chains of 5, 44 and 60 spheres, and when their runs end [s]."""
    return pd.DataFrame({
        "spheres": [5, 44, 60], "violation [m]": 0.0, "MuJoCo's violation [m]": 0.2, "in 500 steps [m]": 0.1,
        "ends at [s]": ends, "MuJoCo's ends at [s]": mujoco_ends,
    })  # fmt: skip


def test_chains_are_counted_at_the_printed_steps_and_at_the_program_s():
    """As printed: all of ours, MuJoCo's up to 44 and none beyond; and one that ends after the program's last step."""
    pytest.importorskip("mujoco")
    nan = math.nan
    printed = spheres.violations(chain_table([nan] * 3, [nan, nan, 2.0]))
    assert all(found.agrees for found in printed)
    late = spheres.violations(chain_table([nan, nan, 7.0], [nan, 7.0, nan]))
    assert [found.agrees for found in late] == [True, False, True, False, False]
    assert late[1].ours == "2 of 3"
    assert late[1].note.startswith("3 in the 500 steps")
