import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest

from biped.errors import InputError
from biped.integrators import INTEGRATORS, Recursive, settings_of
from biped.records import Preparation
from experiments.catalogue.parameters.disturbances import idle, switches
from experiments.catalogue.parameters.parameter import Parameter, parameter_named, shown
from experiments.catalogue.registry import MODULES, all_experiments, experiment_named
from experiments.studies.config import read_config
from experiments.studies.sweep.sweep import sweep_from

EXAMPLES = Path(__file__).parents[3] / "examples"
NUMBER = Parameter("floor.mu_s", 0.3, "", "friction", "x")
WHOLE = Parameter("integrator.max_iterations", 30, "", "iterations", "x")
TRIPLE = Parameter("controller.kp", (50.0, 50.0, 200.0), "1/s²", "gain", "x", repeats=True)
PLACE = Parameter("block.position", (0.5, 0.1, 1.2), "m", "place", "x")
WORD = Parameter("integrator.name", "recursive", "", "name", "x")
IMPULSE = Parameter("push.impulse", 0.0, "N·s", "", "")
DELAY = Parameter("sensors.delay", 0.0, "s", "", "")
ANGLE = Parameter("push.azimuth", 0.0, "rad", "direction", "x")
ANGLES = Parameter("law.lean", (0.0, 0.0), "rad", "angles", "x")
RATE = Parameter("sensors.noise", 0.0, "rad/s", "noise", "x")
TURN_OR_SHIFT = Parameter("platform.size", 0.02, "m, rad", "size", "x")
DEPTH = Parameter("integrator.landing_depth", 1e-4, "m", "depth", "x", may_be_infinite=True)


@pytest.mark.parametrize(
    ("parameter", "text", "value"),
    [
        (NUMBER, "0.5", 0.5),
        (NUMBER, " 1e-3 ", 1e-3),
        (NUMBER, "1", 1.0),
        (WHOLE, "12", 12),
        (WHOLE, str(2**63 + 1), 2**63 + 1),
        (TRIPLE, "50", (50.0, 50.0, 50.0)),
        (TRIPLE, "1, 2,3", (1.0, 2.0, 3.0)),
        (TRIPLE, "(1,2,3)", (1.0, 2.0, 3.0)),
        (PLACE, "0,0,-1", (0.0, 0.0, -1.0)),
        (WORD, " recursive ", "recursive"),
        (DEPTH, "inf", math.inf),
        (IMPULSE, "8N·s", 8.0),
        (IMPULSE, "8 N*s", 8.0),
        (IMPULSE, "-8Ns", -8.0),
        (DELAY, "120ms", 0.12),
        (DELAY, "0.12 s", 0.12),
        (ANGLE, "90deg", math.pi / 2),
        (ANGLE, "-45 °", -math.pi / 4),
        (ANGLE, "1.5rad", 1.5),
        (ANGLE, "6.2832", 6.2832),
        (ANGLES, "90deg,0.1", (math.pi / 2, 0.1)),
        (RATE, "180deg/s", math.pi),
        (RATE, "200", 200.0),
        (TURN_OR_SHIFT, "0.05", 0.05),
        (TURN_OR_SHIFT, "180deg", math.pi),
    ],
)
def test_texts_become_values(parameter, text, value):
    assert parameter.parse(text) == value
    assert type(parameter.parse(text)) is type(value)


