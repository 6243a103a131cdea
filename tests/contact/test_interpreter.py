"""A compiler runs undisturbed: no garbage is looked for, and no stack is mapped again and again."""

import gc
import resource
import sys
import weakref

import pytest
from kernelcache.interpreter import undisturbed

from kernelcache import interpreter


class Kept:
    """What garbage is looked for among."""


def made(seen):
    seen += [gc.isenabled()]
    return [Kept() for _ in range(10)]


@pytest.fixture
def enabled(monkeypatch):
    """Whatever the tests before have left, and though their process is swept."""
    monkeypatch.setattr(interpreter, "_is_swept", False)
    monkeypatch.setattr(interpreter, "_new", 0)
    before = gc.isenabled()
    gc.enable()
    yield
    (gc.enable if before else gc.disable)()


@pytest.mark.usefixtures("enabled")
def test_no_garbage_is_looked_for_meanwhile_nor_among_what_is_new_at_its_end():
    seen = []
    found = undisturbed(made, seen)
    assert seen == [False]
    assert gc.isenabled()
    young = {id(one) for one in gc.get_objects(generation=0)}
    assert not young & set(map(id, found))
    with pytest.raises(ZeroDivisionError):
        undisturbed(divmod, 1, 0)
    assert gc.isenabled()


@pytest.mark.usefixtures("enabled")
def test_who_looks_for_no_garbage_is_not_made_to_nor_what_is_frozen_thawed():
    gc.disable()
    undisturbed(made, [])
    assert not gc.isenabled()
    gc.enable()
    gc.freeze()
    try:
        undisturbed(made, [])
        assert gc.get_freeze_count() > 0
        assert gc.isenabled()
    finally:
        gc.unfreeze()


@pytest.mark.usefixtures("enabled")
def test_after_many_new_objects_garbage_is_looked_for(monkeypatch):
    monkeypatch.setattr(interpreter, "MANY", 1000)

    class Circle:
        def __init__(self):
            self.itself = self

    def circle(others):
        kept = [Kept() for _ in range(others)]
        return weakref.ref(Circle()), kept

    garbage, _few = undisturbed(circle, 100)
    assert garbage() is not None
    undisturbed(circle, 2000)
    assert garbage() is None


@pytest.mark.usefixtures("enabled")
def test_a_process_that_has_others_compile_is_swept(monkeypatch):
    monkeypatch.setattr(interpreter, "_is_swept", True)
    seen = []
    undisturbed(made, seen)
    assert seen == [True]


@pytest.mark.skipif(sys.platform != "linux", reason="pages are counted as Linux counts them")
def test_calls_from_anywhere_on_the_stack_map_no_memory():
    """Where a call crosses the end of a piece of the stack, each of a thousand maps a page, without room."""

    def leaf(a, b, c, d):
        return a, b, c, d

    def mapped(depth):
        if depth:
            return mapped(depth - 1)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for _ in range(1000):
            leaf(1, 2, 3, 4)
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

    assert max(undisturbed(mapped, depth) for depth in range(300)) < 500
