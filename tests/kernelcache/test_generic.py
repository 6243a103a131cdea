"""Kernels chosen by the type of an argument: the same choice compiled and interpreted."""

from typing import NamedTuple

import numpy as np
import pytest

from kernelcache import Nothing, generic, kernel, optional, routine


class Circle(NamedTuple):
    radius: float


class Square(NamedTuple):
    side: float


class Point(NamedTuple):
    pass


@generic("shape")
def area(factor, shape):
    """factor times the area of a shape."""


@area.register(Circle)
def circle_area(factor, shape):
    return factor * 3.0 * shape.radius**2


@area.register(Square)
def square_area(factor, shape):
    return factor * shape.side**2


@area.register(Point)
def point_area(factor, _shape):
    return 0.0 * factor


@kernel
def doubled(shape):
    return area(2.0, shape)


@routine
def compiled(shape):
    return doubled(shape)


@pytest.mark.jit_off
@pytest.mark.parametrize(("shape", "expected"), [(Circle(2.0), 24.0), (Square(3.0), 18.0), (Point(), 0.0)])
def test_each_class_gets_its_own_implementation(shape, expected):
    assert area(2.0, shape) == expected  # interpreted
    assert compiled(shape) == expected


def test_a_class_without_an_implementation_is_refused():
    class Triangle(NamedTuple):
        base: float

    with pytest.raises(TypeError, match="area: no kernel for shape of class Triangle"):
        area(1.0, Triangle(1.0))


def test_an_implementation_can_be_called_by_its_own_name():
    assert circle_area(1.0, Circle(1.0)) == 3.0


@optional("shape", Circle)
def note_radius(seen, shape):
    seen[0] = shape.radius


@optional("shape", Circle, True)
def is_small(shape):
    return shape.radius < 1.0


@optional("shape", Circle, lambda area, *_: area)
def with_circle(area, factor, shape):
    return area + factor * 3.0 * shape.radius**2


@routine
def with_small_circle(area, shape, seen):
    note_radius(seen, shape)
    return with_circle(area, 2.0, shape) if is_small(shape) else 0.0


@pytest.mark.jit_off
@pytest.mark.parametrize(("shape", "expected"), [(Circle(0.5), 2.5), (Circle(2.0), 0.0), (Nothing(), 1.0)])
def test_where_there_is_nothing_a_kernel_is_a_constant_or_an_argument(shape, expected):
    seen = np.zeros(1)
    assert with_small_circle(1.0, shape, seen) == expected
    assert seen[0] == (shape.radius if isinstance(shape, Circle) else 0.0)


def test_arguments_by_keyword_are_not_taken():
    with pytest.raises(TypeError):
        area(factor=1.0, shape=Circle(1.0))