@pytest.mark.parametrize(
    ("parameter", "text"),
    [
        (NUMBER, "abc"), (NUMBER, ""), (NUMBER, "1,2"), (NUMBER, "nan"), (NUMBER, "inf"), (WHOLE, "1.5"),
        (WHOLE, "inf"), (TRIPLE, "1,2"), (TRIPLE, "1,nan,3"), (PLACE, "1"), (PLACE, "1,2,3,4"),
        (PLACE, "1,2,inf"), (DEPTH, "nan"), (NUMBER, "90deg"), (ANGLE, "deg"), (ANGLE, "x°"), (RATE, "90deg"),
    ],
)  # fmt: skip
def test_texts_of_another_kind_are_refused_by_name(parameter, text):
    with pytest.raises(InputError, match=f"^{parameter.name} = ") as caught:
        parameter.parse(text)
    assert "such as" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_may_have_angles_in_degrees(tmp_path):
    file = tmp_path / "sweep.toml"
    text = """
        experiment = "balance"
        set."push.impulse" = 3.0
        set."initial.tilt" = "1deg"
        vary."push.azimuth" = { from = "0deg", to = "180deg", step = "90deg" }
        vary."fall.tilt" = ["60°", 1.2]
    """
    file.write_text(text, encoding="utf-8")
    plan = sweep_from(read_config(file))
    azimuths, tilts = (axis.points for axis in plan.axes)
    assert [a for (a,) in azimuths] == pytest.approx([0.0, math.pi / 2, math.pi])
    assert [t for (t,) in tilts] == pytest.approx([math.pi / 3, 1.2])
    assert plan.fixed["initial.tilt"] == pytest.approx(math.pi / 180)
    file.write_text(text.replace("push.impulse", "push.start").replace("3.0", "'3deg'"), encoding="utf-8")
    with pytest.raises(InputError, match="line 3: push.start = 3deg"):
        sweep_from(read_config(file))


def built(name, **changes):
    return experiment_named(name).build({key.replace("__", "."): value for key, value in changes.items()})


def named(name):
    return parameter_named(name, experiment_named("thrown-block").parameters)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: IMPULSE.parse("8 lb"), r"= 8 lb: it must be a number \[N·s\], such as 1N·s$"),
        (lambda: ANGLE.checked(-77.0), "write degrees as -77deg"),
        (lambda: ANGLES.checked((0.0, 6.4)), "from −2π to 2π"),
        *((lambda value=value: PLACE.checked(value), "block.position") for value in (True, None, "x", [1.0, "a", 2.0])),
        (lambda: NUMBER.checked(None), "floor.mu_s"),
        (lambda: named("mu_s"), "unknown parameter 'mu_s'; did you mean 'floor.mu_s'"),
        (lambda: named("initial.left_knee_pich"), "did you mean 'initial.left_knee_pitch'"),
        (lambda: named("zzzzzz"), "groups of parameters are run, controller, initial, floor"),
        (lambda: experiment_named("thrown-blok"), r"did you mean 'thrown-block'\? experiments are stand-tilted"),
        (
            lambda: built("box-drop", integrator__name="euler"),
            "unknown integrator 'euler'.* integrators are recursive, ",
        ),
        (lambda: built("stand-tilted", initial__seed=1, initial__jitter=0.0), "initial.seed has no effect"),
        (lambda: built("stand-tilted", initial__seed=-1), "initial.seed = -1"),
        (lambda: built("stand-tilted", initial__jitter=-1), "initial.jitter = -1"),
        (lambda: built("balance", platform__scale=0.0), "platform.scale = 0: it must not be zero"),
        (lambda: built("balance", kick__duration=0.0), "kick.duration = 0.0: it must be a finite number above zero"),
        (
            lambda: built("balance", platform__motion="walk"),
            "platform.motion = walk: it must be one of none, step, sine",
        ),
    ],
)
def test_refusals(make, words):
    with pytest.raises(InputError, match=words):
        make()


def test_what_is_shown_can_be_set():
    for experiment in all_experiments():
        texts = {parameter.name: shown(parameter.default) for parameter in experiment.parameters}
        for name, value in experiment.parse(texts).items():
            default = experiment.values()[name]
            assert value == (default if isinstance(default, str) else pytest.approx(default, rel=1e-8)), name


