"""Rigid contact of all of a body: who falls lies on the floor, and nobody else notices."""

from dataclasses import replace

import numpy as np
import pytest

from biped import InputError, Push, Rigid
from biped.model.ragdoll import body_points
from biped.simulation.collapse import collapse, has_fallen, limp
from contact.modes import NONE
from experiments.catalogue.registry import experiment_named

STEP = 1e-3


def balance(**changes):
    return replace(experiment_named("balance").build(), step=STEP, record_every=STEP, **changes)


def heights(run):
    return run.frame[[f"contact_{name}_z" for name in run.state.model.contact_names]].to_numpy()


def check_lies(run):
    """Nothing is in the floor, bodies are at rest on points that are not soles, and the energy has only gone down."""
    frame = run.frame
    assert heights(run).min() > -1e-9
    assert frame["ledger_kinetic"].iloc[-1] < 1e-3
    down = [name for name in run.state.model.contact_names if frame[f"contact_{name}_mode"].iloc[-1] != NONE]
    assert {point.name for point in body_points(experiment_named("balance").build().model)} & set(down)
    carried = sum(frame[f"contact_{name}_fz"].iloc[-1] for name in run.state.model.contact_names)
    assert carried == pytest.approx(9.81 * run.state.model.total_mass, rel=1e-3)
    assert frame["solver_residual"].max() <= 1e-8
    energy = (frame["ledger_kinetic"] + frame["ledger_potential"]).to_numpy()
    assert np.diff(energy).max() < 1e-9


def test_who_is_left_alone_falls_and_lies_on_the_floor():
    run = balance(integrator=Rigid(touching="body"), controller=None, fall=None, duration=3.0).run()
    check_lies(run)
    assert run.state.model.nc == 8 + len(run.state.model.contact_points[8:]) > 30


def test_nobody_notices_what_is_far_from_the_floor():
    push = Push("trunk", (-1.0, 0.0, 0.0), 10.0, start=0.05, duration=0.1)
    soles, all_over = (
        balance(integrator=Rigid(touching=touching), disturbances=(push,), duration=0.4).run()
        for touching in ("points", "body")
    )
    assert np.abs(soles.state.q - all_over.state.q).max() < 1e-9
    assert (heights(all_over)[:, 8:] > 0.01).all()
    assert all_over.frame["newton_iterations"].max() <= soles.frame["newton_iterations"].max() + 2


def test_a_fall_on_the_rigid_floor_ends_on_it():
    push = Push("trunk", (-1.0, 0.0, 0.0), 25.0, start=0.05, duration=0.1)
    scene = balance(integrator=Rigid(), disturbances=(push,), duration=3.0)
    assert has_fallen(scene.run())
    after = collapse(scene, 2.5)
    assert "solver_complementarity" in after.frame
    assert heights(after).min() > -1e-9
    assert after.frame["ledger_kinetic"].iloc[-1] < 1.0


def test_it_goes_on_limp_from_all_over():
    scene = balance(integrator=Rigid(touching="body"), duration=0.05)
    state = scene.run().state
    assert limp(scene, state, 0.01).run().state.model.contact_names == state.model.contact_names


def test_an_unknown_surface_is_refused():
    with pytest.raises(InputError, match="integrator.touching = 'skin': it must be one of points, body"):
        Rigid(touching="skin")
