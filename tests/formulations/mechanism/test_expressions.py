"""S-expressions: grammar of Table II, Listing 1, errors with positions, and conversion back to text."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from biped.errors import InputError
from formulations import mechanism as mech
from formulations.mechanism import rx, ry, rz, tx, ty, tz
from formulations.mechanism.expressions import ExpressionError, parts_of

LISTING = Path(__file__).parents[3] / "examples" / "closed-chain.trep"


def frames(text):
    return parts_of(f"(system {text})").frames


def test_listing_1():
    """Built in Python from figure 6, it is the same."""
    j = ry(
        "J", tz(-0.5, name="I", mass=1), tz(-1.0, ry("H", tz(-1.0, name="G", mass=1), tz(-2.0, name="O2"), name="H")),
        name="J",
    )  # fmt: skip
    k = ry(
        "K", tz(-1.0, name="L", mass=1), tz(-2.0, ry("M", tz(-0.5, name="N", mass=1), tz(-1.0, name="O"), name="M")),
        name="K",
    )  # fmt: skip
    e = ry("E", tz(-0.5, name="F", mass=1), tz(-1.0, name="G2"), name="E")
    c = ry("C", tz(-0.375, name="D", mass=1), tz(-0.75, e), name="C")
    a = ry("A", tz(-1.0, name="B", mass=1), tz(-2.0, c), name="A")
    mechanism = mech.load_mechanism(LISTING)
    assert mechanism.name == "closed-chain"
    assert mechanism.gravity == (0.0, 0.0, -9.81)
    assert list(mechanism.frames) == [j, tx(-1.5, k), tx(1.5, a)]
    assert mechanism.coordinates == ("J", "H", "K", "M", "A", "C", "E")
    assert mechanism.constraints == tuple(
        mech.PointAlong(*points, axis) for points in (("G", "G2"), ("O", "O2")) for axis in ((1, 0, 0), (0, 0, 1))
    )
    masses = [node.frame.mass for node in mech.tree_of(mechanism.frames) if node.frame.mass]
    assert masses == [(1.0, 0.0, 0.0, 0.0)] * 7


@pytest.mark.parametrize(("text", "expected"), [
    ('(TX 0.1 (Name "A") (Mass 2))', tx(0.1, name="A", mass=2.0)),
    ('(rz "q" (mass 1 .1 2e-1 0.3))', rz("q", mass=(1.0, 0.1, 0.2, 0.3))),
    ('(Rx (D "q"))', rx("q")),
    ('(ry (K "q"))', ry(mech.kinematic("q"))),
    ("(tx 0.1 ty 0.2 tz 0.3 (mass 1))", tx(0.1, ty(0.2, tz(0.3, mass=1.0)))),
    ('(tx 0.1 rz "q" (name "A") (ty -1))', tx(0.1, rz("q", ty(-1.0), name="A"))),
    ('(tx +1 (ty 2) (mass 3) (tz 4)) ; a comment (with "this', tx(1.0, ty(2.0), tz(4.0), mass=3.0)),
    (r'(tx 0 (name "a \"b\" \\ c"))', tx(0.0, name='a "b" \\ c')),
])  # fmt: skip
def test_a_frame(text, expected):
    assert frames(f"{text}\n") == [expected]


def test_a_system_of_all_kinds():
    parts = parts_of("""
      (SYSTEM ; either word
        (name "all of them") (Gravity 0 0 -9.81)
        (tx "q" (name "a") (mass 1)) (ty "r" (name "b") (mass 1)) (tz "s" (name "c")) (rz "t") (rx (k "u"))
        (point-constraint "a" "b" 1 0 0)
        (point-constraint "a" "b" (0 1 0) (name "pin"))
        (distance-constraint "a" "c" 2.0)
        (coincident "b" "c" (directions "xz"))
        (screw "t" "s" 0.1) (gear "q" "r" -2 (offset 0.5))
        (linear-spring "a" "world" 3 (length 0.5)) (nonlinear-spring "a" "b" (1 2))
        (coordinate-spring "q" (1 0 3) (rest 0.1))
        (damper "q" 0.1) (torque "r" 2) (spatial-wrench "a" (moment 0 0 1)))""")
    assert (parts.name, parts.gravity) == ("all of them", (0.0, 0.0, -9.81))
    assert parts.constraints == [
        mech.PointAlong("a", "b", (1.0, 0.0, 0.0)), mech.PointAlong("a", "b", (0.0, 1.0, 0.0), "pin"),
        mech.Distance("a", "c", 2.0),
        mech.Coincident("b", "c", "xz"), mech.Screw("t", "s", 0.1), mech.Gear("q", "r", -2.0, 0.5),
    ]  # fmt: skip
    assert parts.potentials == [
        mech.LinearSpring("a", "world", 3.0, 0.5),
        mech.NonlinearSpring("a", "b", (1.0, 2.0)),
        mech.CoordinateSpring("q", (1.0, 0.0, 3.0), 0.1),
    ]
    assert parts.forces == [
        mech.Damper("q", 0.1),
        mech.Torque("r", 2.0),
        mech.SpatialWrench("a", moment=(0.0, 0.0, 1.0)),
    ]
    assert mech.Mechanism(**vars(parts)).kinematic_coordinates == ("u",)
    assert vars(parts_of(mech.mechanism_text(parts))) == vars(parts)


def test_a_system_without_gravity_has_none():
    assert mech.load_mechanism('(system (rx "q" (ty 1 (mass 1))))').gravity is None


WRONG = {
    "nothing": ("", 1, 1, "there is no expression"),
    "a comment": ("; nothing", 1, 1, "there is no expression"),
    "words": ("system", 1, 1, r"an expression begins with '\('; got 'system'"),
    "too many": ("(system\n  (tx 0))\n)", 3, 1, r"a '\)' too many"),
    "only that": (")", 1, 1, "no parenthesis is open here"),
    "more": ("(system (tx 0)) (tx 1)", 1, 17, "text after the end"),
    "open": ("(system (tx 0 (ty 1)", 1, 9, "never closed; 2"),
    "quotes": ('(system\n (tx "q))', 2, 6, "these quotes are never closed"),
    "no system": ("(mechanism (tx 0))", 1, 1, r"a mechanism begins with \(system …\), got \(mechanism …\)"),
    "empty": ("()", 1, 1, r"got \(\)"),
    "transform": ("(system\n (tx 0\n  (tw 1)))", 3, 3, "unknown frame option or transform 'tw'; .* tx, ty, tz, rx"),
    "second transform": ("(system (tx 0 tw 1))", 1, 15, "unknown transform 'tw'; transforms are tx, ty, tz, rx, ry"),
    "expression": ('(system\n  (point-constrain "a" "b" 1 0 0))', 2, 3, "did you mean 'point-constraint'"),
    "no parameter": ("(system (tx))", 1, 9, r"\(tx …\) needs a parameter"),
    "parameter": ("(system (tx q))", 1, 13, 'the parameter of tx is a number, or a variable in quotes: "q"'),
    "mass": ("(system (tx 0 (mass 1 2)))", 1, 15, r"must be m .kg., or .m, Ixx, Iyy, Izz."),
    "negative": ("(system (tx 0 (mass -1)))", 1, 15, "not below zero"),
    "mass text": ('(system (tx 0 (mass "1")))', 1, 21, "needs numbers; got '1'"),
    "gravity": ("(system (gravity 0 9.81) (tx 0))", 1, 9, "gravity"),
    "two gravities": ("(system (gravity 0 0 1) (gravity 0 0 1))", 1, 25, r"a second \(gravity …\)"),
    "two names": ('(system (tx 0 (name "a") (name "b")))', 1, 26, r"a second \(name …\): a frame can have only one"),
    "name": ("(system (tx 0 (name A)))", 1, 15, "needs one name in quotes"),
    "no name": ('(system (tx 0 (name "")))', 1, 15, "needs one name in quotes"),
    "few": ('(system (tx "q" (name "a"))\n (point-constraint "a"))', 2, 2, r"…\): second, direction missing"),
    "many": ('(system (tx "q")\n (damper "q" 1 2))', 2, 2, r"\(damper …\): too many values"),
    "option": ('(system (tx "q")\n (damper "q" (damp 1)))', 2, 2, "option 'damp' is unknown; options are"),
    "no quotes": ('(system (tx "q")\n (damper q 1))', 2, 10, "names and other texts must be in quotes; got q without"),
    "a word": ("(system tx 0)", 1, 9, "a part of the system must be in parentheses; got tx"),
    "a list": ("(system ((tx 0)))", 1, 9, "a part of the system must begin with a word"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_told_with_its_place(case):
    text, line, column, sentence = WRONG[case]
    with pytest.raises(ExpressionError, match=rf"^line {line}, column {column}: .*{sentence}") as caught:
        parts_of(text) if text[:1] in "(;" and text else _from_file(text)
    assert isinstance(caught.value, InputError)
    assert "\n" not in str(caught.value)
    assert (caught.value.line, caught.value.column) == (line, column)


def _from_file(text):
    from formulations.mechanism.expressions.building import build_parts
    from formulations.mechanism.expressions.reading import read_form

    build_parts(read_form(text), "m")


def test_errors_name_the_file(tmp_path):
    file = tmp_path / "arm.trep"
    file.write_text("(system\n (tx))")
    with pytest.raises(ExpressionError, match=r"^arm\.trep, line 2, column 2: "):
        mech.load_mechanism(file)
    with pytest.raises(InputError, match="there is no file '.*none.trep'"):
        mech.load_mechanism(tmp_path / "none.trep")
    (tmp_path / "bytes.trep").write_bytes(b"\xff\xfe(")
    with pytest.raises(InputError, match="cannot be read"):
        mech.load_mechanism(str(tmp_path / "bytes.trep"))


@pytest.mark.parametrize("seed", range(3))
def test_what_is_written_is_read_as_equal(seed, tmp_path):
    rng = np.random.default_rng(seed)
    makers = (tx, ty, tz, rx, ry, rz)
    names = iter(f'n "{i}" \\' for i in range(1000))

    def grow(depth):
        make = makers[rng.integers(6)]
        parameter = [float(rng.normal()), next(names), mech.kinematic(next(names))][rng.integers(3)]
        name = next(names) if rng.random() < 0.5 else None
        mass = [None, float(rng.random()), tuple(rng.random(4))][rng.integers(3)]
        below = (grow(depth - 1) for _ in range(rng.integers(0, 3) if depth else 0))
        return make(parameter, *below, name=name, mass=mass)

    mechanism = mech.Mechanism("drawn", [rz("first", mass=(1, 1, 1, 1)), *(grow(6) for _ in range(4))], None)
    file = tmp_path / "drawn.trep"
    mech.save_mechanism(mechanism, file)
    again = mech.load_mechanism(file)
    assert again.frames == mechanism.frames
    assert (again.name, again.gravity) == ("drawn", None)
    assert mech.mechanism_text(again) == file.read_text()


def test_a_chain_of_a_thousand_links():
    link = tz(-1.0, mass=1.0)
    for i in range(1000):
        link = ry(f"q{i}", tz(-1.0, link, mass=1.0))
    parts = parts_of("(system (tx 0))")
    parts.frames = [link]
    assert parts_of(mech.mechanism_text(parts)).frames == [link]


def test_functions_cannot_be_written():
    mechanism = mech.Mechanism("m", [rz("q", mass=(1, 1, 1, 1))], forces=[mech.Torque("q", np.sin)])
    with pytest.raises(InputError, match="the torque of torque is .* build this mechanism in Python"):
        mech.mechanism_text(mechanism)


def test_a_component_of_ones_own_is_named_by_its_word():
    @dataclass(frozen=True)
    class Magnet(mech.Potential):
        word: ClassVar[str] = "my-magnet"
        pole: mech.FrameName
        along: mech.Vector
        variable: mech.CoordinateName
        strength: float = 1.0

    try:
        text = '(system (tx "q" (name "a") (mass 1)) (my-magnet "a" 0 0 1 "q" (strength 3)))'
        (magnet,) = parts_of(text).potentials
        assert magnet == Magnet("a", (0.0, 0.0, 1.0), "q", 3.0)
        assert parts_of(mech.mechanism_text(parts_of(text))).potentials == [magnet]
    finally:
        del mech.COMPONENTS["my-magnet"]
