"""Subjects have the bodies of the tables, stand at any size, and are dynamically similar."""

import itertools
import math

import numpy as np
import pytest

import biped
from biped.kernels.tree.tree import STOP_STIFFNESS
from biped.model.population import MEASURED, Measured
from biped.runs.postures import standing_trunk
from contact import Floor
from controllers import WholeBodyController, WorkspaceController, WorkspaceGains
from experiments import experiment_named
from tests.refusals import refuses

# de Leva (1996), table 4, once more and in another form: by segment mass [%], CM [%], radii of gyration [%] about the
# sagittal, transverse and longitudinal axis, length [mm]; stature [mm].
LEVA = {
    "female": (1735, """
        head 6.68 58.94 33.0 35.9 31.8 200.2
        trunk 42.57 41.51 35.7 33.9 17.1 529.3
        upper_arm 2.55 57.54 27.8 26.0 14.8 275.1
        forearm 1.38 45.59 26.1 25.7 9.4 264.3
        hand 0.56 74.74 53.1 45.4 33.5 78.0
        thigh 14.78 36.12 36.9 36.4 16.2 368.5
        shank 4.81 43.52 26.7 26.3 9.2 438.6
        foot 1.29 40.14 29.9 27.9 13.9 228.3""", 497.9),
    "male": (1741, """
        head 6.94 59.76 36.2 37.6 31.2 203.3
        trunk 43.46 44.86 37.2 34.7 19.1 531.9
        upper_arm 2.71 57.72 28.5 26.9 15.8 281.7
        forearm 1.62 45.74 27.6 26.5 12.1 268.9
        hand 0.61 79.00 62.8 51.3 40.1 86.2
        thigh 14.16 40.95 32.9 32.9 14.9 422.2
        shank 4.33 43.95 25.1 24.6 10.2 440.3
        foot 1.37 44.15 25.7 24.5 12.4 258.1""", 515.5),
}  # fmt: skip
CORNERS = [(1.50, 45.0), (1.50, 120.0), (1.95, 45.0), (1.95, 120.0)]


def from_the_table(sex, stature, mass):
    """Return mass, height of the centre of mass and inertia about it [kg m²], from point masses for the segments."""
    own, text, shoulders = LEVA[sex]
    rows = {}
    for row in text.strip().splitlines():
        name, *numbers = row.split()
        rows[name] = [float(number) for number in numbers]
    k = stature / own  # the table's lengths are in mm, as its stature
    lengths = {name: k * row[5] for name, row in rows.items()}
    ankle = 0.039 * stature
    knee = ankle + lengths["shank"]
    hip = knee + lengths["thigh"]
    shoulder, arm = hip + k * shoulders, 0.259 * stature / 2
    tops = [("head", 0.0, stature), ("trunk", 0.0, hip + lengths["trunk"])]
    hips = (0.008 + 0.086 * ((rows["thigh"][5] + rows["shank"][5]) / 1000 + 0.009) / (1 - 0.078)) * 1000 * k
    for side in (-1, 1):
        tops += [("upper_arm", side * arm, shoulder), ("forearm", side * arm, shoulder - lengths["upper_arm"])]
        tops += [("hand", side * arm, shoulder - lengths["upper_arm"] - lengths["forearm"])]
        tops += [("thigh", side * hips, hip), ("shank", side * hips, knee), ("foot", side * hips, None)]
    points, weights, spins = [], [], []
    for name, y, top in tops:
        share, com, *radii, _ = rows[name]
        length = lengths[name]
        own_mass, (sagittal, transverse, longitudinal) = share / 100, (np.array(radii) / 100 * length) ** 2
        at = (0.0, y, top - com / 100 * length) if top else ((0.052 / 0.211 - com / 100) * length, y, ankle / 2)
        points.append(at)
        weights.append(own_mass)
        about = (sagittal, transverse, longitudinal) if top else (longitudinal, transverse, sagittal)
        spins.append(own_mass * np.diag(about))
    points, weights = np.array(points), np.array(weights)
    scale = mass / weights.sum()
    middle = weights @ points / weights.sum()
    inertia = sum(spins) + sum(
        w * (np.dot(r, r) * np.eye(3) - np.outer(r, r)) for w, r in zip(weights, points - middle, strict=True)
    )
    return middle, scale * inertia


ABOVE = ("lumbar", "head", "arms")
ALL_SEGMENTS = (*ABOVE, "toes")


