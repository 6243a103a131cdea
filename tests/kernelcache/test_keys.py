"""Influences on a kernel's key, tested with copies of the project that have one edit each."""

import json
import re
import shutil

import numba
import pytest

from kernelcache.keys import key_of

from ..conftest import ROOT, said_by

KEYS = """
import json
from biped import human
from biped.integrators import integrator_named
from biped.kernels.loop import closed_loop
from biped.simulation.scene import Scene
from controllers import WorkspaceController
from controllers.whole_body import WholeBodyController
import numba
from kernelcache import Packed

keys = {}
for controller in (WorkspaceController(), WholeBodyController()):
    for integrator in ("recursive", "rigid"):
        plan = Scene(human(), controller, integrator=integrator_named(integrator)).prepare()
        world, law = plan.world, plan.law
        world.projectile.status[closed_loop.projectiles.ARMED] = 1  # or nobody needs to meet the box
        for function, *arguments in closed_loop._uses(Packed(world), Packed(law)).values():
            types = tuple(map(numba.typeof, arguments))
            name = function._cache.file_name(types, function.targetctx.codegen())
            keys[f"{integrator} {type(law).__name__} {function.py_func.__name__}"] = name
print(json.dumps(keys))
"""


def keys(top):
    """Return the keys of the parts of four closed loops, by integrator, controller and part, in a project's copy."""
    return json.loads(said_by(KEYS, cwd=top, PYTHONPATH=str(top), PYTHONDONTWRITEBYTECODE="1"))


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    top = tmp_path_factory.mktemp("copy")
    for package in ("biped", "contact", "controllers", "kernelcache"):
        shutil.copytree(ROOT / package, top / package, ignore=shutil.ignore_patterns("__pycache__"))
    return top


@pytest.fixture(scope="module")
def before(copy):
    return keys(copy)


def changed_by(copy, before, file, edit):
    """Return the parts whose keys change after an edit of a file, which is undone."""
    path = copy / file
    text = path.read_text(encoding="utf-8")
    try:
        edited = edit(text)
        assert edited != text
        path.write_text(edited, encoding="utf-8")
        after = keys(copy)
    finally:
        path.write_text(text, encoding="utf-8")
    assert after.keys() == before.keys()
    return {name for name in before if after[name] != before[name]}


def with_comments_and_docstrings(text):
    return re.sub(r"(\n    \"\"\"\w)", r"\1 further, ", text).replace("\n\n\n", "\n\n\n# A comment.\n\n\n")


@pytest.mark.parametrize("file", ["contact/vectors.py", "biped/kernels/tree/kinematics.py"])
def test_comments_and_docstrings_are_in_no_key(copy, before, file):
    assert changed_by(copy, before, file, with_comments_and_docstrings) == set()


def test_a_new_file_is_in_no_key(copy, before):
    file = copy / "biped" / "kernels" / "tree" / "another.py"
    file.write_text("from kernelcache import kernel\n\n\n@kernel\ndef another(x):\n    return x\n")
    try:
        assert keys(copy) == before
    finally:
        file.unlink()


def another_constant(name):
    """Write another last number of a function, or of a line with this beginning."""

    def edit(text):
        start = text.index(name)
        place = re.compile(r"\d+\.\d+").search(text, start)
        return text[: place.start()] + "17.125" + text[place.end() :]

    return edit


def test_a_law_is_compiled_by_itself(copy, before):
    changed = changed_by(copy, before, "controllers/kernels/whole_body.py", another_constant("        load = max"))
    assert changed == {"recursive WholeBodyLaw ask", "rigid WholeBodyLaw ask"}


def test_an_integrator_is_compiled_by_itself(copy, before):
    changed = changed_by(copy, before, "biped/integrators/rigid/kernels/newton.py", another_constant("STEADY ="))
    assert changed == {f"rigid {law} advance_world" for law in ("WholeBodyLaw", "WorkspaceLaw")}


def test_what_all_use_is_in_all_keys(copy, before):
    changed = changed_by(copy, before, "kernelcache/parts.py", lambda text: text + "# Another compiler.\n")
    assert changed == set(before)


def test_the_order_of_fields_is_in_the_keys_of_what_has_them(copy, before):
    """Two fields of one type exchange places: Numba's types have equal names."""
    field = "    height: float  # [m] least height of the root above the floor\n"
    other = "    upright: float  # least cosine between the root's vertical axis and the world's\n"
    changed = changed_by(
        copy, before, "biped/kernels/loop/closed_loop.py", lambda text: text.replace(field + other, other + field)
    )
    assert {name.split()[2] for name in changed} == {
        "advance_world", "measure_part", "apply_part", "append_row_to", "meet_box", "take_steps", "ask",
    }  # fmt: skip


def test_options_and_settings_are_in_a_key(monkeypatch):
    def function(x):
        return 1.0 / x

    def key(error_model="numpy"):
        return key_of(function, (numba.types.float64,), [("error_model", error_model)], "a processor")

    assert key() == key()
    assert key("python") != key()
    before = key()
    monkeypatch.setattr(numba.config, "OPT", 1)
    assert key() != before


def test_the_options_of_what_is_called_are_in_a_key():
    def keys_with(error_model):
        @numba.njit(error_model=error_model)
        def inner(x):
            return 1.0 / x

        def outer(x):
            return inner(x)

        return key_of(outer, (numba.types.float64,), [], "a processor")

    assert keys_with("numpy") == keys_with("numpy")
    assert keys_with("numpy") != keys_with("python")