@pytest.mark.parametrize("name", MODULES)
def test_every_parameter_is_documented(name):
    experiment = experiment_named(name)
    assert experiment.name == name
    assert experiment.title
    assert experiment.source
    names = [parameter.name for parameter in experiment.parameters]
    assert len(set(names)) == len(names)
    for parameter in experiment.parameters:
        assert parameter.meaning, parameter.name
        assert parameter.source, parameter.name
        assert all(parameter.name.partition("."))


def fingerprint(setup):
    """Everything that a simulation takes, as text."""
    parts = {item.name: getattr(setup, item.name) for item in dataclasses.fields(setup)}
    state, model = parts.pop("state"), parts.pop("model")
    bodies = [(body.mass, body.inertia, body.joint.lower, body.joint.upper) for body in model.bodies]
    return repr((parts, state.q.tolist(), state.momentum.tolist(), bodies, model.contact_points, model.gravity))


def another(parameter):
    """A value other than the default that is possible as well."""
    special = {
        "floor.mu_d": 0.2, "floor.mu_s": 0.6, "controller.target_orientation": (0.6, 0.8, 0.0, 0.0),
        "initial.orientation": (0.6, 0.8, 0.0, 0.0), "initial.angular_velocity": (1.0, 0.0, 0.0),
        "run.record_every": 0.01, "fall.tilt": 1.0, "initial.seed": 5, "initial.jitter": 0.1,
        "integrator.name": "rk4", "integrator.guess": "euler", "controller.name": "cone-workspace",
        "integrator.directions": 12, "integrator.touching": "body", "block.target": "left_foot",
        "controller.reference": "feet",
        "push.body": "left_foot", "push.waveform": "rectangle", "force.body": "left_foot", "load.body": "left_foot",
        "platform.motion": "sine", "platform.axis": "y", "platform.frequencies": "0.2", "platform.stages": 4,
        "force.pattern": "sine", "force.frequencies": "0.2", "force.stages": 4,
        "patch.mu_d": 0.05, "patch.mu_s": 0.2, "patch.present": 1, "patch.x": (-1.0, 1.0), "sensors.delay": 4e-3,
        "platform.duration": 20.0, "actuators.limit": 50.0, "actuators.rate_limit": 500.0,
        "actuators.strength": "old-men", "block.flight": 0.6,
        "floor.friction": "printed", "floor.law": "hunt-crossley",
        "controller.motion.shape": "recorded", "controller.largest_inertia": 1e4,
        "initial.stance": "upright", "initial.lean": 0.03, "sensors.preset": "foam",
        "sensors.estimator": "none",
        **{f"{group}.{name}": value for group in ("platform", "force")
           for name, value in {"filter": 2.0, "resample": 5.0, "offset": 0.005, "end": 1.6}.items()},
        "platform.units": "mm", "force.units": "kN", "controller.motion.units": "x=mm",
    }  # fmt: skip
    if parameter.name in special:
        return special[parameter.name]
    if isinstance(parameter.default, tuple):
        return tuple(0.5 * x + 0.25 for x in parameter.default)
    return parameter.default + 1 if isinstance(parameter.default, int) else 0.5 * parameter.default + 0.26


