"""A saved run to make films of, and the content of a film."""

import re
import subprocess

import imageio_ffmpeg
import numpy as np
import pytest

from experiments.catalogue.registry import experiment_named


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Return the folder of a run of 0.4 s in which a block hits the human."""
    run = experiment_named("thrown-block").run({"run.duration": 0.4})
    return run.save(tmp_path_factory.mktemp("films") / "thrown-block")


@pytest.fixture(scope="session")
def faster(tmp_path_factory):
    """Return the folder of such a run with a faster block."""
    run = experiment_named("thrown-block").run({"run.duration": 0.4, "block.velocity": (-6.0, 0.0, 0.2)})
    return run.save(tmp_path_factory.mktemp("films") / "faster")


@pytest.fixture(scope="session")
def decoded():
    """Return a function that decodes a film."""
    return _decoded


def _decoded(path):
    """Return ffmpeg's description of a film, and its pictures."""
    program = imageio_ffmpeg.get_ffmpeg_exe()
    said = subprocess.run([program, "-i", str(path)], capture_output=True, text=True, check=False).stderr
    stream = re.search(r"Video: (\w+).*?, (yuv\w+).*?, (\d+)x(\d+).*?, ([\d.]+) fps", said)
    hours, minutes, seconds = re.search(r"Duration: (\d+):(\d+):([\d.]+)", said).groups()
    size = int(stream[3]), int(stream[4])
    raw = subprocess.run(
        [program, "-loglevel", "error", "-i", str(path), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"],
        capture_output=True,
        check=True,
    ).stdout
    frames = np.frombuffer(raw, dtype=np.uint8).reshape(-1, size[1], size[0], 3)
    about = {
        "codec": stream[1],
        "pix_fmt": stream[2],
        "size": size,
        "fps": float(stream[5]),
        "duration": 3600 * int(hours) + 60 * int(minutes) + float(seconds),
    }
    return about, list(frames)