@pytest.mark.parametrize(
    ("sex", "size", "segments"),
    [
        *((sex, size, ()) for sex, size in itertools.product(LEVA, [*CORNERS, (1.741, 73.0)])),
        *(
            (sex, (1.741, 73.0), segments)
            for sex in LEVA
            for segments in (ALL_SEGMENTS, ("limp-arms",), ("lumbar",), ("limp-toes",))
        ),
    ],
)
def test_the_whole_body_is_the_sum_of_the_tables_segments(sex, size, segments):
    stature, mass = size
    model = biped.subject(stature, mass, sex, segments=segments)
    masses = np.array([body.mass for body in model.bodies])
    middle, inertia = from_the_table(sex, stature, mass)
    assert masses.sum() == pytest.approx(mass, rel=1e-12)
    com = masses @ model.home_positions / mass
    np.testing.assert_allclose(com, middle, atol=1e-12)
    found = sum(
        body.inertia + body.mass * (np.dot(r, r) * np.eye(3) - np.outer(r, r))
        for body, r in zip(model.bodies, model.home_positions - com, strict=True)
    )
    np.testing.assert_allclose(found, inertia, atol=1e-12 * np.abs(inertia).max())


def test_segments_are_the_tables_by_what_a_hand_reckons():
    """De Leva's mean man by hand: thigh 73 kg · 14.16 %, 422.2 mm long; the shank's transverse moment m (r l)²."""
    model = biped.subject(1.741, 73.0, "male")
    by_name = {body.name: body for body in model.bodies}
    thigh = sum(by_name[f"left_{name}"].mass for name in ("hip_1", "hip_2", "thigh"))
    assert thigh == pytest.approx(0.1416 * 73.0)
    assert by_name["left_shank"].joint.position == pytest.approx((0.0, 0.0, -0.4222))
    foot = by_name["left_foot"]
    assert foot.mass == pytest.approx(0.0137 * 73.0)
    assert foot.inertia[1][1] == pytest.approx(foot.mass * (0.245 * 0.2581) ** 2)
    sole = [point.position for point in model.contact_points if point.body == "left_foot"]
    assert max(x for x, _, _ in sole) - min(x for x, _, _ in sole) == pytest.approx(0.2581)
    tops = [model.home_positions[0][2] + point.position[2] for point in model.body_points if point.body == "trunk"]
    assert max(tops) == pytest.approx(1.741)


@pytest.mark.parametrize(("sex", "pelvis", "upper_arm"), [("female", 0.1247, 0.2751), ("male", 0.1117, 0.2817)])
def test_what_has_joints_is_the_tables_too(sex, pelvis, upper_arm):
    stature = LEVA[sex][0] / 1000.0
    model = biped.subject(stature, 70.0, sex, segments=ALL_SEGMENTS)
    shares = LEVA[sex][1].split()
    total = sum(float(share) * (1 if k < 2 else 2) for k, share in enumerate(shares[1::7]))
    by_name = {body.name: body for body in model.bodies}
    assert model.root.name == "pelvis"
    assert by_name["pelvis"].mass == pytest.approx(pelvis * 70.0 / (total / 100.0))
    assert by_name["left_forearm"].joint.position == pytest.approx((0.0, 0.0, -upper_arm))
    assert by_name["head"].com[2] == pytest.approx((1.0 - float(shares[2]) / 100.0) * float(shares[6]) / 1000.0)
    assert {point.body for point in model.body_points} == {
        "pelvis", "trunk", "head", "left_forearm", "right_forearm", "left_shank", "right_shank",
    }  # fmt: skip
    assert {capsule.body for capsule in model.capsules} >= {"head", "left_upper_arm", "right_forearm"}


def test_it_has_the_humans_tree():
    one, ours = biped.subject(1.7, 68.0, "female"), biped.human()
    assert [(b.name, b.parent, b.joint.name, b.joint.axis) for b in one.bodies] == [
        (b.name, b.parent, b.joint.name, b.joint.axis) for b in ours.bodies
    ]
    assert [point.name for point in one.contact_points] == [point.name for point in ours.contact_points]
    assert (one.feet, one.facing, one.ranges) == (ours.feet, ours.facing, ours.ranges)


def stands(model, upright):
    q = biped.Stance().configuration(model) if upright else biped.standing(model).q
    law = WholeBodyController().holding(model, q)
    fall = biped.Fall(height=0.55 * biped.standing(model).q[2])
    run = biped.simulate(model, law, state=biped.State.at(model, q), duration=2.0, fall=fall)
    places = run.frame[["body_x", "body_y", "body_z"]].to_numpy()
    assert run.summary["verdict"] == "recovered"
    assert np.abs(places - q[:3]).max() < 1e-3


@pytest.mark.parametrize("upright", [False, True])
@pytest.mark.parametrize(("sex", "size"), [("female", (1.50, 120.0)), ("male", (1.95, 45.0))])
def test_the_extremes_stand(sex, size, upright):
    stands(biped.subject(*size, sex), upright)