def switched_on(parameter, recorded):
    """What must be set for a parameter of a disturbance to do anything: each is off by default."""
    group, _, name = parameter.name.partition(".")
    record = dict.fromkeys(
        ["file", "column", "units", *(field.name for field in dataclasses.fields(Preparation))], "recorded"
    )
    motions = record | {
        "frequency": "sine", "frequencies": "sum-of-sines", "interval": "ternary", "stages": "ternary",
        "seed": "ternary", "duration": "sine", "gain": "sway-referenced",
    }  # fmt: skip
    on = {
        "push": {"push.impulse": 1.0}, "force": {"force.size": 1.0, "force.noise": 1.0}, "patch": {"patch.present": 1},
        "load": {"load.mass": 1.0}, "block": {"block.speed": 1.0},
        "kick": {"kick.velocity": 0.1},
        "sensors": {"sensors.proprioceptive.joint_noise": 0.1},
        "actuators": {"actuators.noise": 1.0},
        "platform": {"platform.motion": motions.get(name, "step"), "platform.file": str(recorded)},
    }  # fmt: skip
    if group == "force" and name in record:
        on[group] = {"force.file": str(recorded)}
    if group == "force" and name in ("frequency", "frequencies", "stages", "rise"):
        patterns = {"frequencies": "sum-of-sines", "stages": "ternary"}
        on[group] = {"force.size": 1.0, "force.pattern": patterns.get(name, "sine"), "force.duration": 5.0}
    if name == "resample":  # a rate below the record's is refused without a filter
        on[group] |= {f"{group}.filter": 2.0}
    if name == "estimator":
        on[group] = {"sensors.delay": 0.1}
    if name in ("knees", "width", "foot_angle", "lean"):
        on[group] = {"initial.stance": "upright"}
    shapes = {"hold": "return", "frequency": "sine", "duration": "sine", "file": "recorded", "units": "recorded"}
    if name.startswith("motion."):
        shape = {} if name == "motion.shape" else {"controller.motion.shape": shapes.get(name[7:], "step")}
        on[group] = shape | {"controller.motion.displacement": (0.1, 0.0, 0.0), "controller.motion.file": str(recorded)}
    return {
        key: value
        for key, value in on.get(group, {}).items()
        if key != parameter.name or name.endswith(("file", "displacement"))
    }


@pytest.mark.parametrize("name", MODULES)
def test_every_parameter_changes_what_is_simulated(name, tmp_path):
    recorded, other = tmp_path / "one.csv", tmp_path / "two.csv"
    times = [0.05 * k for k in range(41)]
    values = [0.1 * max(0.0, 1.0 - 2.0 * abs(time - 1.0)) + 0.001 * (0.0 < time < 0.2) for time in times]
    rows = (",".join(map(str, (t, v, 2.0 * v, v, v, v))) for t, v in zip(times, values, strict=True))
    recorded.write_text("\n".join(["time,value,other,x,y,z", *rows]))
    other.write_text("time,value,x,y,z\n0,0,0,0,0\n1,0.3,0.3,0.3,0.3\n2,0,0,0,0\n")
    heavier = tmp_path / "heavier.toml"
    heavier.write_text(f'urdf = "{EXAMPLES / "human.urdf"}"\narmature = 0.1\n')
    files = {
        "platform.file": str(other),
        "force.file": str(other),
        "controller.motion.file": str(other),
        "platform.column": "other",
        "force.column": "other",
        "robot.name": str(heavier),
    }
    experiment = experiment_named(name)
    assert fingerprint(experiment.build()) == fingerprint(experiment.build())
    for parameter in experiment.parameters:
        if parameter.name.endswith((".gaps", ".time", ".rate", ".heading")):
            continue  # a record that needs one of these is refused without it
        on = switched_on(parameter, recorded)
        on = {name: value for name, value in on.items() if name in experiment.values()}
        published = fingerprint(experiment.build(on))
        change = on | {parameter.name: files.get(parameter.name) or another(parameter)}
        setting = parameter.name.partition("integrator.")[2]
        if setting not in ("", "name") and setting not in settings_of(Recursive()):
            with pytest.raises(InputError, match=f"integrator 'recursive' has no setting '{setting}'"):
                experiment.build(change)
            owner = next(name for name, integrator in INTEGRATORS.items() if setting in settings_of(integrator))
            default = experiment.build({"integrator.name": owner})
            assert fingerprint(experiment.build(change | {"integrator.name": owner})) != fingerprint(default), setting
        else:
            assert fingerprint(experiment.build(change)) != published, parameter.name


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("clock;value [mm]\n0;0\n500;30\n1000;10\n", {"time": "clock", "units": "clock=ms"}),
        ("time,value\n0,0\n0.5,3\n1,1\n", {"units": "cm"}),
        ("value [mm]\n0\n30\n10\n", {"rate": "2"}),
        ("% a b\n0 0\n0.5 30\n1 10\n", {"heading": "0", "time": "column1", "units": "mm", "column": "column2"}),
        ("a,b\n0,1\n\n9,value [mm]\n0,0\n0.5,30\n1,10\n", {"heading": "4", "time": "9"}),
    ],
)
def test_how_the_file_of_a_record_is_read(text, options, tmp_path):
    """As on the command line; without each of these options the file is refused, or something else."""
    file = tmp_path / "a.csv"
    file.write_text(text, encoding="utf-8")
    experiment = experiment_named("balance")
    texts = {"motion": "recorded", "file": str(file), "start": "0.0", **options}
    changes = {name: experiment.parameter(f"platform.{name}").parse(value) for name, value in texts.items()}

    def floor_at(time, without=""):
        (floor,) = experiment.build({f"platform.{k}": v for k, v in changes.items() if k != without}).disturbances
        return floor.at(time)[0]

    assert [floor_at(time) for time in (0.0, 0.25, 0.5, 1.0)] == pytest.approx([0.0, 0.015, 0.03, 0.01])
    for name in options:
        try:
            assert floor_at(0.5, without=name) != pytest.approx(0.03)
        except InputError:
            continue


