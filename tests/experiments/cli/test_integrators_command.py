"""``biped integrators``: the table is what the classes say, and what they say of contact is so."""

import pytest

from biped import State, rigid_box, simulate
from biped.errors import InputError
from biped.integrators import INTEGRATORS
from experiments.commands.integrators import COLUMNS, LAGRANGIAN, SYSTEMS, TREES, integrator_rows
from formulations.lagrangian import LAGRANGIAN_METHODS


def test_every_integrator_is_in_the_table_as_its_class_says():
    rows = integrator_rows()
    assert [row["name"] for row in rows] == [*INTEGRATORS, *LAGRANGIAN_METHODS]
    for row in rows:
        integrator = {TREES: INTEGRATORS, LAGRANGIAN: LAGRANGIAN_METHODS}[row[SYSTEMS]][row["name"]]
        assert all(row[heading] == getattr(integrator, attribute) for heading, attribute in COLUMNS.items())
    assert not any(method.takes_contact for method in LAGRANGIAN_METHODS.values())  # they have no contact points


SLOW = "lee-broyden", "lee-riqn", "dop853"


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow if n in SLOW else ()) for n in INTEGRATORS])
def test_what_they_say_of_contact_is_so(name):
    """A box of 10 kg, 5 mm above the floor: it lands and stays, or is refused before the first step."""
    box = rigid_box(10.0, (0.3, 0.4, 0.2))
    start = State.at(box, box.configuration((0.0, 0.0, 0.105)))
    if not INTEGRATORS[name].takes_contact:
        with pytest.raises(InputError, match="does not support contact"):
            simulate(box, state=start, integrator=INTEGRATORS[name], duration=0.01)
        return
    run = simulate(box, state=start, integrator=INTEGRATORS[name], duration=0.4, step=1e-4, record_every=0.01)
    free_fall = 0.105 - 0.5 * 9.81 * 0.4**2
    height = run.frame["body_z"].iloc[-1] if "body_z" in run.frame else run.state.q[2]
    assert height > free_fall + 0.5
    sunk = 0.0 if name == "rigid" else 10.0 * 9.81 / (4 * 75_000.0)
    assert height == pytest.approx(0.1 - sunk, abs=1e-9 if name == "rigid" else 2e-4)
