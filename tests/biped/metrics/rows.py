"""Rows of runs that were never simulated, with known contents; and a rigid body on one flat foot."""

import numpy as np

from biped.metrics import Layout, MeasurementContext, measure
from biped.metrics.timeseries import series_of
from biped.model import Body, ContactPoint, Model, floating, revolute
from biped.runs.row_layout import columns_of

G = 9.81
NAMES = ("body_qw", "platform_qw")


def block(half_length=0.1, half_width=0.05, height=1.0, ahead=0.0, mass=10.0, gyration=0.1):
    inertia = tuple(tuple(mass * gyration**2 * (i == j) for j in range(3)) for i in range(3))
    trunk = Body("trunk", mass, inertia, (0.0, 0.0, 0.0), floating("body", (0.0, 0.0, height)))
    corners = ((-1, -1), (-1, 1), (1, 1), (1, -1))
    points = tuple(
        ContactPoint(f"p{i}", "trunk", (x * half_length - ahead, y * half_width, -height))
        for i, (x, y) in enumerate(corners)
    )
    return Model("block", (trunk,), points, feet=("trunk",))


def arm(mass=1.0):
    inertia = ((0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.1))
    trunk = Body("trunk", mass, inertia, (0.0, 0.0, 0.0), floating("body"))
    limb = Body("limb", mass, inertia, (0.0, 0.0, -0.5), revolute("elbow", (0.0, 1.0, 0.0)), "trunk")
    return Model("arm", (trunk, limb))


class Rows:
    def __init__(self, model, times, platform=False):
        names = list(columns_of(model).names)
        if platform and "platform_x" not in names:
            names += [f"platform_{part}" for part in ("x", "y", "z", "qw", "qx", "qy", "qz")]
        self.model, self.names = model, names
        self.array = np.zeros((len(times), len(names)))
        self["time"] = times
        for name in NAMES:
            if name in names:
                self[name] = 1.0
        for point in model.contact_names:
            self[f"contact_{point}_mode"] = 1.0
        self["com_z"] = 1.0

    @property
    def layout(self):
        return Layout.of(self.model, self.names)

    def measure(self, events=None, **context):
        return measure(self.layout, self.array, events, MeasurementContext(**context))

    def series(self):
        return series_of(self.layout, self.array)

    def __getitem__(self, name):
        return self.array[:, self.names.index(name)]

    def __setitem__(self, name, values):
        self.array[:, self.names.index(name)] = values

    def stand(self, places, where=slice(None), load=None):
        if load is None:
            load = np.full(len(places), self.model.total_mass * G / len(places))
        for point, place, force in zip(self.model.contact_names, places, load, strict=True):
            for axis, value in zip("xyz", place, strict=True):
                self[f"contact_{point}_{axis}"][where] = value
            self[f"contact_{point}_mode"][where] = 4.0
            self[f"contact_{point}_fz"][where] = force

    def press(self, xy):
        """Distribute the weight over the points of a block's sole of 0.1 by 0.05, with its centre at ``xy`` (n, 2)."""
        weight = self.model.total_mass * G
        u, v = np.asarray(xy).T / np.array([[0.1], [0.05]])
        for point, (x, y) in zip(self.model.contact_names, ((-1, -1), (-1, 1), (1, 1), (1, -1)), strict=True):
            self[f"contact_{point}_fz"] = weight * (1 + x * u) * (1 + y * v) / 4


def sole(half_length=0.1, half_width=0.05, x=0.0, y=0.0, z=0.0):
    return [(x + i * half_length, y + j * half_width, z) for i, j in ((-1, -1), (-1, 1), (1, 1), (1, -1))]


def on_sole(times, height=1.0, **more):
    rows = Rows(block(height=height), times, **more)
    rows.stand(sole())
    return rows