@pytest.mark.parametrize("name", MODULES)
def test_the_seed_scatters_the_start(name):
    experiment = experiment_named(name)
    published, one, again, two, wide = (
        experiment.build(changes).state.q
        for changes in (
            {}, {"initial.seed": 1}, {"initial.seed": 1}, {"initial.seed": 2},
            {"initial.seed": 1, "initial.jitter": 0.02},
        )
    )  # fmt: skip
    assert np.array_equal(one, again)
    assert not np.allclose(one, two, atol=1e-4)
    assert np.array_equal(published[:3], one[:3])
    small, large = one - published, wide - published
    assert np.any(small)
    assert np.allclose(large, 2.0 * small, atol=1e-3)  # the same numbers, twice the scatter
    assert experiment.values({"initial.seed": 1})["initial.jitter"] == 0.01
    assert experiment.values()["initial.jitter"] == 0.0


def test_a_setup_can_be_changed_in_python():
    from controllers import JointImpedance

    setup = dataclasses.replace(experiment_named("stand-tilted").build(), controller=JointImpedance(), duration=0.01)
    assert setup.set_point is None
    before = setup.state.q.copy()
    run = setup.run()
    assert run.summary["settling_time"] is None
    assert np.array_equal(setup.state.q, before)  # a setup can be simulated again


@pytest.mark.parametrize(
    ("changes", "off"),
    [
        ({"platform.size": 0.06, "platform.rise": 0.4, "push.impulse": 3.0}, ["platform"]),
        ({"force.seed": 3}, ["force"]),
        (
            {"push.start": 0.2, "patch.mu_d": 0.2, "block.mass": 0.2, "load.body": "trunk"},
            ["push", "patch", "load", "block"],
        ),
        ({"push.impulse": -8.0, "push.azimuth": 1.0}, []),
        ({"platform.motion": "step", "platform.size": 0.06}, []),
        ({"force.noise": 1.0, "force.seed": 3}, []),
        ({"random.seed": 1, "push.start": 0.1}, []),
        ({"fall.tilt": 0.5}, []),
    ],
)
def test_parameters_of_a_disturbance_that_is_off_are_reported(changes, off):
    experiment = experiment_named("balance")
    found = idle(experiment.values(changes), changes)
    assert [sentence.partition(".")[0] for sentence in found] == off
    for group, sentence in zip(off, found, strict=True):
        assert all(
            name in sentence for name in (*switches()[group], *(n for n in changes if n.startswith(f"{group}.")))
        )
    block = experiment_named("thrown-block")  # of which it is on
    assert idle(block.values({"block.mass": 1.0}), {"block.mass": 1.0}) == []