@pytest.mark.parametrize("segments", [ABOVE, ("limp-arms",)])
@pytest.mark.parametrize("upright", [False, True])
def test_who_has_more_joints_stands(segments, upright):
    model, whole = biped.subject(1.7, 68.0, "female", segments=segments), biped.subject(1.7, 68.0, "female")
    stands(model, upright)
    q, ours = (biped.Stance().configuration(one) if upright else biped.standing(one).q for one in (model, whole))
    for joint in whole.joint_names:
        assert q[model.coordinate(joint)] == pytest.approx(ours[whole.coordinate(joint)], abs=1e-9)


def test_limp_arms_swing_and_come_to_rest():
    """As a law balances, from 0.3 rad less and less, with no torque; one that would hold them drives them instead."""
    model = biped.subject(1.7, 68.0, "female", segments=("limp-arms",))
    q = biped.Stance().configuration(model)
    law = WholeBodyController().holding(model, q)
    q[model.coordinate("left_shoulder_pitch")] = 0.3
    run = biped.simulate(model, law, state=biped.State.at(model, q), duration=6.0)
    swing = run.frame["angle_left_shoulder_pitch"].to_numpy()
    assert run.summary["verdict"] == "recovered"
    peaks = [np.abs(second).max() for second in np.array_split(swing, 6)]
    assert (np.diff(peaks) < 0.0).all()
    effort = next(body.joint.max_effort for body in model.bodies if body.name == "left_forearm")
    assert effort < 1e-5
    torques = run.frame.filter(regex="^torque_.*(shoulder|elbow)").to_numpy()
    assert np.abs(torques).max() <= effort * (1.0 + 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("upright", [False, True])
def test_all_stand(upright):
    for sex, stature, mass in itertools.product(LEVA, np.linspace(1.5, 1.95, 4), np.linspace(45.0, 120.0, 4)):
        stands(biped.subject(float(stature), float(mass), sex), upright)


def pushed(stature, mass):
    """Places of a woman in a law's hands, pushed forwards, in measures of her stature: trunk [m], knee [rad]."""
    size, weight = stature / 1.3, mass / 40.0  # λ and μ of one of 1.3 m and 40 kg
    tick = math.sqrt(size)  # times go as √(L/g)
    model = biped.subject(stature, mass, "female")
    stiff, damped = weight / size, weight / tick  # force over length, force over speed
    floor = Floor(k_n=40e3 * stiff, b_n=1e3 * damped, k_t=40e3 * stiff, b_t=1e3 * damped,
                  stiction_velocity=1e-3 * size / tick)  # fmt: skip
    gains = WorkspaceGains(
        kp_position=(50.0 / size, 50.0 / size, 200.0 / size),  # 1/s²
        kd_position=(7.07 / tick, 7.07 / tick, 14.1 / tick),  # 1/s
        kp_orientation=50.0 / size,
        kd_orientation=7.07 / tick,
    )
    law = WorkspaceController(standing_trunk(model), gains=gains, period=0.002 * tick)
    push = biped.Push(
        "trunk", (-1.0, 0.0, 0.0), impulse=4.0 * weight * size / tick, start=0.1 * tick, duration=0.1 * tick
    )
    run = biped.simulate(model, law, state=biped.standing(model, floor), floor=floor, duration=1.0 * tick,
                         step=5e-4 * tick, disturbances=[push])  # fmt: skip
    path = run.frame[["body_x", "body_z", "angle_left_knee_pitch"]].to_numpy()
    return path / [size, size, 1.0]


def test_subjects_of_one_sex_are_dynamically_similar():
    """Pushed, in a law's hands: the same motion in their own lengths, masses and times, to rounding.

    The law's wrench has a rounding of ``big_base`` units, 1e6 times 2.2e-16 of accelerations of about 10 m/s²; its
    closed loop, whose slowest rate is 7 1/s, makes places of that by 1/50 s². A hundred times that
    is allowed; a factor forgotten moves them by centimetres.
    """
    path, other = pushed(1.3, 40.0), pushed(2.08, 102.4)
    assert np.ptp(path[:, 0]) > 0.01  # [m] it is pushed away
    np.testing.assert_allclose(other, path, atol=5e-9)


def test_strength_is_of_sex_and_age():
    assert biped.Subject(1.7, 68.0, "female", 30.0).strength == "young-women"
    assert biped.Subject(1.7, 68.0, "male", 70.0).strength == "old-men"
    assert biped.Subject(1.7, 68.0, "male").strength == "none"
    with pytest.raises(biped.ModelError, match=r"age = 50: muscle strength is known only below 40 and from 65"):
        _ = biped.Subject(1.7, 68.0, "male", 50.0).strength


def test_a_name_says_the_subject():
    who = biped.Subject(1.7, 68.0, "female", 30.0)
    assert who.name == "subject:1.7,68,female,30"
    assert biped.Subject.named(who.name) == who
    third = biped.Subject(5.0 / 3.0, 200.0 / 3.0, "male", 70.0 / 3.0)
    assert biped.Subject.named(third.name) == third
    assert biped.load_robot(who.name).total_mass == pytest.approx(68.0)
    assert biped.load_robot("subject:1.70, 68, female").bodies == who.model.bodies
    for more in (
        biped.Subject(1.7, 68.0, "male", 70.0, ALL_SEGMENTS),
        biped.Subject(1.7, 68.0, "male", None, ("limp-arms",)),
    ):
        assert biped.Subject.named(more.name) == more
    assert biped.population(2, segments=["arms"])[1].name.endswith(",arms")


@refuses(
    ((17.0, 68.0, "female"), r"^subject: stature = 17: it must be from 1\.3 to 2\.2 m$"),
    ((1.7, -1.0, "female"), r"^subject: mass = -1: it must be from 30 to 200 kg$"),
    ((1.7, 68.0, "femal"), r"^unknown sex 'femal'; did you mean 'female'\? sexes are male, female$"),
    ((1.7, 68.0, "female", 3.0), r"^subject: age = 3: it must be from 18 to 100 years$"),
    ((float("nan"), 68.0, "female"), r"^subject: stature must be"),
    ((1.7, 68.0, "female", None, ("arm",)), r"^unknown segment 'arm'; did you mean 'arms' or 'limp-arms'\?"),
    ((1.7, 68.0, "female", None, ("arms", "limp-arms")), r"arms, limp-arms: each may occur only once, limp or not$"),
    error=biped.ModelError,
)
def test_what_is_no_subject_is_refused(given):
    biped.subject(*given)


@refuses(
    ("subject:1.7", r"as subject:STATURE,MASS,SEX.*, for example subject:1.70,68,female,30,arms,lumbar$"),
    ("subject:1.7,68,female,amrs", r"^subject: 'amrs' is neither an age nor a segment; .*limp-toes$"),
    ("subject:tall,68,female", r"^subject: stature = 'tall': it must be a number$"),
    error=biped.ModelError,
)
def test_a_name_that_says_none_is_refused(name):
    biped.load_robot(name)


def test_a_population_is_as_measured():
    n = 2000
    drawn = biped.population(n, seed=1)
    for k, sex in enumerate(("male", "female")):
        own, who = MEASURED[sex], drawn[k::2]
        assert {one.sex for one in who} == {sex}
        statures, masses = np.array([[one.stature, one.mass] for one in who]).T
        error = 5.0 / math.sqrt(len(who))
        assert abs(statures.mean() - own.stature) < error * own.stature_sd
        assert abs(masses.mean() - own.mass) < error * own.mass_sd
        assert abs(statures.std() / own.stature_sd - 1.0) < error / math.sqrt(2.0)
        assert abs(np.corrcoef(statures, masses)[0, 1] - own.correlation) < error
    assert biped.population(10, seed=1) == drawn[:10]
    assert biped.population(10, seed=2) != drawn[:10]


def test_a_population_is_drawn_from_what_is_given():
    old = {"female": Measured(1.6, 0.06, 65.0, 12.0, 0.3)}
    who = biped.population(3, sex="female", age=70.0, measured=old)
    assert [one.strength for one in who] == ["old-women"] * 3
    with pytest.raises(biped.ModelError, match="must contain 'male', but has female"):
        biped.population(3, measured=old)
    with pytest.raises(biped.ModelError, match="n = 0"):
        biped.population(0)
    with pytest.raises(biped.ModelError, match="gives almost no"):
        biped.population(1, sex="female", measured={"female": Measured(17.0, 0.01, 65.0, 1.0, 0.0)})


def test_it_has_the_humans_commands():
    old = experiment_named("balance", robot="subject:1.6,60,female,70")
    values = old.values({"robot.ranges": 1, "initial.stance": "upright"})
    assert values["actuators.strength"] == "old-women"
    assert values["fall.height"] == pytest.approx(0.55 * standing_trunk(biped.subject(1.6, 60.0, "female"))[2])
    scene = old.build({"robot.ranges": 1})
    ankle = next(body.joint for body in scene.model.bodies if body.joint.name == "left_ankle_pitch")
    assert ankle.upper == pytest.approx(math.radians(40.0))  # of a foot that bears weight
    limp = experiment_named("balance", robot="subject:1.6,60,female,limp-arms").build({"robot.ranges": 1}).model
    joints = {body.joint.name: body.joint for body in limp.bodies}
    assert (joints["left_ankle_pitch"].upper, joints["right_elbow_pitch"].lower) == (ankle.upper, 0.0)
    number = limp.body_index("right_forearm")
    assert limp.tree.passive[number, STOP_STIFFNESS] > 1.0  # [N·m/rad] though it has no muscles
